//! Appending events of about 1 KB, against one write of the same bytes and against SQLite.

use session_bench::floor::Appending;
use session_bench::scratch::{events, in_memory, on_disk};
use session_bench::sqlite::{Database, Synchronous};
use session_core::Event;
use session_store::{Durability, History, NewSession, Options, Session, SessionPaths, Store};
use session_testing::Table;
use std::path::Path;
use std::slice;
use std::thread;

/// How many events a run appends in memory, and how many on the disk.
const IN_MEMORY: usize = 4_000;
const ON_DISK: usize = 160;

fn main() {
    let made = events(1_000);
    let lines: Vec<&[u8]> = made.iter().map(|(_, line)| &line[..]).collect();
    let events: Vec<Event> = made.iter().map(|(event, _)| event.clone()).collect();
    kernel(&events, &lines);
    disk(&events, &lines);
}

/// Handed to the kernel.
fn kernel(events: &[Event], lines: &[&[u8]]) {
    let dir = in_memory();
    let table = Table::new("events of 1 KB, handed to the kernel, in memory", 9);
    let mut floor = Appending::create(&dir.path().join("floor"));
    let mut floor = || (0..IN_MEMORY).for_each(|n| floor.write(lines[n % lines.len()]));
    let session = session(dir.path(), "single", Durability::Os);
    let single = || append(&session, events, IN_MEMORY, 1);
    let paths = SessionPaths::new(dir.path());
    let mut history = History::new(paths, "alone", Options { durability: Durability::Os, ..Options::default() });
    let mut alone = || {
        for n in 0..IN_MEMORY {
            let event = &events[n % events.len()];
            history.append(slice::from_ref(event), Vec::new).expect("the scratch directory can be written");
        }
    };
    table.times_as_long("append to a history, against one write", &mut floor, &mut alone, "<= 3");
    table.times_as_long("append to a session, against one write", &mut floor, single, "");
    table.times_as_long(
        "append ten at a time, against one write each",
        &mut floor,
        || append(&session, events, IN_MEMORY, 10),
        "",
    );
    table.times_as_fast(
        "ten at a time, faster than single",
        single,
        || append(&session, events, IN_MEMORY, 10),
        ">= 2.5",
    );
    let mut database = Database::create(&dir.path().join("normal.db"), Synchronous::Normal);
    table.times_as_fast("append, faster than SQLite NORMAL", || insert(&mut database, lines, IN_MEMORY, 1), single, "");
}

/// On the disk before it answers.
fn disk(events: &[Event], lines: &[&[u8]]) {
    let dir = on_disk();
    let table = Table::new("events of 1 KB, on the disk before the answer", 9);
    let session = session(dir.path(), "durable", Durability::Data);
    let mut database = Database::create(&dir.path().join("full.db"), Synchronous::Full);
    let mut sqlite = |at_once| insert(&mut database, lines, ON_DISK, at_once);
    table.times_as_fast(
        "single, faster than SQLite FULL",
        || sqlite(1),
        || append(&session, events, ON_DISK, 1),
        ">= 1.1",
    );
    table.times_as_fast(
        "ten at a time, faster than SQLite FULL",
        || sqlite(10),
        || append(&session, events, ON_DISK, 10),
        ">= 1.6",
    );
    table.times_as_fast(
        "8 threads together, faster than one",
        || append(&session, events, ON_DISK, 1),
        || {
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| append(&session, events, ON_DISK / 8, 1));
                }
            });
        },
        ">= 2.5",
    );
}

fn session(dir: &Path, name: &str, durability: Durability) -> Session {
    let store = Store::open_at(dir.join("sessions")).with_options(Options { durability, ..Options::default() });
    let name = name.parse().expect("it is a name");
    store
        .create(&NewSession { name: Some(name), ..NewSession::default() })
        .expect("the scratch directory can be written")
}

fn append(session: &Session, events: &[Event], count: usize, at_once: usize) {
    for n in 0..count / at_once {
        let from = n * at_once % events.len();
        session.append(&events[from..from + at_once]).expect("the scratch directory can be written");
    }
}

fn insert(database: &mut Database, lines: &[&[u8]], count: usize, at_once: usize) {
    for n in 0..count / at_once {
        let from = n * at_once % lines.len();
        database.insert(&lines[from..from + at_once]);
    }
}
