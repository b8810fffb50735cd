//! What was read can be written, and is read again alike.
//!
//! This file uses nothing but the library, and is compiled into the fuzzer too.

use session_core::{Defect, Event, Fault, Item, Kind, Place, RawLine, scan_bytes, scan_line};

/// Asserts that whatever a line gives survives being written and read.
pub(crate) fn check(line: &[u8]) {
    let place = Place { line: Some(1), offset: 0 };
    for terminated in [true, false] {
        for item in scan_line(RawLine { place, bytes: line, terminated }) {
            if let Item::Record(record) = item {
                round_trip(&record.event);
            }
        }
    }
}

/// Asserts that an event that was read, or made with the types' own means, survives being written and read.
pub(crate) fn round_trip(event: &Event) {
    let mut line = Vec::new();
    event.encode(&mut line);
    assert_eq!(line.iter().position(|b| *b == b'\n'), Some(line.len() - 1), "one line: {event:?}");
    let items: Vec<Item> = scan_bytes(&line).collect();
    let record = match &items[..] {
        [Item::Record(record)] => record,
        // A member without a name here keeps its text, half a surrogate pair in it included.
        [Item::Defect(Defect { fault: Fault::LoneSurrogate, .. }), Item::Record(record)] if has_surrogate(&line) => {
            record
        }
        _ => panic!("one event without a defect: {items:#?}"),
    };
    let mut wanted = event.clone();
    if wanted.kind.is_none() {
        wanted.kind = Kind::Message;
    }
    assert_eq!(*record.event, wanted);
    let mut again = Vec::new();
    record.event.encode(&mut again);
    assert_eq!(again, line);
}

/// Texts that the library writes itself have no escape of a surrogate.
fn has_surrogate(line: &[u8]) -> bool {
    line.windows(3).any(|three| three.eq_ignore_ascii_case(b"\\ud"))
}
