//! Every recorded answer of the reference, and the deviations that `docs/format.md` lists.

use serde_json::Value;
use session_core::{
    Conversation, Limits, LiveEvents, ScanBackwards, count, last_model, last_report, reference_show, scan_bytes,
};
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(name)
}

fn read(name: &str) -> Vec<u8> {
    fs::read(data(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn rows(name: &str) -> Vec<Value> {
    let text = String::from_utf8(read(name)).expect("the index files are ASCII");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn names(index: &str) -> Vec<String> {
    rows(index).iter().map(|row| row["name"].as_str().expect("each row has a name").to_owned()).collect()
}

fn load(history: &[u8]) -> Conversation {
    Conversation::read(history, Limits::default()).expect("a slice has no read errors")
}

fn printed(conversation: &Conversation) -> String {
    conversation
        .messages
        .iter()
        .map(|message| String::from_utf8(message.to_reference_json()).expect("JSON is text") + "\n")
        .collect()
}

#[test]
fn every_history_loads_as_the_reference_loads_it() {
    for name in names("events/index.jsonl") {
        let history = read(&format!("events/{name}.history.jsonl"));
        let wanted = String::from_utf8(read(&format!("events/{name}.messages.jsonl"))).expect("it is text");
        let conversation = load(&history);
        assert_eq!(printed(&conversation), wanted, "{name}");
        assert!(conversation.is_complete(), "{name}: {:?}", conversation.defects);
    }
}

#[test]
fn every_count_is_the_recorded_one() {
    for name in names("events/index.jsonl") {
        let history = read(&format!("events/{name}.history.jsonl"));
        let wanted = String::from_utf8(read(&format!("events/{name}.count"))).expect("it is text");
        let counted = count(&history[..], Limits::default()).expect("a slice has no read errors");
        assert_eq!(counted.messages.to_string(), wanted.trim(), "{name}");
        let live = LiveEvents::read(&history[..], Limits::default()).expect("a slice has no read errors");
        let live = live.events.iter().filter(|live| **live == Some(true)).count() as u64;
        assert_eq!(live, counted.messages, "{name}");
    }
}

#[test]
fn every_last_model_and_report_is_the_recorded_one() {
    for name in names("events/index.jsonl") {
        let history = read(&format!("events/{name}.history.jsonl"));
        let backwards = || ScanBackwards::new(Cursor::new(&history)).expect("a slice can be sought in");
        let model = last_model(backwards()).expect("a slice has no read errors").unwrap_or_default();
        assert_eq!(model + "\n", String::from_utf8(read(&format!("events/{name}.lastmodel"))).expect("text"), "{name}");
        let report = last_report(backwards()).expect("a slice has no read errors");
        let (report, current) = report.map_or(("null".into(), false), |last| {
            (String::from_utf8(last.report.to_json()).expect("JSON is text"), last.current)
        });
        let wanted = String::from_utf8(read(&format!("events/{name}.lastreport.json"))).expect("it is text");
        assert_eq!(format!("{{\"report\":{report},\"current\":{current}}}"), wanted.trim_end(), "{name}");
    }
}

#[test]
fn every_show_is_the_recorded_one_but_where_a_character_was_cut() {
    for row in rows("events/index.jsonl") {
        let name = row["name"].as_str().expect("each row has a name");
        let title = fs::read(data(&format!("events/{name}.meta.json")))
            .map(|meta| {
                serde_json::from_slice::<Value>(&meta).expect("it is JSON")["title"].as_str().unwrap_or("").to_owned()
            })
            .unwrap_or_default();
        let conversation = load(&read(&format!("events/{name}.history.jsonl")));
        let shown = reference_show(name, &title, &conversation.messages);
        let wanted = read(&format!("events/{name}.show.txt"));
        if row.get("show_invalid_utf8").is_some() {
            assert!(String::from_utf8(wanted).is_err(), "{name}: the reference cut a character");
        } else {
            assert_eq!(shown, String::from_utf8(wanted).expect("it is text"), "{name}");
        }
    }
}

#[test]
fn from_broken_histories_at_least_the_salvageable_messages_come_back() {
    for row in rows("errors/index.jsonl") {
        let name = row["name"].as_str().expect("each row has a name");
        let conversation = load(&read(&format!("errors/{name}.history.jsonl")));
        let salvageable = row["salvageable_messages"].as_u64().expect("a number");
        assert!(conversation.messages.len() as u64 >= salvageable, "{name}: {}", conversation.messages.len());
        assert_eq!(
            conversation.defects.len() as u64,
            row["bad_lines"].as_u64().expect("a number"),
            "{name}: {:#?}",
            conversation.defects
        );
    }
}

#[test]
fn the_defects_of_broken_histories_are_these() {
    let mut told = String::new();
    for name in names("errors/index.jsonl") {
        let history = read(&format!("errors/{name}.history.jsonl"));
        let conversation = load(&history);
        told += &format!(
            "{name}: {} messages{}\n",
            conversation.messages.len(),
            if conversation.uncertain { ", uncertain" } else { "" }
        );
        for defect in &conversation.defects {
            told += &format!("  {defect} [{}, {:?}, {} bytes]\n", defect.fault.code(), defect.outcome, defect.len);
        }
        let records = scan_bytes(&history).filter(|item| matches!(item, session_core::Item::Record(_))).count();
        told += &format!("  {records} events\n");
    }
    let path = data("defects.txt");
    if std::env::var_os("SNAPSHOTS").is_some_and(|mode| mode == "overwrite") {
        fs::write(&path, &told).expect("the data directory is writable where snapshots are recorded");
    }
    assert_eq!(told, fs::read_to_string(&path).expect("the snapshot is recorded"));
}
