//! From a flat file to the lines of a history.

use crate::{HistoryView, Result};
use session_core::{Content, Event, Message, Timestamp};

/// The events that a flat file becomes: one for each message of its conversation, all at the time at which the file was
/// last written. Lines that cannot be read are skipped; they stay in the flat file.
pub(super) fn events(flat: &HistoryView) -> Result<Vec<Event>> {
    let ts = flat.modified();
    Ok(flat.load()?.messages.into_iter().map(|message| event(ts, message)).collect())
}

/// Their lines.
pub(super) fn lines(events: &[Event]) -> Vec<u8> {
    let mut lines = Vec::new();
    events.iter().for_each(|event| event.encode(&mut lines));
    lines
}

fn event(ts: Option<Timestamp>, mut message: Message) -> Event {
    // The reference writes a list of texts as the one text that it reads. A list with pictures in it stays a list.
    if let Content::Parts(parts) = &message.content
        && is_only_text(parts.as_json())
    {
        message.content = Content::Text(message.content.text().into_owned());
    }
    Event { ts, ..Event::message(Timestamp::default(), message) }
}

fn is_only_text(parts: &str) -> bool {
    let Ok(serde_json::Value::Array(parts)) = serde_json::from_str(parts) else { return false };
    parts.iter().all(|part| part.get("type").is_some_and(|kind| kind == "text"))
}
