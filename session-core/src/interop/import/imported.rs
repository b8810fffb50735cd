//! What an importer gives for a session.

use crate::{Event, Timestamp, TitleSource};

/// A session that was read out of another program's file: what it is, and what happened in it.
///
/// Ids of calls are unique in it, and every result stands behind the message that asks for it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// What the other program calls it.
    pub id: String,
    /// What the other program calls the session that this one was forked from or belongs to; empty for none.
    pub parent: String,
    /// Its title, as it stands in the file; empty where there is none.
    pub title: String,
    /// Who set the title.
    pub title_by: TitleSource,
    /// When it began, as far as the file says.
    pub created: Option<Timestamp>,
    /// When something happened last, as far as the file says.
    pub updated: Option<Timestamp>,
    /// The directory that it worked in.
    pub workspace: String,
    /// The branch that was checked out there.
    pub branch: String,
    /// The model that answered last.
    pub model: String,
    /// The version of the program or of the format.
    pub version: String,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// Files that its messages mention as `tmp/<name>`.
    pub files: Vec<ImportedFile>,
    /// Records of types that are not known, a line of JSON each.
    pub unknown: Vec<u8>,
}

/// A picture or another file that stood inside a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFile {
    /// Its name in the session's `tmp/`, made of its content.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Imported {
    /// How many of its events carry a message.
    pub fn messages(&self) -> u64 {
        self.events.iter().filter(|event| event.message.is_some()).count() as u64
    }

    /// The first prompt of a person in it; empty where there is none.
    pub fn first_prompt(&self) -> String {
        self.events.iter().find_map(Event::prompt).unwrap_or_default()
    }
}
