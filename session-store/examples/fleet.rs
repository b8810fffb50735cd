//! A fleet on paper: sessions that are sent after each turn to a store in memory, and what that comes to in requests,
//! bytes and money.
//!
//! `cargo run -p session-store --features remote --example fleet -- SESSIONS TURNS`

#![expect(clippy::print_stdout, reason = "an example prints what it found out")]

use session_store::remote::{PushOptions, Remote, RemoteOptions, Traffic};
use session_store::{Durability, NewSession, Options, Store};
use session_testing::{Histories, Shape};
use std::error::Error;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

/// Dollars for a thousand requests that write, and for a thousand that read, and for a gigabyte and month: what the
/// largest provider asks in its oldest region.
const WRITES: f64 = 0.005;
const READS: f64 = 0.0004;
const GIGABYTE: f64 = 0.023;

/// How many lines a turn adds to the history: a prompt, and some calls with their results. A line has a kilobyte on average.
const LINES: usize = 8;

/// Adds a turn to a history, as agents write them.
fn turn(history: &Path, lines: &mut Histories) -> io::Result<()> {
    let mut bytes = Vec::new();
    (0..LINES).for_each(|_| lines.push_line(&mut bytes));
    OpenOptions::new().append(true).create(true).open(history)?.write_all(&bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let (sessions, turns) = (arguments.next().unwrap_or(Ok(100))?, arguments.next().unwrap_or(Ok(10))?);
    let scratch = tempfile::tempdir()?;
    let options = Options { durability: Durability::Os, ..Options::default() };
    let store = Store::open_at(scratch.path().join("sessions")).with_options(options);
    let remote = Remote::in_memory(RemoteOptions::default())?;
    let (mut first, mut later, mut leases, mut history) = (Traffic::default(), Traffic::default(), 0_u64, 0);
    for number in 0..sessions {
        let session = store.create(&NewSession::default())?;
        let mut lines = Histories::new(number as u64, Shape::Real);
        for at in 0..turns {
            turn(&session.paths().history(), &mut lines)?;
            if at == 0 {
                first.add(remote.push(&session, &PushOptions::default())?.traffic);
                continue;
            }
            let name = session_core::SessionName::new(session.name())?;
            let lease = remote.lease(&name, Duration::from_secs(60))?;
            leases += 1;
            later.add(lease.finish(&session, &PushOptions::default())?.traffic);
        }
        history += session.dir().join("history.jsonl").metadata()?.len();
    }
    report(sessions, turns, &[("first push", first, sessions), ("later push", later, sessions * (turns - 1))], history);
    // Taking a lease reads the manifest and writes it; giving it back is part of the push.
    let later_turns = (sessions * turns.saturating_sub(1)).max(1) as f64;
    let (reads, writes) = (leases as f64 / later_turns, (later.requests + leases) as f64 / later_turns);
    let turn = writes * WRITES / 1e3 + reads * READS / 1e3;
    println!("a turn under a lease: {writes:.2} writes, {reads:.2} reads, {turn:.7} dollars");
    println!("a million such turns: {:.2} dollars", turn * 1e6);
    let stored = (first.sent_bytes + later.sent_bytes) as f64 / sessions as f64;
    println!("a million such sessions, nothing removed: {:.2} dollars a month", stored * 1e6 / 1e9 * GIGABYTE);
    looked_at(&remote)
}

/// What it takes to look at all of them.
fn looked_at(remote: &Remote) -> Result<(), Box<dyn Error>> {
    let list = remote.list("")?;
    for what in ["a first list with titles", "the next one"] {
        let Traffic { requests, sent_bytes, received_bytes, .. } = remote.summaries(&list.sessions).traffic;
        println!(
            "{what}: {} pages, {requests} requests, {sent_bytes} bytes sent, {received_bytes} received",
            list.traffic.requests
        );
    }
    Ok(())
}

fn report(sessions: usize, turns: usize, rows: &[(&str, Traffic, usize)], history: u64) {
    println!("{sessions} sessions of {turns} turns, {} bytes of history each", history / sessions.max(1) as u64);
    for (what, traffic, count) in rows {
        let each = |sum: u64| sum as f64 / (*count).max(1) as f64;
        println!("{what}: {:.2} requests, {:.0} bytes sent", each(traffic.requests), each(traffic.sent_bytes));
    }
}
