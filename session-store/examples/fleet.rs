//! A fleet on paper: sessions that are sent after each turn to a store in memory, and what that comes to in requests,
//! bytes and money.
//!
//! `cargo run -p session-store --features remote --example fleet -- SESSIONS TURNS`

#![expect(clippy::print_stdout, reason = "an example prints what it found out")]

use session_core::Message;
use session_store::remote::{PushOptions, Remote, RemoteOptions, Traffic};
use session_store::{Durability, NewSession, Options, Store};
use std::error::Error;
use std::time::Duration;

/// Dollars for a thousand requests that write, and for a thousand that read, and for a gigabyte and month: what the
/// largest provider asks in its oldest region.
const WRITES: f64 = 0.005;
const READS: f64 = 0.0004;
const GIGABYTE: f64 = 0.023;

/// What a turn says: a prompt, and a few calls with their results.
fn turn(session: usize, turn: usize) -> Vec<Message> {
    let text = |n: usize| format!("{session} {turn} {n}: the {}th oak stands {} m from the birch; ", n * 7, n * turn);
    let long = |words: usize| (0..words).map(text).collect::<String>();
    let mut messages = vec![Message::user(long(2))];
    messages.extend((0..4).map(|n| Message::assistant(long(n + 6))));
    messages
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
        for at in 0..turns {
            session.append_messages(turn(number, at))?;
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
    let later_turns = (sessions * turns.saturating_sub(1)).max(1);
    let reads = leases as f64 / later_turns as f64;
    let dollars = (later.requests as f64 / later_turns as f64 + reads) * WRITES / 1e3 + reads * READS / 1e3;
    println!(
        "a turn under a lease: {:.2} writes, {reads:.2} reads, {:.7} dollars",
        later.requests as f64 / later_turns as f64 + reads,
        dollars
    );
    println!("a million such turns: {:.2} dollars", dollars * 1e6);
    let stored = (first.sent_bytes + later.sent_bytes) as f64 / sessions as f64;
    println!("a million such sessions, nothing removed: {:.2} dollars a month", stored * 1e6 / 1e9 * GIGABYTE);
    Ok(())
}

fn report(sessions: usize, turns: usize, rows: &[(&str, Traffic, usize)], history: u64) {
    println!("{sessions} sessions of {turns} turns, {} bytes of history each", history / sessions.max(1) as u64);
    for (what, traffic, count) in rows {
        let each = |sum: u64| sum as f64 / (*count).max(1) as f64;
        println!("{what}: {:.2} requests, {:.0} bytes sent", each(traffic.requests), each(traffic.sent_bytes));
    }
}
