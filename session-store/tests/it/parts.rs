//! The parts that other processes play, ours and the reference's.

use super::process::{say, wait_for_end};
use nix::fcntl::{Flock, FlockArg};
use session_store::{Durability, Options, Session, SessionPaths, Wait};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn play(part: &str, dir: &Path, more: &str) {
    match part {
        "holds" => holds(dir),
        "waits" => waits(dir),
        "holds and leaves a child" => leaves_a_child(dir),
        "locks in a loop" => locks_in_a_loop(dir, seconds(more)),
        "reference locks in a loop" => reference_locks_in_a_loop(dir, seconds(more)),
        "reference holds" => reference_holds(dir),
        other => panic!("there is no part {other:?}"),
    }
}

fn seconds(more: &str) -> Duration {
    Duration::from_secs(more.parse().expect("a number of seconds"))
}

pub(crate) fn open(dir: &Path) -> Session {
    let options =
        Options { wait: Wait::UpTo(Duration::from_secs(60)), durability: Durability::Os, ..Options::default() };
    Session::open_dir(dir, options).expect("the session can be opened")
}

fn holds(dir: &Path) {
    let session = open(dir);
    let _lock = session.lock().expect("it is free");
    say("held");
    wait_for_end();
}

fn waits(dir: &Path) {
    let session = open(dir);
    say("waiting");
    let _lock = session.lock().expect("it is free in the end");
    say("held");
}

fn leaves_a_child(dir: &Path) {
    let session = open(dir);
    let lock = session.lock().expect("it is free");
    let mut sleep = Command::new("sleep");
    sleep.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = Box::leak(Box::new(sleep.spawn().expect("there is a sleep")));
    say(&child.id().to_string());
    // Neither is dropped: this process just ends.
    std::mem::forget((lock, session));
}

/// What nobody else may have at the same time: a file that exists while one is inside.
fn inside(dir: &Path, act: impl FnOnce()) {
    let mark = dir.with_extension("inside");
    let made = OpenOptions::new().write(true).create_new(true).open(&mark);
    assert!(made.is_ok(), "two hold the lock at once");
    act();
    fs::remove_file(&mark).expect("it is ours");
}

fn locks_in_a_loop(dir: &Path, time: Duration) {
    let session = open(dir);
    let start = Instant::now();
    let mut rounds = 0_u64;
    while start.elapsed() < time {
        let lock = session.lock().expect("it is free in time");
        inside(dir, || drop(lock.check()));
        rounds += 1;
    }
    say(&rounds.to_string());
}

/// Takes the lock as the reference does: opens or creates the file, locks it, writes its process id.
fn reference_lock(dir: &Path) -> Option<Flock<fs::File>> {
    let path = SessionPaths::new(dir).lock();
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path).expect("it can be opened");
    let mut locked = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    locked.set_len(0).expect("it can be cut");
    write!(locked, "{}", std::process::id()).expect("it can be written");
    Some(locked)
}

fn reference_holds(dir: &Path) {
    let _locked = reference_lock(dir).expect("it is free");
    say("held");
    wait_for_end();
}

/// Releases as the reference does: unlocks, closes, and removes the file then.
fn reference_locks_in_a_loop(dir: &Path, time: Duration) {
    let start = Instant::now();
    let mut rounds = 0_u64;
    while start.elapsed() < time {
        if let Some(locked) = reference_lock(dir) {
            drop(locked.unlock().expect("it was locked"));
            drop(fs::remove_file(SessionPaths::new(dir).lock()));
            rounds += 1;
        }
        std::thread::yield_now();
    }
    say(&rounds.to_string());
}
