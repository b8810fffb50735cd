//! What a list says about a session.

use crate::candidate::NameFault;
use crate::{FlatFile, MetaDamage, SessionForm, StoreError, workspace};
use session_core::{Timestamp, counted, format_time};
use std::fmt;
use std::path::{Path, PathBuf};

/// What a list says about a session. `None` is unknown or not set.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session's name; where it is no session name, the name of the directory or file, escaped.
    pub name: String,
    /// The directory, or the flat file.
    pub path: PathBuf,
    /// Which form the session has.
    pub form: SessionForm,
    /// What became of its flat file.
    pub flat: FlatFile,
    /// Its title.
    pub title: Option<String>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// The time of the newest event; without one, when the history was last written.
    pub updated: Option<Timestamp>,
    /// When the history was last written.
    #[doc(alias = "ModTime")]
    pub modified: Option<Timestamp>,
    /// The directory that it works in.
    pub workspace: Option<String>,
    /// Which directory that was.
    pub(crate) workspace_id: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The session that it comes from, as its metadata says it.
    pub parent: Option<String>,
    /// The session that goes on with it, as its metadata says it.
    pub succeeded_by: Option<String>,
    /// How it stands.
    pub state: SessionState,
    /// The process of its live turn.
    pub pid: Option<i32>,
    /// Messages of the live conversation. Always as many as loading gives.
    #[doc(alias = "MessageCount")]
    pub messages: Option<u64>,
    /// The size of the history.
    pub bytes: u64,
    /// What it cost so far, in US dollars.
    pub cost: Option<f64>,
    /// Messages that wait in its inbox.
    pub inbox_pending: u64,
    /// Defects in its history, repaired ones included.
    pub defects: u64,
    /// What keeps it from being whole.
    pub damage: Vec<Damage>,
    /// The newest event claims a time that has not come yet. The order does not believe it.
    pub is_ahead: bool,
}

/// How a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionState {
    /// Its turn runs.
    Running,
    /// It waits for its next turn.
    Idle,
    /// Something of it cannot be read.
    Damaged,
    /// Its conversation has no message.
    Empty,
}

impl SessionState {
    /// A stable name, for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionState::Running => "running",
            SessionState::Idle => "idle",
            SessionState::Damaged => "damaged",
            SessionState::Empty => "empty",
        }
    }
}

/// What keeps a session from being whole.
#[derive(Debug)]
#[non_exhaustive]
pub enum Damage {
    /// Its name is no session name, so no verb takes it.
    Name(NameFault),
    /// A symbolic link stands where its directory or file should be. Nothing follows it.
    Link,
    /// Neither a file nor a link stands where its flat file should be.
    NotAFile,
    /// A part of it cannot be read.
    Unreadable(StoreError),
    /// Its metadata cannot be used.
    Meta(MetaDamage),
    /// Lines of its history gave no event.
    Lines {
        /// How many.
        skipped: u64,
        /// Whether a rollback reached back across one, so that what is live is a guess.
        uncertain: bool,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Name(fault) => fault.fmt(f),
            Damage::Link => f.write_str("it is a symbolic link"),
            Damage::NotAFile => f.write_str("it is no file"),
            Damage::Unreadable(error) => error.fmt(f),
            Damage::Meta(damage) => write!(f, "meta.json: {damage}"),
            Damage::Lines { skipped, uncertain } => {
                write!(f, "{} of its history cannot be read", counted(*skipped, "line", "lines"))?;
                f.write_str(if *uncertain { ", and a rollback across them is a guess" } else { "" })
            }
        }
    }
}

/// Something about a session in a list that a person should know.
#[derive(Debug)]
pub struct ListNote<'a> {
    /// The session, as the list names it.
    pub session: &'a str,
    /// What it is about.
    pub about: ListSubject<'a>,
}

/// What a note in a list is about.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListSubject<'a> {
    /// Something cannot be read.
    Damage(&'a Damage),
    /// Its newest event claims a time that has not come yet.
    Ahead(&'a Timestamp),
    /// Its flat file has not been renamed, or not been migrated.
    Flat(FlatFile),
}

impl fmt::Display for ListNote<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.session, self.about)
    }
}

impl fmt::Display for ListSubject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListSubject::Damage(damage) => damage.fmt(f),
            ListSubject::Ahead(ts) => write!(f, "its newest event claims to be of {}", format_time(ts)),
            ListSubject::Flat(FlatFile::Absent | FlatFile::Migrated) => {
                f.write_str("nothing is wrong with its flat file")
            }
            ListSubject::Flat(FlatFile::Waiting) => f.write_str("it is a flat file; opening it migrates it"),
            ListSubject::Flat(FlatFile::Interrupted) => {
                f.write_str("its migration was interrupted; the flat file is shown, and opening it goes on")
            }
            ListSubject::Flat(FlatFile::Shadowed) => {
                f.write_str("a flat file of its name holds another conversation, which is not shown")
            }
        }
    }
}

impl SessionInfo {
    /// Whether the session works in a directory, links of its workspace resolved. One whose workspace is gone works where
    /// that directory is now, be it moved or renamed.
    pub fn works_in(&self, dir: &Path) -> bool {
        let id = self.workspace_id.as_deref();
        self.workspace.as_deref().is_some_and(|workspace| workspace::works_in(workspace, id, dir))
    }

    /// Whether nothing has the path of its workspace any more: the project was moved or deleted. A workspace that cannot be
    /// looked at may be there.
    pub fn lost_its_workspace(&self) -> bool {
        self.workspace.as_deref().is_some_and(workspace::is_gone)
    }

    /// What a person should know about the session, beside what its row says.
    pub fn notes(&self) -> Vec<ListNote<'_>> {
        let note = |about| ListNote { session: &self.name, about };
        let mut notes: Vec<_> = self.damage.iter().map(|damage| note(ListSubject::Damage(damage))).collect();
        notes.extend(self.updated.as_ref().filter(|_| self.is_ahead).map(|ts| note(ListSubject::Ahead(ts))));
        match self.flat {
            FlatFile::Absent | FlatFile::Migrated => {}
            FlatFile::Waiting | FlatFile::Interrupted | FlatFile::Shadowed => {
                notes.push(note(ListSubject::Flat(self.flat)));
            }
        }
        notes
    }
}
