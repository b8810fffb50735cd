//! Reading and writing histories in memory, against the floor: reading the same bytes and counting newlines.

use memchr::memchr_iter;
use serde::{Deserialize, Serialize};
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
    let plain_events: Vec<Plain> =
        history[..10 << 20].split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let table = Table::new("10 MB of events, encode", 9);
    let mut out = Vec::with_capacity(16 << 20);
    let mut plain = Vec::with_capacity(16 << 20);
    table.times_as_long(
        "encode, against derived serde_json, no escapes of <>&",
        || {
            plain.clear();
            for event in &plain_events {
                serde_json::to_writer(&mut plain, event).expect("memory");
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

/// An event as somebody would derive it who needs nothing but its JSON.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Plain {
    ts: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<PlainMessage>,
    #[serde(skip_serializing_if = "String::is_empty")]
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<i64>,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<i64>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct PlainMessage {
    role: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<PlainCall>,
    #[serde(skip_serializing_if = "String::is_empty")]
    tool_call_id: String,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct PlainCall {
    id: String,
    r#type: String,
    function: PlainFunction,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct PlainFunction {
    name: String,
    arguments: String,
}
