//! One line of a history.

use crate::{Fields, Message, Role, Timestamp};
use std::borrow::Cow;
use std::fmt;

/// One line of `history.jsonl`: something that happened, when, and what it says.
///
/// A message without an event around it, as old files have it, is an event with the empty kind that carries it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// When it happened. `None` where the line has no time (the reference writes year 1 then), or none that can be read.
    pub ts: Option<Timestamp>,
    /// What kind of event it is.
    pub kind: Kind,
    /// The message that it adds to the conversation.
    pub message: Option<Box<Message>>,
    /// The tool that produced a result.
    pub tool: String,
    /// How long that tool took, in milliseconds; 0 where it is not known.
    pub ms: i64,
    /// A notice's text.
    pub text: String,
    /// The model of a settings event.
    pub model: String,
    /// Whether reasoning is merged into the text, for a settings event that says so.
    pub merge_thinking: Option<bool>,
    /// The tools that were offered to the model, for a settings event.
    pub tools: Vec<String>,
    /// How many messages a rollback takes from the end of the conversation.
    pub dropped: i64,
    /// Members that this version has no name for.
    pub extra: Fields,
    /// This project's own member `x`, an object: see [`crate::Extension`].
    pub x: Fields,
}

impl Event {
    /// An event of a kind with a time and nothing else.
    pub fn new(ts: Timestamp, kind: Kind) -> Self {
        Event { ts: Some(ts), kind, ..Event::default() }
    }

    /// A message of the conversation. A tool's result is recorded as such, with the tool's name.
    pub fn message(ts: Timestamp, message: Message) -> Self {
        let mut event = Event::new(ts, Kind::Message);
        if message.role == Role::Tool {
            event.kind = Kind::ToolResult;
            event.tool = message.name.to_string();
        }
        event.message = Some(Box::new(message));
        event
    }

    /// Something that happened to the turn rather than in the conversation.
    pub fn notice(ts: Timestamp, text: impl Into<String>) -> Self {
        Event { text: text.into(), ..Event::new(ts, Kind::Notice) }
    }

    /// What a turn ran with.
    pub fn settings(ts: Timestamp, model: impl Into<String>, merge_thinking: bool, tools: Vec<String>) -> Self {
        Event { model: model.into(), merge_thinking: Some(merge_thinking), tools, ..Event::new(ts, Kind::Settings) }
    }

    /// The last `dropped` messages are no longer part of the conversation.
    pub fn rollback(ts: Timestamp, dropped: i64) -> Self {
        Event { dropped, ..Event::new(ts, Kind::Rollback) }
    }
}

/// What kind of event a line records.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One message of the conversation.
    Message,
    /// A message that is a tool's result.
    ToolResult,
    /// Something that happened to the turn rather than in the conversation.
    Notice,
    /// The model and options that a turn ran with.
    Settings,
    /// The last messages are no longer part of the conversation.
    Rollback,
    /// `x.session`: the first line of a history of ours; format version, name, workspace, parent.
    XSession,
    /// `x.title`: the session's title, and who set it.
    XTitle,
    /// `x.turn`: a turn starts or ends.
    XTurn,
    /// `x.usage`: tokens and money that a response cost.
    XUsage,
    /// `x.checkpoint`: a snapshot of the workspace was taken or restored.
    XCheckpoint,
    /// `x.successor`: the conversation goes on in another session.
    XSuccessor,
    /// `x.note`: something that this project records for itself.
    XNote,
    /// A kind that this version does not know, or, as the empty string, none.
    Other(String),
}

impl Kind {
    /// True for this project's kinds, those of a later version too: their names start with `x.`. The reference ignores them.
    pub fn is_extension(&self) -> bool {
        self.as_str().starts_with("x.")
    }

    /// Every kind that has a name here.
    pub const KNOWN: [Kind; 12] = [
        Kind::Message,
        Kind::ToolResult,
        Kind::Notice,
        Kind::Settings,
        Kind::Rollback,
        Kind::XSession,
        Kind::XTitle,
        Kind::XTurn,
        Kind::XUsage,
        Kind::XCheckpoint,
        Kind::XSuccessor,
        Kind::XNote,
    ];

    /// The kind's name in the file.
    pub fn as_str(&self) -> &str {
        match self {
            Kind::Message => "message",
            Kind::ToolResult => "tool_result",
            Kind::Notice => "notice",
            Kind::Settings => "settings",
            Kind::Rollback => "rollback",
            Kind::XSession => "x.session",
            Kind::XTitle => "x.title",
            Kind::XTurn => "x.turn",
            Kind::XUsage => "x.usage",
            Kind::XCheckpoint => "x.checkpoint",
            Kind::XSuccessor => "x.successor",
            Kind::XNote => "x.note",
            Kind::Other(name) => name,
        }
    }

    /// Whether the line names no kind at all.
    pub fn is_none(&self) -> bool {
        self.as_str().is_empty()
    }
}

impl Default for Kind {
    fn default() -> Self {
        Kind::Other(String::new())
    }
}

impl From<Cow<'_, str>> for Kind {
    fn from(name: Cow<'_, str>) -> Self {
        match Kind::KNOWN.iter().find(|kind| kind.as_str() == name) {
            Some(kind) => kind.clone(),
            None => Kind::Other(name.into_owned()),
        }
    }
}

impl From<&str> for Kind {
    fn from(name: &str) -> Self {
        Kind::from(Cow::Borrowed(name))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
