//! What the trash remembers about a session.

use serde::{Deserialize, Serialize};
use session_core::{SessionName, Timestamp, format_time, parse_time};

/// The record of an entry, as it stands in `record.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The session's name.
    pub(super) name: String,
    /// When it was deleted, in UTC.
    pub(super) deleted: String,
    /// Why, in the words of who did it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) why: String,
}

impl Record {
    /// The record's file in an entry.
    pub(super) const FILE: &'static str = "record.json";
    /// A record that is larger is none.
    pub(super) const MAX_BYTES: u64 = 1 << 20;

    pub(super) fn new(name: &SessionName, now: &Timestamp, why: &str) -> Self {
        Record { name: name.to_string(), deleted: format_time(now), why: why.to_owned() }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("three strings are always JSON");
        bytes.push(b'\n');
        bytes
    }

    /// The name, the time and the reason; `None` where the bytes say something else.
    pub(super) fn read(bytes: &[u8]) -> Option<(SessionName, Timestamp, String)> {
        let record: Record = serde_json::from_slice(bytes).ok()?;
        Some((SessionName::new(record.name).ok()?, parse_time(&record.deleted)?, record.why))
    }
}
