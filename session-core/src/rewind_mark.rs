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
    #[expect(clippy::missing_panics_doc, reason = "a string and numbers are always JSON")]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_time;

    #[test]
    fn only_a_rollback_and_the_note_of_an_undo_say_something_of_a_rewind() {
        let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
        let mark = RewindMark { id: "r1".into(), to: 3, guard: Some(2) };
        let marked = |mut event: Event| {
            mark.put_on(&mut event);
            event.rewind_step()
        };
        let note = |topic: &str| Extension::Note(Note { topic: topic.into(), text: String::new() }).into_event(ts);
        assert_eq!(marked(Event::rollback(ts, 2)), Some(RewindStep::Done(mark.clone())));
        assert_eq!(marked(note(Note::REWIND_UNDONE)), Some(RewindStep::Undone(mark.clone())));
        assert_eq!(marked(note("weather")), None);
        assert_eq!(Event::rollback(ts, 2).rewind_step(), None);
    }
}
