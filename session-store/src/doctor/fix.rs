//! What can be done about a finding.

use session_core::SessionName;
use std::fmt;

/// What a repair does about a finding. None of them loses a byte: what is replaced or removed is kept beside it, is in the
/// history, or was never finished by anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fix {
    /// Bytes of the history go to the quarantine, and blanks stand in their place.
    TakeOut {
        /// How many.
        bytes: u64,
    },
    /// The last line gets its newline.
    EndLine,
    /// Late lines are appended to the history.
    CarryOver,
    /// The bits go by which others are let in.
    Tighten,
    /// It is moved into the session's backups.
    SetAside,
    /// It is removed: nothing of it was ever anybody's.
    Remove,
    /// The metadata is written anew, from its copy and the history.
    WriteMeta,
    /// An interrupted renaming is ended.
    EndRename {
        /// The name that the session had.
        from: SessionName,
    },
    /// The history gets the end of the turn, and the marker goes.
    EndTurn,
    /// Records say what is true of their processes.
    Reconcile,
    /// The message waits again.
    GiveBack {
        /// The id under which it was taken.
        id: String,
    },
    /// The message is removed from the inbox: the history has it.
    Acknowledge {
        /// The id under which it was taken.
        id: String,
    },
    /// The rest of an interrupted rewind is done.
    EndRewind,
    /// The history tells what was done.
    TellRepair,
    /// The history tells who goes on with it.
    TellSuccessor {
        /// Who does.
        successor: SessionName,
    },
    /// The flat file is migrated.
    Migrate,
    /// It gets a name that is a session's.
    Rename {
        /// That name.
        to: SessionName,
    },
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fix::TakeOut { .. } => f.write_str("take it out of the history, into the quarantine"),
            Fix::EndLine => f.write_str("end the line"),
            Fix::CarryOver => f.write_str("append the late lines"),
            Fix::Tighten => f.write_str("let nobody else in"),
            Fix::SetAside => f.write_str("move it into the backups"),
            Fix::Remove => f.write_str("remove it"),
            Fix::WriteMeta => f.write_str("write the metadata anew"),
            Fix::EndRename { from } => write!(f, "end the renaming from {from}"),
            Fix::EndTurn => f.write_str("end the turn"),
            Fix::Reconcile => f.write_str("record what is true of it"),
            Fix::GiveBack { .. } => f.write_str("let it wait again"),
            Fix::Acknowledge { .. } => f.write_str("remove it: the history has it"),
            Fix::EndRewind => f.write_str("do the rest of the rewind"),
            Fix::TellRepair => f.write_str("tell the history of it"),
            Fix::TellSuccessor { successor } => write!(f, "tell the history of {successor}"),
            Fix::Migrate => f.write_str("migrate it"),
            Fix::Rename { to } => write!(f, "rename it to {to}"),
        }
    }
}
