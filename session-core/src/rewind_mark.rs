//! What a history says about going back: on the rollback that was a rewind, and on the note of one that was taken back.

use crate::{Event, Extension, Kind, Note};
use serde::{Deserialize, Serialize};

/// The member of `x`.
const MEMBER: &str = "rewind";

/// The member `rewind` of `x`: which rewind a rollback was, or which one a note says was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewindMark {
    /// Which one it is.
    pub id: String,
    /// The number of the last event that stayed, from 1; 0 is before the first.
    #[serde(default)]
    pub to: u64,
    /// The checkpoint of the workspace as it was before, where files changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<u64>,
}

/// What an event with a [`RewindMark`] says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RewindStep {
    /// The rollback was this rewind.
    Done(RewindMark),
    /// This rewind was taken back: its messages stand again before the event.
    Undone(RewindMark),
}

impl RewindMark {
    /// Puts it on an event.
    pub fn put_on(&self, event: &mut Event) {
        event.x.set(MEMBER, &serde_json::to_value(self).expect("a string and numbers are always JSON"));
    }

    /// The mark of an event, whatever the event is.
    pub fn of(event: &Event) -> Option<Self> {
        serde_json::from_value(event.x.value(MEMBER)?).ok()
    }
}

impl Event {
    /// What the event says of a rewind. `None` for one that says nothing of any.
    pub fn rewind_step(&self) -> Option<RewindStep> {
        let mark = RewindMark::of(self)?;
        match (&self.kind, self.extension()) {
            (Kind::Rollback, _) => Some(RewindStep::Done(mark)),
            (_, Some(Extension::Note(note))) if note.topic == Note::REWIND_UNDONE => Some(RewindStep::Undone(mark)),
            _ => None,
        }
    }
}
