//! What a history says about rewinds: a member `rewind` of `x`, on the rollback that was one, and on the note of one that
//! was taken back.

use crate::{HistoryView, Result};
use serde::{Deserialize, Serialize};
use session_core::{Event, Extension, Item, Kind};

/// The member's name.
const MEMBER: &str = "rewind";
/// The topic of the note of a rewind that was taken back.
pub(super) const UNDONE: &str = "rewind-undone";

/// A rewind, as its rollback tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// Which one it is.
    pub(super) id: String,
    /// The last event that stayed.
    #[serde(default)]
    pub(super) to: u64,
    /// The workspace as it was before, where files changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) guard: Option<u64>,
}

impl Mark {
    pub(super) fn put_on(&self, event: &mut Event) {
        event.x.set(MEMBER, &serde_json::to_value(self).expect("a string and numbers are always JSON"));
    }

    fn of(event: &Event) -> Option<Self> {
        serde_json::from_value(event.x.value(MEMBER)?).ok()
    }
}

/// The newest rewind of a history.
pub(super) struct Last {
    pub(super) mark: Mark,
    /// The number of its event.
    pub(super) event: u64,
    pub(super) dropped: i64,
    pub(super) is_undone: bool,
}

/// Finds the newest rewind.
pub(super) fn last(view: &HistoryView) -> Result<Option<Last>> {
    let mut last: Option<Last> = None;
    let mut number = 0;
    for item in view.forwards() {
        let Item::Record(record) = view.told(item)? else { continue };
        number += 1;
        let event = &record.event;
        let Some(mark) = Mark::of(event) else { continue };
        if event.kind == Kind::Rollback {
            last = Some(Last { mark, event: number, dropped: event.dropped, is_undone: false });
        } else if let Some(last) = last.as_mut().filter(|last| last.mark.id == mark.id) {
            last.is_undone |= matches!(event.extension(), Some(Extension::Note(note)) if note.topic == UNDONE);
        }
    }
    Ok(last)
}

/// Whether an event behind one of this number tells of this rewind, or of its end.
pub(super) fn tells(view: &HistoryView, behind: u64, id: &str) -> Result<bool> {
    let mut number = 0;
    for item in view.forwards() {
        let Item::Record(record) = view.told(item)? else { continue };
        number += 1;
        if number > behind && Mark::of(&record.event).is_some_and(|mark| mark.id == id) {
            return Ok(true);
        }
    }
    Ok(false)
}
