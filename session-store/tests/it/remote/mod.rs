//! Copies in an object store: in memory, in a directory, and on a small S3 server that counts and breaks.

mod apart;
mod collect;
mod data;
mod faults;
mod garage;
mod generations;
mod lease;
mod links;
mod listing;
mod machines;
mod newer;
mod patient;
mod removal;
mod resumed;
mod stranger;

use session_core::{SessionName, Timestamp, parse_time};
use session_store::remote::{Copied, PullOptions, PushOptions, Remote, RemoteOptions, RemoteResult};
use session_store::{Durability, NewSession, Options, Session, Store};
use session_testing::s3::S3;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A machine: a store of its own, and how it reaches the copies.
struct Machine {
    root: PathBuf,
    store: Store,
    remote: Remote,
    /// Removed with it, if it is the machine's own.
    _dir: Option<TempDir>,
}

impl Machine {
    fn new(remote: Remote) -> Self {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let machine = Machine::at(dir.path(), remote);
        Machine { _dir: Some(dir), ..machine }
    }

    /// One that has been used before.
    fn at(root: impl Into<PathBuf>, remote: Remote) -> Self {
        let root = root.into();
        let options = Options { durability: Durability::Os, ..Options::default() };
        let store = Store::open_at(root.join("sessions")).with_options(options);
        Machine { root, store, remote, _dir: None }
    }

    fn root(&self) -> &Path {
        &self.root
    }

    fn create(&self, name: &str) -> Session {
        let new = NewSession { name: Some(named(name)), title: "Plant three oaks".into(), ..NewSession::default() };
        self.store.create(&new).expect("the name is free")
    }

    fn session(&self, name: &str) -> Session {
        self.store.open(&named(name)).expect("it is there")
    }

    fn push(&self, name: &str) -> RemoteResult<Copied> {
        self.remote.push(&self.session(name), &PushOptions::default())
    }

    fn pull(&self, name: &str) -> RemoteResult<Copied> {
        self.remote.pull(&self.store, &named(name), &PullOptions::default())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join("sessions").join(name)
    }

    fn history(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name).join("history.jsonl")).unwrap_or_default()
    }

    fn says(&self, name: &str, text: &str) {
        self.session(name).append(&[crate::support::said(text)]).expect("it can be appended to");
    }

    fn texts(&self, name: &str) -> Vec<String> {
        crate::support::texts(&self.store.load(&named(name)).expect("it can be read"))
    }
}

fn named(name: &str) -> SessionName {
    SessionName::new(name).expect("it is a name")
}

fn options(machine: &str) -> RemoteOptions {
    RemoteOptions {
        machine: machine.to_owned(),
        tries: 1,
        first_pause: Duration::from_millis(1),
        longest_pause: Duration::from_millis(5),
        request_timeout: Duration::from_secs(20),
        ..RemoteOptions::default()
    }
}

fn on_s3(server: &S3, machine: &str) -> Remote {
    on_s3_with(server, options(machine))
}

fn on_s3_with(server: &S3, options: RemoteOptions) -> Remote {
    on_s3_at(&server.endpoint(), options)
}

fn on_s3_at(endpoint: &str, options: RemoteOptions) -> Remote {
    let options = RemoteOptions { endpoint: Some(endpoint.to_owned()), anonymous: true, allow_http: true, ..options };
    Remote::open("s3://bucket/team", options).expect("the settings are whole")
}

fn in_dir(dir: &Path, machine: &str) -> Remote {
    Remote::open(&dir.display().to_string(), options(machine)).expect("the directory can be made")
}

/// A clock that a test moves.
#[derive(Clone)]
struct Clock(Arc<Mutex<Timestamp>>);

impl Clock {
    fn new() -> Self {
        Clock(Arc::new(Mutex::new(parse_time("2026-06-01T00:00:00Z").expect("it is well formed"))))
    }

    /// One that shows the time, until it is moved.
    fn from_now() -> Self {
        Clock(Arc::new(Mutex::new(chrono::Utc::now().fixed_offset())))
    }

    fn pass(&self, time: Duration) {
        *self.0.lock().expect("nobody panics with it") += time;
    }

    fn of(&self, remote: Remote) -> Remote {
        let clock = self.clone();
        remote.with_clock(move || *clock.0.lock().expect("nobody panics with it"))
    }
}

/// Says what a test has measured, or why it has not tried its claim.
#[expect(clippy::print_stderr, reason = "nothing else tells it")]
fn told(text: &str) {
    eprintln!("{text}");
}
