//! Two machines in networks of their own, which run turns of one session at the same time and are killed.
//!
//! A network namespace belongs to a thread: the server's thread has one, each machine's thread has one, and two cables
//! lead from the server to them. A machine's processes are started by its thread, and so are in its network. Nothing of it
//! is seen outside, and all of it goes with the threads.

use super::machines::turn;
use super::{Machine, named, on_s3_at, options, told};
use crate::child;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{geteuid, gettid};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use session_store::remote::{PullOptions, RemoteError};
use session_testing::s3::S3;
use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

const NAMES: [&str; 2] = ["oak", "elm"];
/// How long a machine that was killed keeps the other one waiting.
const LEASE: Duration = Duration::from_secs(1);

/// Which turns were acknowledged, on either machine, and how many processes were killed.
#[derive(Default)]
struct Done {
    acknowledged: Vec<usize>,
    killed: usize,
    tries: usize,
}

/// Gives this thread a network of its own, with nothing in it. Not every process may.
fn own_network() -> bool {
    geteuid().is_root() && unshare(CloneFlags::CLONE_NEWNET).is_ok() && ip("link set lo up")
}

fn ip(words: &str) -> bool {
    Command::new("ip").args(words.split(' ')).status().is_ok_and(|status| status.success())
}

fn address(machine: usize) -> String {
    format!("10.77.{machine}.1")
}

/// Lays a cable from this thread's network to that of another thread.
fn connect(machine: usize, thread: &str) {
    let (name, address) = (NAMES[machine], address(machine));
    assert!(ip(&format!("link add {name} type veth peer name cable netns {thread}")), "a cable to {name}");
    assert!(ip(&format!("addr add {address}/24 dev {name}")) && ip(&format!("link set {name} up")), "its end here");
}

#[test]
fn i38_two_machines_in_two_networks_that_are_killed_write_one_history_in_order_each_event_once() {
    let turns = session_testing::usually(12, 500);
    // Who may not make networks has the claim in one process.
    let tried = move || match own_network() {
        true => apart(turns),
        false => told("not tried: networks of its own take root and `ip`"),
    };
    thread::spawn(tried).join().expect("it holds");
}

fn apart(turns: usize) {
    let server = S3::on(TcpListener::bind("0.0.0.0:0").expect("the network is empty"));
    let port = server.port();
    let first = Machine::new(on_s3_at(&format!("http://127.0.0.1:{port}"), options("ash")));
    first.create("demo");
    first.says("demo", "turn 0");
    first.push("demo").expect("it can be sent");
    let done = Mutex::new(Done::default());
    thread::scope(|scope| {
        for machine in 0..NAMES.len() {
            let (to, connected) = channel();
            let (thread, from) = channel();
            let done = &done;
            scope.spawn(move || one_machine(machine, port, (&thread, &connected), turns, done));
            connect(machine, &from.recv().expect("it has a network"));
            to.send(()).expect("it waits");
        }
    });
    let Done { mut acknowledged, killed, tries } = done.into_inner().expect("nobody has panicked with it");
    told(&format!("{tries} processes for {} turns, {killed} killed in one", acknowledged.len()));
    assert!(killed >= turns / 20, "{killed} of {tries} were killed");
    let last = Machine::new(on_s3_at(&format!("http://127.0.0.1:{port}"), options("ash")));
    last.remote.pull(&last.store, &named("demo"), &PullOptions::default()).expect("it can be fetched");
    let texts = last.texts("demo");
    let wanted: Vec<String> = (0..texts.len()).map(|number| format!("turn {number}")).collect();
    assert_eq!(texts, wanted, "in order, each once");
    acknowledged.sort_unstable();
    assert!(acknowledged.windows(2).all(|pair| pair[0] < pair[1]), "no number was given twice");
    assert!(acknowledged.iter().all(|number| *number < texts.len()), "nothing that was acknowledged is lost");
    assert!(last.remote.verify(&named("demo")).expect("it is there").faults.is_empty());
}

/// Runs turns on one machine until both have run enough, and kills some of them.
fn one_machine(machine: usize, port: u16, cable: (&Sender<String>, &Receiver<()>), turns: usize, done: &Mutex<Done>) {
    assert!(own_network(), "as the first one");
    cable.0.send(gettid().to_string()).expect("somebody waits");
    cable.1.recv().expect("the cable is laid");
    assert!(ip(&format!("addr add 10.77.{machine}.2/24 dev cable")) && ip("link set cable up"), "its end here");
    let other = TcpStream::connect((address(1 - machine), port));
    let is_apart = other.is_err_and(|error| error.kind() == io::ErrorKind::NetworkUnreachable);
    assert!(is_apart, "there is one cable");
    let mut random = StdRng::seed_from_u64(7 + machine as u64);
    let root = tempfile::tempdir().expect("a scratch directory");
    let (path, endpoint) = (root.path().display().to_string(), format!("http://{}:{port}", address(machine)));
    let outcome = root.path().join("outcome");
    loop {
        {
            let mut done = done.lock().expect("nobody panics with it");
            if done.acknowledged.len() >= turns {
                return;
            }
            done.tries += 1;
            assert!(done.tries < turns * 100, "it goes on");
        }
        fs::write(&outcome, "").expect("there is room");
        let task = [path.as_str(), NAMES[machine], endpoint.as_str()];
        let mut child = child::Running::start(child::command("remote::apart::takes_a_turn", &task));
        let patience = if random.random_bool(0.3) { random.random_range(10..250) } else { 60_000 };
        let ended = child.ends_within(Duration::from_millis(patience));
        child.kill();
        let said = fs::read_to_string(&outcome).expect("it is there");
        let mut done = done.lock().expect("nobody panics with it");
        match (ended, said.strip_prefix("done ")) {
            // It may be killed after its turn as well.
            (_, Some(number)) => done.acknowledged.push(number.parse().expect("it is a number")),
            (None, None) => done.killed += 1,
            (Some(status), None) => assert!(status.success() && said == "refused", "{status}: {said}"),
        }
    }
}

/// Not a test of its own: one turn on a machine.
#[test]
fn takes_a_turn() {
    let Some(task) = child::task() else { return };
    let [root, name, endpoint] = &task[..] else { panic!("{task:?}") };
    let machine = Machine::at(root, on_s3_at(endpoint, options(name)));
    let outcome = match turn(&machine, LEASE) {
        Ok(number) => format!("done {number}"),
        Err(RemoteError::Leased { .. } | RemoteError::LeaseLost { .. } | RemoteError::Contended { .. }) => {
            "refused".to_owned()
        }
        Err(error) => panic!("{error}: {error:?}"),
    };
    // In one step: whoever reads it while this is killed sees all of it or nothing.
    let temp = machine.root().join("outcome.new");
    fs::write(&temp, outcome).expect("there is room");
    fs::rename(&temp, machine.root().join("outcome")).expect("it is in the same directory");
}
