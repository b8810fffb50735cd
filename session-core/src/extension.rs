//! This project's own kinds, so that the file alone says its format, title, directory, model, tokens and money.
//!
//! An extension event has a kind that starts with `x.` and carries everything inside the one last member `x`, an object,
//! so that no name of ours can meet a member of the reference. It carries no message: the reference passes over it and
//! every fold ignores it.

use crate::fields::value_of;
use crate::{Event, Kind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The format version that this library writes. A history of a newer one is read and not written.
pub const FORMAT: u64 = 1;

/// What an extension event says.
#[derive(Debug, Clone, PartialEq)]
pub enum Extension {
    /// The first line of a history of ours.
    Session(SessionHeader),
    /// The session's title.
    Title(TitleSet),
    /// A turn starts or ends.
    Turn(TurnMark),
    /// What a response cost.
    Usage(Usage),
    /// A snapshot of the workspace.
    Checkpoint(CheckpointMark),
    /// The conversation goes on elsewhere.
    Successor(Successor),
    /// Something that the store records for itself.
    Note(Note),
}

/// `x.session`: what the session is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionHeader {
    /// The version of the format, [`FORMAT`].
    pub format: u64,
    /// The session's name when the line was written. The directory's name is the authority.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The directory that the session works in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub workspace: String,
    /// The model that it was created with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The session that this one was forked or compacted from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// Whether it was made to go on with its parent. It does once that one names it as its successor.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacts: bool,
    /// How much of its parent's history the summary that it begins with is of, in bytes from the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacts_bytes: Option<u64>,
}

impl Default for SessionHeader {
    /// A line that does not name its format has the first one.
    fn default() -> Self {
        SessionHeader {
            format: FORMAT,
            name: String::new(),
            workspace: String::new(),
            model: String::new(),
            parent: String::new(),
            compacts: false,
            compacts_bytes: None,
        }
    }
}

/// Who set a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TitleSource {
    /// A person. It is never replaced by an automatic one.
    User,
    /// A program.
    #[default]
    Auto,
}

/// `x.title`: the session's title from here on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TitleSet {
    /// The title.
    pub title: String,
    /// Who set it.
    #[serde(default)]
    pub by: TitleSource,
}

/// Which end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnPhase {
    /// It starts.
    #[default]
    Start,
    /// It ends.
    End,
}

/// `x.turn`: a turn starts or ends.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TurnMark {
    /// The turn's id.
    pub id: String,
    /// Whether it starts or ends.
    pub phase: TurnPhase,
    /// How it ended, such as `done`, `interrupted` or `failed`; empty at the start.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub outcome: String,
    /// The checkpoint that belongs to this end of the turn, by its turn number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<u64>,
}

/// `x.usage`: what a response of a model cost. `None` is unknown, which is not 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The endpoint's id of the response. Usage with the same id counts once.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// Tokens of the request, those from a cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the request that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Tokens of the response, those of reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens of the response that are reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The price in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// `x.checkpoint`: a snapshot was taken, restored, or could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CheckpointMark {
    /// What happened: `taken`, `restored`, `failed`.
    pub action: String,
    /// The turn number of the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// `x.successor`: the conversation goes on in another session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Successor {
    /// That session's name.
    pub name: String,
}

/// `x.note`: something that the store records for itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Note {
    /// What was done, such as `repaired`.
    pub topic: String,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Note {
    /// Its topic where the session was pinned: no pruning takes it.
    pub const PINNED: &str = "pinned";
    /// Its topic where the pin was taken away.
    pub const UNPINNED: &str = "unpinned";
    /// Its topic where a rewind was taken back; the event has a [`crate::RewindMark`].
    pub const REWIND_UNDONE: &str = "rewind-undone";
    /// Its topic where the workspace was moved; the text is where it is now.
    pub const RELOCATED: &str = "relocated";
}

impl Extension {
    /// The kind of the event that says this.
    pub fn kind(&self) -> Kind {
        match self {
            Extension::Session(_) => Kind::XSession,
            Extension::Title(_) => Kind::XTitle,
            Extension::Turn(_) => Kind::XTurn,
            Extension::Usage(_) => Kind::XUsage,
            Extension::Checkpoint(_) => Kind::XCheckpoint,
            Extension::Successor(_) => Kind::XSuccessor,
            Extension::Note(_) => Kind::XNote,
        }
    }

    /// The event that says this.
    pub fn into_event(self, ts: Timestamp) -> Event {
        let mut event = Event::new(ts, self.kind());
        for (name, value) in self.members() {
            event.x.set(&name, &value);
        }
        event
    }

    fn members(&self) -> Map<String, Value> {
        let value = match self {
            Extension::Session(header) => serde_json::to_value(header),
            Extension::Title(title) => serde_json::to_value(title),
            Extension::Turn(turn) => serde_json::to_value(turn),
            Extension::Usage(usage) => serde_json::to_value(usage),
            Extension::Checkpoint(checkpoint) => serde_json::to_value(checkpoint),
            Extension::Successor(successor) => serde_json::to_value(successor),
            Extension::Note(note) => serde_json::to_value(note),
        };
        match value {
            Ok(Value::Object(members)) => members,
            other => unreachable!("plain structs with string keys become objects: {other:?}"),
        }
    }
}

impl Event {
    /// The format version that a session's first line names; `None` for every other event. A version above [`FORMAT`],
    /// or one that is no number that could be compared with it, which counts as such, makes the history read-only.
    pub fn format(&self) -> Option<u64> {
        if self.kind != Kind::XSession {
            return None;
        }
        match self.x.get("format") {
            None => Some(FORMAT),
            Some(version) => Some(version.parse().unwrap_or(u64::MAX)),
        }
    }

    /// What an event of an extension kind says. `None` for other kinds, and where the member `x` has another shape than
    /// this version knows: a member of the wrong type, or none that says what the event is for, such as the id of a turn.
    /// Members of `x` without a name here are ignored.
    pub fn extension(&self) -> Option<Extension> {
        // What no value can hold, such as a number beyond all others, is as good as missing.
        let members = self.x.iter().filter_map(|(name, text)| Some((name.to_owned(), value_of(text)?)));
        let x = || Value::Object(members.collect::<Map<_, _>>());
        match self.kind {
            Kind::XSession => read(x()).map(Extension::Session),
            Kind::XTitle => read(x()).map(Extension::Title),
            Kind::XTurn => read(x()).map(Extension::Turn),
            Kind::XUsage => read(x()).map(Extension::Usage),
            Kind::XCheckpoint => read(x()).map(Extension::Checkpoint),
            Kind::XSuccessor => read(x()).map(Extension::Successor),
            Kind::XNote => read(x()).map(Extension::Note),
            Kind::Message | Kind::ToolResult | Kind::Notice | Kind::Settings | Kind::Rollback | Kind::Other(_) => None,
        }
    }
}

fn read<'de, T: Deserialize<'de>>(x: Value) -> Option<T> {
    T::deserialize(x).ok()
}

#[cfg(test)]
mod tests;
