//! A text in quotes is read as a strict JSON reader reads it, and where that one refuses it, it is told.
//!
//! This file uses nothing but the library and `serde_json`, and is compiled into the fuzzer too.

use session_core::{Item, Place, RawLine, scan_line};

/// Asserts it for the text of a notice that stands in the file as these bytes.
pub(crate) fn check(raw: &[u8]) {
    let line = [br#"{"kind":"notice","text":""#, raw, br#""}"#].concat();
    let strict = serde_json::from_slice::<serde_json::Value>(&line);
    let place = Place { line: Some(1), offset: 0 };
    let items = scan_line(RawLine { place, bytes: &line, terminated: true });
    let record = items.iter().find_map(|item| match item {
        Item::Record(record) => Some(record),
        Item::Defect(_) => None,
    });
    match strict {
        Ok(value) => {
            // Bytes that close the string themselves may say anything behind it.
            let members = value.as_object().map_or(0, serde_json::Map::len);
            if let (2, Some("notice"), Some(text)) = (members, value["kind"].as_str(), value["text"].as_str()) {
                assert_eq!(record.map(|record| &*record.event.text), Some(text));
            }
        }
        Err(_) => assert!(items.len() != 1 || record.is_none(), "no JSON, but read as {record:?}"),
    }
}
