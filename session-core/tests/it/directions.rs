//! Reading from the end gives what reading from the start gives, on any bytes and with any bounds.
//!
//! This file uses nothing but the library, and is compiled into the fuzzer too.

use session_core::{
    Bodies, Conversation, Count, HistoryPart, Item, Limits, Place, RawLine, Scan, ScanBackwards, count, last_messages,
    scan_line,
};
use std::io::{BufReader, Cursor};

/// Asserts that all readers agree about a history. `capacity` is the reader's buffer.
pub(crate) fn check(history: &[u8], capacity: usize, max_line_bytes: u64) {
    let limits = Limits { max_line_bytes };
    let forwards = items(Scan::with_limits(BufReader::with_capacity(capacity, history), limits));
    assert_eq!(forwards, items(Scan::with_limits(history, limits)), "whatever the buffer is");
    stand_in_order(history, &forwards);

    let backwards = ScanBackwards::with_limits(Cursor::new(history), limits).expect("a slice can be sought in");
    let mut reversed = items(backwards);
    reversed.reverse();
    let unnumbered: Vec<Item> = forwards.iter().cloned().map(unnumbered).collect();
    assert_eq!(reversed, unnumbered, "from the end");

    let skipping = items(Scan::with_limits(history, limits).bodies(Bodies::Skip));
    let shape = |items: &[Item]| items.iter().map(shape).collect::<Vec<_>>();
    assert_eq!(shape(&skipping), shape(&forwards), "without bodies");

    let loaded = Conversation::read(history, limits).expect("a slice has no read errors");
    let counted = count(history, limits).expect("a slice has no read errors");
    assert_eq!(counted.messages, loaded.messages.len() as u64);
    assert_eq!(
        (counted.skipped, counted.repaired, counted.uncertain),
        (loaded.skipped, loaded.repaired, loaded.uncertain)
    );

    in_parts(history, limits, &loaded, counted);

    let backwards = ScanBackwards::with_limits(Cursor::new(history), limits).expect("a slice can be sought in");
    let last = last_messages(backwards, usize::MAX).expect("a slice has no read errors");
    assert_eq!((last.messages, last.uncertain), (loaded.messages, loaded.uncertain));
}

/// Read line by line as parts, joined from either side, the history gives what it gives as a whole.
fn in_parts(history: &[u8], limits: Limits, loaded: &Conversation, counted: Count) {
    // Of a history of many lines, runs of lines.
    let lines: Vec<&[u8]> = history.split_inclusive(|&byte| byte == b'\n').collect();
    let runs: Vec<Vec<u8>> = lines.chunks(lines.len() / 60 + 1).map(<[_]>::concat).collect();
    let load = || runs.iter().map(|part| HistoryPart::load(&part[..], limits).expect("a slice has no read errors"));
    let Some(joined) = load().reduce(HistoryPart::then) else { return };
    assert_eq!(Conversation::from(joined), *loaded);
    let from_the_end = load().rev().reduce(|last, before| before.then(last)).expect("there is a part");
    assert_eq!(Conversation::from(from_the_end), *loaded);
    let count = |part: &Vec<u8>| HistoryPart::count(&part[..], limits).expect("a slice has no read errors");
    assert_eq!(runs.iter().map(count).reduce(HistoryPart::then).map(Count::from), Some(counted));
}

fn items(items: impl Iterator<Item = std::io::Result<Item>>) -> Vec<Item> {
    items.collect::<Result<_, _>>().expect("a slice has no read errors")
}

fn place(item: &mut Item) -> &mut Place {
    match item {
        Item::Record(record) => &mut record.place,
        Item::Defect(defect) => &mut defect.place,
    }
}

fn unnumbered(mut item: Item) -> Item {
    assert!(place(&mut item).line.take().is_some(), "forwards, every line has its number");
    item
}

/// What of an item does not depend on bodies.
fn shape(item: &Item) -> Item {
    match item {
        Item::Defect(defect) => Item::Defect(defect.clone()),
        Item::Record(record) => {
            let mut event = Box::new(session_core::Event {
                ts: record.event.ts,
                kind: record.event.kind.clone(),
                ms: record.event.ms,
                dropped: record.event.dropped,
                merge_thinking: record.event.merge_thinking,
                ..session_core::Event::default()
            });
            event.message = record.event.message.as_ref().map(|message| {
                Box::new(session_core::Message { role: message.role.clone(), ..session_core::Message::default() })
            });
            let mut record = record.clone();
            record.event = event;
            Item::Record(record)
        }
    }
}

/// Places ascend, lie inside the file, and the bytes of a record are its event.
fn stand_in_order(history: &[u8], items: &[Item]) {
    let mut before = 0;
    for item in items {
        let (place, len) = match item {
            Item::Record(record) => (record.place, record.len),
            Item::Defect(defect) => (defect.place, defect.len),
        };
        assert!(place.offset >= before && place.offset + len <= history.len() as u64, "{item:?}");
        let line = history[..usize::try_from(place.offset).expect("it is inside")].iter().filter(|b| **b == b'\n');
        assert_eq!(place.line, Some(line.count() as u64 + 1), "{item:?}");
        before = place.offset;
        if let Item::Record(record) = item {
            let start = usize::try_from(record.place.offset).expect("it is inside");
            let bytes = &history[start..start + usize::try_from(record.len).expect("it is inside")];
            let again = scan_line(RawLine { place: record.place, bytes, terminated: true });
            assert_eq!(again.last(), Some(item), "the bytes of a record are its event");
        }
    }
}
