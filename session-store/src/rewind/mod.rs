//! Going back: the conversation, the workspace, or both, to a point of the history, and taking that back.
//!
//! A rewind is planned, then done. The workspace goes first, with a guard of what it was; then one write to the history
//! takes the messages and says what happened. Where files change, a record in the session (`.rewind`) stands from before
//! the first change until after that write: who dies in between leaves it, no turn begins while it stands, and repeating
//! the rewind, or taking it back, ends it. A rewind of the conversation alone is that one write.
//!
//! Undoing restores the guard, and appends the messages again that went: a history only grows.

mod files;
mod mark;
mod plan;
mod run;
mod undo;

pub use plan::{RewindPlan, RewoundMessage, UndoPlan};
pub use run::Rewound;

use session_core::checkpoint::{FileNote, FilePlan, OnConflict, SharedFile};
use session_core::{Defect, Point, counted};
use std::fmt;

/// What goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RewindParts {
    /// The conversation, and the workspace where a checkpoint shows it at that point.
    #[default]
    Auto,
    /// The conversation alone.
    Chat,
    /// The workspace alone.
    Files,
    /// Both, or nothing.
    Both,
}

/// Whether a rewind goes on over what stands against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RewindForce {
    /// It does not: an error names all of it.
    #[default]
    Careful,
    /// It does: over damage, over edits by hand and changes of other sessions (the guard has them), and while a turn or
    /// process runs.
    Forced,
}

impl RewindForce {
    fn on_conflict(self) -> OnConflict {
        match self {
            RewindForce::Careful => OnConflict::Stop,
            RewindForce::Forced => OnConflict::Force,
        }
    }
}

/// A rewind that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewind {
    /// The last thing that stays.
    pub to: Point,
    /// What goes back.
    pub parts: RewindParts,
    /// Whether it goes on over what stands against it.
    pub force: RewindForce,
}

/// Something that stands against going back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Lines of the history in what would go cannot be read.
    Damage(Vec<Defect>),
    /// Files were edited since the newest checkpoint, or cannot be replaced.
    Conflicts(Vec<FileNote>),
    /// Files were changed by other sessions too.
    Shared(Vec<SharedFile>),
    /// A turn runs, in this process.
    LiveTurn(i32),
    /// Background processes run, with these ids.
    Processes(Vec<String>),
    /// So many messages came after the rewind that is to be undone.
    GoneOn(u64),
}

impl Refusal {
    /// Whether it passes by itself.
    pub fn is_busy(&self) -> bool {
        match self {
            Refusal::LiveTurn(_) | Refusal::Processes(_) => true,
            Refusal::Damage(_) | Refusal::Conflicts(_) | Refusal::Shared(_) | Refusal::GoneOn(_) => false,
        }
    }

    /// What stands against a change of files.
    fn of_files(plan: Option<&FilePlan>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if let Some(plan) = plan {
            if !plan.conflicts.is_empty() {
                refusals.push(Refusal::Conflicts(plan.conflicts.clone()));
            }
            if !plan.shared.is_empty() {
                refusals.push(Refusal::Shared(plan.shared.clone()));
            }
        }
        refusals
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Damage(defects) => {
                write!(f, "{} of what would go cannot be read", counted(defects.len() as u64, "line", "lines"))?;
                defects.first().map_or(Ok(()), |first| write!(f, " ({first})"))
            }
            Refusal::Conflicts(notes) => {
                let named: Vec<_> = notes.iter().map(|note| format!("{} ({})", note.path, note.why)).collect();
                write!(f, "files in conflict: {}", few(&named))
            }
            Refusal::Shared(files) => {
                let mut named: Vec<_> =
                    files.iter().map(|file| format!("{} (by {})", file.path, file.session)).collect();
                named.dedup();
                write!(f, "files that other sessions changed too: {}", few(&named))
            }
            Refusal::LiveTurn(pid) => write!(f, "a turn runs, process {pid}"),
            Refusal::Processes(ids) => write!(f, "background processes run: {}", few(ids)),
            Refusal::GoneOn(messages) => write!(f, "{} came since", counted(*messages, "message", "messages")),
        }
    }
}

/// How many are named in an error.
const NAMED: usize = 5;

fn few(all: &[String]) -> String {
    let more = if all.len() > NAMED { format!(" and {} more", all.len() - NAMED) } else { String::new() };
    format!("{}{more}", all[..all.len().min(NAMED)].join(", "))
}

/// All of them in one sentence.
pub(crate) fn told(reasons: &[Refusal]) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
