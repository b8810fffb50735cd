//! What damage to a file costs: the lines that it touches, and no other.

use crate::properties::cases;
use proptest::prelude::*;
use session_core::{Conversation, Event, Item, Kind, Limits, Message, Record, ToolCall, count, parse_time, scan_bytes};
use std::fs;
use std::path::PathBuf;

/// A history of so many events, of every kind.
fn history(events: usize) -> Vec<u8> {
    let mut history = Vec::new();
    for n in 0..events {
        let ts = parse_time(&format!("2026-01-02T03:{:02}:{:02}Z", n / 60 % 60, n % 60)).expect("it is a time");
        let event = match n % 7 {
            0 => Event::message(ts, Message::user(format!("plant {n} oaks, \"please\""))),
            1 => {
                let call = ToolCall {
                    id: format!("c{n}").into(),
                    call_type: "function".into(),
                    name: "Shell".into(),
                    arguments: "{\"cmd\":\"dig\"}".into(),
                    ..ToolCall::default()
                };
                Event::message(ts, Message { tool_calls: [call].into(), ..Message::assistant("ich grabe 木") })
            }
            2 => Event::message(ts, Message::tool_result(&format!("c{}", n - 1), "Shell", "3 holes\n")),
            3 => Event::notice(ts, "rain"),
            4 => Event::settings(ts, "small", true, vec!["Shell".into()]),
            5 => Event { x: Event::new(ts, Kind::XNote).x, ..Event::new(ts, Kind::Other("weather".into())) },
            _ => Event::rollback(ts, 1),
        };
        event.encode(&mut history);
    }
    history
}

fn records(history: &[u8]) -> Vec<Record> {
    let record = |item| match item {
        Item::Record(record) => Some(record),
        Item::Defect(_) => None,
    };
    scan_bytes(history).filter_map(record).collect()
}

/// Counting and loading agree, and every event that `untouched` says was not touched is there. Line numbers may differ.
fn survives(damaged: &[u8], whole: &[Record], untouched: impl Fn(&Record) -> bool) {
    let place = |record: &Record| (record.place.offset, record.event.clone());
    let found: Vec<_> = records(damaged).iter().map(place).collect();
    for record in whole.iter().filter(|record| untouched(record)) {
        assert!(found.contains(&place(record)), "byte {}: {record:?}", record.place.offset);
    }
    count_is_load(damaged);
}

fn count_is_load(history: &[u8]) {
    let loaded = Conversation::read(history, Limits::default()).expect("a slice has no read errors");
    let counted = count(history, Limits::default()).expect("a slice has no read errors");
    assert_eq!(
        (counted.messages, counted.skipped, counted.repaired, counted.uncertain),
        (loaded.messages.len() as u64, loaded.skipped, loaded.repaired, loaded.uncertain)
    );
}

/// Whether a range of the file has a byte of the record's line, its newline included.
fn touches(from: usize, to: usize, record: &Record) -> bool {
    let (start, end) = (record.place.offset, record.place.offset + record.len);
    (from as u64) <= end && start < to as u64
}

#[test]
fn i12_a_cut_after_any_byte_costs_the_line_that_it_cuts() {
    let history = history(200);
    let whole = records(&history);
    for cut in 0..=history.len() {
        let damaged = &history[..cut];
        // The lines before the one that is cut were read at the cuts inside them.
        let start = damaged.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
        let start = if cut % 199 == 0 {
            0
        } else {
            history[..start.saturating_sub(1)].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1)
        };
        let items: Vec<Item> = scan_bytes(&history[start..cut]).collect();
        let defects = items.iter().filter(|item| matches!(item, Item::Defect(_))).count();
        let wanted = whole
            .iter()
            .filter(|record| record.place.offset >= start as u64 && record.place.offset + record.len <= cut as u64);
        assert_eq!(items.len() - defects, wanted.count(), "cut after {cut} bytes");
        assert!(defects <= 1, "cut after {cut} bytes: {items:?}");
        if cut % 199 == 0 {
            count_is_load(damaged);
        }
    }
}

#[test]
fn i12_a_byte_that_changed_costs_the_line_that_it_is_in() {
    let history = history(7);
    let whole = records(&history);
    for at in 0..history.len() {
        for byte in [0, b'\n', b'\r', b'"', b'\\', b'{', b'}', b',', b'9', b' ', 0x80, 0xFF, history[at] ^ 0x20] {
            let mut damaged = history.clone();
            damaged[at] = byte;
            survives(&damaged, &whole, |record| !touches(at, at + 1, record));
        }
    }
}

#[test]
fn count_is_load_on_every_recorded_history_and_on_every_cut_of_it() {
    for folder in ["events", "errors"] {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(folder);
        for entry in fs::read_dir(folder).expect("the data is there") {
            let path = entry.expect("the data is there").path();
            if !path.to_string_lossy().ends_with(".history.jsonl") {
                continue;
            }
            let history = fs::read(&path).expect("the data is there");
            let step = session_testing::usually(history.len() / 300 + 1, 1);
            for cut in (0..=history.len()).rev().step_by(step) {
                count_is_load(&history[..cut]);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn i12_a_hole_costs_the_lines_that_it_touches(from in 0_usize..9_000, len in 1_usize..2_000, fill in any::<[u8; 3]>()) {
        let history = history(60);
        let whole = records(&history);
        let from = from.min(history.len() - 1);
        let to = (from + len).min(history.len());
        // One in three is a hole of NUL bytes, as a crash leaves it; the others are rubbish.
        let fill = if fill[0] % 3 == 0 { [0; 3] } else { fill };
        let mut damaged = history.clone();
        for (n, byte) in damaged[from..to].iter_mut().enumerate() {
            *byte = fill[n % 3];
        }
        survives(&damaged, &whole, |record| !touches(from, to, record));
    }

    #[test]
    fn i12_a_newline_that_is_missing_costs_nothing(n in 0_usize..59) {
        let history = history(60);
        let whole = records(&history);
        let newline = usize::try_from(whole[n].place.offset + whole[n].len).expect("it is inside");
        let glued = [&history[..newline], &history[newline + 1..]].concat();
        let events = |history: &[u8]| records(history).into_iter().map(|record| record.event).collect::<Vec<_>>();
        prop_assert_eq!(events(&glued), events(&history));
        count_is_load(&glued);
    }
}
