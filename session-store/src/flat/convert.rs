//! From a flat file to the lines of a history.

use crate::Result;
use crate::transcript::Transcript;
use session_core::{Content, Conversation, Event, Limits, Message, Timestamp};

/// The history that a flat file becomes: one event for each message of its conversation, all at the time at which the
/// file was last written. Lines that cannot be read are skipped; they stay in the flat file.
pub(super) fn lines(flat: &Transcript, limits: Limits) -> Result<Vec<Vec<u8>>> {
    let conversation = Conversation::read(flat.forwards(), limits).map_err(flat.failed())?;
    let ts = flat.modified();
    Ok(conversation.messages.into_iter().map(|message| line(ts, message)).collect())
}

fn line(ts: Option<Timestamp>, mut message: Message) -> Vec<u8> {
    // The reference writes a list of texts as the one text that it reads. A list with pictures in it stays a list.
    if let Content::Parts(parts) = &message.content
        && is_only_text(parts)
    {
        message.content = Content::Text(message.content.text().into_owned());
    }
    let mut event = Event::message(Timestamp::default(), message);
    event.ts = ts;
    let mut line = Vec::new();
    event.encode(&mut line);
    line
}

fn is_only_text(parts: &str) -> bool {
    let Ok(serde_json::Value::Array(parts)) = serde_json::from_str(parts) else { return false };
    parts.iter().all(|part| part.get("type").is_some_and(|kind| kind == "text"))
}
