//! Reading and writing histories in memory, against the floor: reading the same bytes and counting newlines.

use memchr::memchr_iter;
use session_core::{Conversation, Event, Item, Limits, count, scan_bytes};
use session_testing::{Histories, Shape, Table};
use std::hint::black_box;
use std::io::{BufReader, Read};

const MEGABYTES: usize = 50;

fn main() {
    let history = Histories::of_bytes(7, Shape::Real, MEGABYTES << 20);
    let table = Table::new(&format!("{MEGABYTES} MB of history in memory, one thread"), 9);
    let floor = || floor(&history);
    let load = || Conversation::read(reader(&history), Limits::default()).expect("memory");
    table.times_as_long("load, against the floor", floor, load, "<= 10");
    table.times_as_long("count, against the floor", floor, || count(reader(&history), Limits::default()), "<= 2");
    table.times_as_fast("load, faster than serde_json::Value", || values(&history), load, "");
    encode(&history);
}

/// Through a buffer, as a file comes.
fn reader(history: &[u8]) -> BufReader<&[u8]> {
    BufReader::with_capacity(256 << 10, history)
}

fn floor(history: &[u8]) {
    let mut from = history;
    let mut buffer = vec![0; 256 << 10];
    let mut lines = 0;
    loop {
        match from.read(&mut buffer).expect("memory") {
            0 => break,
            n => lines += memchr_iter(b'\n', &buffer[..n]).count(),
        }
    }
    black_box(lines);
}

fn values(history: &[u8]) -> Vec<serde_json::Value> {
    let parsed = history.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    parsed.map(|line| serde_json::from_slice(line).expect("JSON")).collect()
}

fn encode(history: &[u8]) {
    let events: Vec<Event> = scan_bytes(&history[..10 << 20])
        .filter_map(|item| match item {
            Item::Record(record) => Some(*record.event),
            Item::Defect(_) => None,
        })
        .collect();
    let values: Vec<serde_json::Value> =
        history[..10 << 20].split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let table = Table::new("10 MB of events to bytes", 9);
    let mut out = Vec::with_capacity(16 << 20);
    let mut plain = Vec::with_capacity(16 << 20);
    table.times_as_long(
        "encode, against serde_json without our escapes",
        || {
            plain.clear();
            for value in &values {
                serde_json::to_writer(&mut plain, value).expect("memory");
            }
            black_box(&plain);
        },
        || {
            out.clear();
            for event in &events {
                event.encode(&mut out);
            }
            black_box(&out);
        },
        "<= 1.4",
    );
}
