//! The parts that other processes play, ours and the reference's.

use super::process::{say, wait_for_end};
use super::reference::{reads_meta, saves_meta};
use nix::fcntl::{Flock, FlockArg};
use session_core::{Message, Point};
use session_disk::faults::{Fault, with};
use session_store::{
    Durability, NewSession, Options, Rewind, RewindParts, Session, SessionPaths, Store, StoreError, Wait,
};
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
        "changes a field" => changes_a_field(dir, more),
        "reference saves in a loop" => reference_saves_in_a_loop(dir, seconds(more)),
        "opens the default store" => opens_the_default_store(),
        "rewinds and is killed" => rewinds_and_is_killed(dir, more),
        "does everything" => does_everything(dir, more),
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
    sleep.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
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

/// Counts in a field, and makes sure each time that it finds there what it left.
fn changes_a_field(dir: &Path, more: &str) {
    let (field, times) = more.split_once(' ').expect("a field and a number");
    let times: u32 = times.parse().expect("a number");
    let session = open(dir);
    say("started");
    for n in 0..times {
        let changed = session.update_meta(|meta| {
            let value = if field == "model" { &mut meta.model } else { &mut meta.workspace };
            // After a process that was killed the count goes on from anywhere.
            assert!(n == 0 || *value == n.to_string(), "{field} is {value} after {n}");
            *value = (n + 1).to_string();
        });
        changed.expect("it can be changed");
    }
}

/// Has read the metadata once, and saves it with a new cost time and again.
fn reference_saves_in_a_loop(dir: &Path, time: Duration) {
    let paths = SessionPaths::new(dir);
    let mut meta = reads_meta(&paths);
    say("started");
    let start = Instant::now();
    while start.elapsed() < time {
        meta.cost += 1.0;
        saves_meta(&paths, &meta);
        std::thread::yield_now();
    }
    say(&meta.cost.to_string());
}

fn opens_the_default_store() {
    let store = Store::open_default().expect("there is a home");
    say(&store.base_dir().display().to_string());
    let opened = store.open(&"demo".parse().expect("it is a name"));
    say(if matches!(opened, Err(StoreError::NotFound { .. })) { "not found" } else { "something else" });
}

/// Goes back to the end of the first turn, and dies just before an operation.
fn rewinds_and_is_killed(scratch: &Path, at: &str) {
    let at = at.parse().expect("a number of operations");
    let session = Store::open_at(scratch.join("sessions")).open(&"demo".parse().expect("it is a name"));
    let session = session.expect("it is there");
    let lock = session.lock().expect("it is free");
    let options = session_checkpoint::Options::new(scratch.join("work"), session.paths().checkpoints());
    let mut own = session_checkpoint::Attached::new(options, Vec::new(), session_checkpoint::Cancel::new());
    let rewind = Rewind { to: Point::Turn(1), parts: RewindParts::Both, force: session_store::RewindForce::Careful };
    let run = with(Fault::Kill { at }, || session.rewind(Some(&lock), &rewind, Some(&mut own)));
    run.result.map(drop).expect("nothing forbids it");
    say("survived");
}

/// Uses a store in every way that leaves files behind, and ends in the middle of a turn.
fn does_everything(base: &Path, umask: &str) {
    let umask = u32::from_str_radix(umask, 8).expect("an octal number");
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(umask));
    let store = Store::open_at(base);
    let session =
        store.create(&NewSession { title: "Oaks".into(), ..NewSession::default() }).expect("it can be created");
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    fs::write(session.paths().meta(), "corrupt").expect("it can be written");
    session.update_meta(|meta| meta.cost = 1.0).expect("it can be changed");
    store.open_or_create(&"other".parse().expect("it is a name")).expect("it can be created");
    Session::open_dir(base.join("third"), Options::default()).expect("it can be created");
    std::mem::forget(turn);
    std::mem::forget(lock);
    std::mem::forget(session);
}
