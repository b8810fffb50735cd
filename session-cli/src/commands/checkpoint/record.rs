//! What happened to the workspace, in the history of the session whose checkpoints they are.

use super::place::Place;
use crate::context::Context;
use crate::failure::causes;
use crate::output::Diagnostic;
use chrono::Utc;
use session_core::{CheckpointMark, Event, Extension};
use session_store::StoreError;

/// What is to be recorded.
pub(super) struct Mark {
    pub(super) action: &'static str,
    /// The number of the snapshot, where there is one.
    pub(super) turn: Option<u32>,
    /// What a person should know.
    pub(super) note: String,
}

impl Mark {
    pub(super) fn taken(turn: u32, label: &str) -> Self {
        Mark { action: "taken", turn: Some(turn), note: label.to_owned() }
    }

    pub(super) fn restored(turn: u32, note: String) -> Self {
        Mark { action: "restored", turn: Some(turn), note }
    }

    pub(super) fn failed(note: String) -> Self {
        Mark { action: "failed", turn: None, note }
    }
}

/// Appends the event, and with everything but a snapshot that went well a notice for whoever reads along. A session
/// without a conversation has nobody to tell. That it cannot be told takes nothing back: it is a diagnostic.
pub(super) fn record(context: &Context, place: &Place, mark: Mark) -> Option<Diagnostic> {
    if !context.store.has_history(&place.name) {
        return None;
    }
    let now = Utc::now().fixed_offset();
    let mut events = Vec::new();
    if mark.action != "taken" {
        events.push(Event::notice(now, mark.note.as_str()));
    }
    let turn = mark.turn.map(u64::from);
    let mark = CheckpointMark { action: mark.action.to_owned(), turn, note: mark.note };
    events.push(Extension::Checkpoint(mark).into_event(now));
    let told = context.store.open(&place.name).and_then(|session| session.append(&events));
    told.err().map(|error: StoreError| Diagnostic {
        code: "not-recorded".to_owned(),
        session: Some(place.name.to_string()),
        line: None,
        offset: None,
        text: format!("the history does not tell of it: {}", causes(&error)),
    })
}
