//! What a repair takes out of a history, with an index that says where each part stood and why it went.

use crate::quarantine::Taken;
use serde::Serialize;
use session_core::{Defect, Timestamp};

/// A line of the index.
#[derive(Serialize)]
struct Entry {
    /// The line of the history, from 1.
    line: Option<u64>,
    /// The first byte, as an offset in the history.
    offset: u64,
    bytes: u64,
    /// Where they begin in the file.
    at: u64,
    why: &'static str,
}

/// The parts, under a name that says when.
pub(super) fn taken(parts: &[Defect], now: Timestamp) -> Taken {
    let (mut at, mut index) = (0, Vec::new());
    for defect in parts {
        let (line, offset) = (defect.place.line, defect.place.offset);
        let entry = Entry { line, offset, bytes: defect.len, at, why: defect.fault.code() };
        // A newline follows each part.
        at += defect.len + 1;
        serde_json::to_writer(&mut index, &entry).expect("numbers and a word are always JSON");
        index.push(b'\n');
    }
    let name = format!("lines-{}-{:016x}", now.format("%Y%m%dT%H%M%SZ"), rand::random::<u64>());
    Taken { name, parts: parts.iter().map(|defect| (defect.place.offset, defect.len)).collect(), index: Some(index) }
}
