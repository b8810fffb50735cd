//! A small S3 server on loopback, for tests: the requests that an object store's client sends, with atomic conditional
//! writes, counted, and broken on purpose.
//!
//! It keeps objects in memory and believes every signature. What a test can do to it is a [`Trouble`].

mod bucket;
mod date;
mod http;
mod object;
mod xml;

use http::Request;
use object::Object;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The connection ends before anything is done.
    CutBefore,
    /// It is done, and the connection ends before the answer.
    CutAfter,
    /// The answer is this status, and nothing is done.
    Status(u16),
    /// It is done, and the answer comes so much later.
    Delay(Duration),
    /// It is not done, and the client waits until it is killed or the server ends.
    HoldBefore,
    /// It is done, and the client waits as well.
    HoldAfter,
}

/// A request that was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// The method.
    pub method: String,
    /// The object, or the bucket and the query.
    pub target: String,
    /// How many bytes came, the head included.
    pub received_bytes: u64,
    /// The status of the answer; 0 where there was none.
    pub status: u16,
}

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub struct S3 {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    objects: BTreeMap<String, Object>,
    met: Vec<Met>,
    troubles: HashMap<usize, Trouble>,
    /// From this request on, nobody is there.
    dead_from: Option<(usize, Trouble)>,
    ignores_conditions: bool,
    /// Whether answers about one object say which version of it that is.
    tells_versions: bool,
    /// How many requests were never answered.
    held: usize,
    open: Vec<TcpStream>,
    closed: bool,
}

impl S3 {
    /// Starts one with an empty bucket of any name.
    ///
    /// # Panics
    /// Where loopback cannot be listened on.
    pub fn start() -> Self {
        S3::on(TcpListener::bind("127.0.0.1:0").expect("loopback has a free port"))
    }

    /// The same, where somebody listens already.
    ///
    /// # Panics
    /// Where that has no address.
    pub fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Mutex::new(Shared::default()));
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        S3 { address, shared, accepting: Some(accepting) }
    }

    /// Its address, as a client is given it.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Breaks the n-th request from now, from 0.
    pub fn trouble(&self, n: usize, trouble: Trouble) {
        let mut shared = lock(&self.shared);
        let at = shared.met.len() + n;
        shared.troubles.insert(at, trouble);
    }

    /// From the n-th request on, from 0, every request meets this trouble: to its client the server is gone, or the client
    /// itself. The first of them may meet another one.
    pub fn dies_at(&self, n: usize, first: Trouble) {
        let mut shared = lock(&self.shared);
        let at = shared.met.len() + n;
        shared.troubles.insert(at, first);
        shared.dead_from = Some((at + 1, Trouble::CutBefore));
    }

    /// How many clients were made to wait for ever so far.
    pub fn held(&self) -> usize {
        lock(&self.shared).held
    }

    /// It works again.
    pub fn recovers(&self) {
        let mut shared = lock(&self.shared);
        shared.troubles.clear();
        shared.dead_from = None;
    }

    /// From now on it takes every write, whatever its condition says, as some servers do.
    pub fn ignore_conditions(&self) {
        lock(&self.shared).ignores_conditions = true;
    }

    /// From now on it answers as a bucket with versioning does: what is told of one object has its version, a list has not.
    pub fn tell_versions(&self) {
        lock(&self.shared).tells_versions = true;
    }

    /// The requests that it has met so far.
    pub fn met(&self) -> Vec<Met> {
        lock(&self.shared).met.clone()
    }

    /// The objects, by bucket and name.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        lock(&self.shared).objects.iter().map(|(key, object)| (key.clone(), object.bytes.clone())).collect()
    }

    /// Puts other bytes into an object behind everybody's back.
    pub fn corrupt(&self, key: &str, bytes: Vec<u8>) {
        lock(&self.shared).objects.insert(key.to_owned(), Object::new(bytes));
    }

    /// Makes every object so much older.
    pub fn age(&self, time: Duration) {
        lock(&self.shared).objects.values_mut().for_each(|object| object.written -= time);
    }

    /// Loses an object.
    pub fn lose(&self, key: &str) {
        lock(&self.shared).objects.remove(key);
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let open = {
            let mut shared = lock(&self.shared);
            shared.closed = true;
            std::mem::take(&mut shared.open)
        };
        for stream in open {
            // A connection that its client has closed needs no end.
            stream.shutdown(Shutdown::Both).ok();
        }
        // It wakes up for this one, and sees that it is over.
        TcpStream::connect(self.address).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Mutex<Shared>>) {
    let mut serving = Vec::new();
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let Ok(copy) = stream.try_clone() else { continue };
        {
            let mut shared = lock(shared);
            if shared.closed {
                break;
            }
            shared.open.push(copy);
        }
        let shared = Arc::clone(shared);
        serving.push(thread::spawn(move || {
            // A client that goes away ends its connection, and nothing else.
            serve(&stream, &shared).ok();
            stream.shutdown(Shutdown::Both).ok();
        }));
    }
    for thread in serving {
        thread.join().ok();
    }
}

/// Answers the requests of one connection.
fn serve(stream: &TcpStream, shared: &Mutex<Shared>) -> io::Result<()> {
    let mut reader = io::BufReader::new(stream);
    stream.set_nodelay(true)?;
    while let Some(request) = Request::read(&mut reader)? {
        let (response, trouble) = {
            let mut shared = lock(shared);
            let n = shared.met.len();
            let dead = shared.dead_from.filter(|(from, _)| n >= *from).map(|(_, trouble)| trouble);
            let trouble = shared.troubles.get(&n).copied().or(dead);
            let response = match trouble {
                Some(Trouble::CutBefore | Trouble::HoldBefore) => None,
                Some(Trouble::Status(status)) => Some(xml::refused(status)),
                Some(Trouble::CutAfter | Trouble::HoldAfter | Trouble::Delay(_)) | None => {
                    Some(shared.answer(&request))
                }
            };
            shared.met.push(Met {
                method: request.method.clone(),
                target: request.target.clone(),
                received_bytes: request.received_bytes,
                status: response.as_ref().map_or(0, |response| response.status),
            });
            shared.held += usize::from(matches!(trouble, Some(Trouble::HoldBefore | Trouble::HoldAfter)));
            (response, trouble)
        };
        match trouble {
            Some(Trouble::CutBefore | Trouble::CutAfter) => return Ok(()),
            // Nobody ever answers: the connection ends with the client, or with the server.
            Some(Trouble::HoldBefore | Trouble::HoldAfter) => return reader.read(&mut [0]).map(drop),
            Some(Trouble::Delay(time)) => thread::sleep(time),
            Some(Trouble::Status(_)) | None => {}
        }
        let Some(response) = response else { return Ok(()) };
        response.write(stream, request.method == "HEAD")?;
    }
    Ok(())
}
