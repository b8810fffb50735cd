//! What a file of the inbox says.

use chrono::Utc;
use serde_json::{Map, Value};
use session_core::json::push_string;
use session_core::{Timestamp, format_time, parse_time};

/// The kind of a line that the user typed, and of everything that does not say what it is.
pub const USER_LINE: &str = "user_line";
/// The kind of news about a background process.
pub const PROCESS_EVENT: &str = "process_event";

/// A message for the running turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxMessage {
    /// What it is: [`USER_LINE`], [`PROCESS_EVENT`] or any other word.
    pub kind: String,
    /// What it says.
    pub text: String,
    /// When it was sent.
    pub at: Timestamp,
}

impl InboxMessage {
    /// A message that is sent now, in UTC. An empty kind is a line of the user.
    pub fn now(kind: &str, text: impl Into<String>) -> Self {
        let kind = if kind.is_empty() { USER_LINE } else { kind };
        InboxMessage { kind: kind.to_owned(), text: text.into(), at: Utc::now().fixed_offset() }
    }

    /// The bytes of its file: to the byte those that the reference writes.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::from(*b"{\"kind\":");
        push_string(&mut out, if self.kind.is_empty() { USER_LINE } else { &self.kind });
        out.extend_from_slice(b",\"text\":");
        push_string(&mut out, &self.text);
        out.extend_from_slice(b",\"at\":");
        push_string(&mut out, &format_time(&self.at));
        out.push(b'}');
        out
    }

    /// Reads a file of the inbox: the JSON of a message with a kind, or, whatever else it is, a line of the user without
    /// the white space around it. `None`: there is nothing but white space.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let message = serde_json::from_str(text).ok().and_then(|members: Map<String, Value>| from_members(&members));
        Some(message.unwrap_or_else(|| InboxMessage::now(USER_LINE, text)))
    }
}

/// Keys match whatever their case, as in everything that the reference reads.
fn from_members(members: &Map<String, Value>) -> Option<InboxMessage> {
    let member = |name: &str| {
        let found = members.iter().rev().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    };
    let text_of = |name| member(name).map_or(Some(""), Value::as_str);
    let kind = text_of("kind").filter(|kind| !kind.is_empty())?;
    let mut message = InboxMessage::now(kind, text_of("text")?);
    if let Some(at) = member("at") {
        message.at = parse_time(at.as_str()?)?;
    }
    Some(message)
}
