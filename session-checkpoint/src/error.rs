//! What can fail, always with the path.

use crate::{Oid, PlanSummary};
use session_core::counted;
use session_disk::DiskError;
use std::io;
use std::path::{Path, PathBuf};

/// An operation on checkpoints that failed.
///
/// After an error of a snapshot no reference has moved: the turn does not exist. After an error of a restore each
/// file of the workspace is the old one or the new one, and the journal says what to resume or undo.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A write under the store or into the workspace failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A read failed.
    #[error("cannot read {}", path.display())]
    Read {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no checkpoint store at the path.
    #[error("no checkpoints at {}", path.display())]
    NoStore {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// The store belongs to another user.
    #[error("the checkpoints at {} belong to user {owner}, not to user {user}", path.display())]
    ForeignStore {
        /// The store.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who asks.
        user: u32,
    },
    /// The store was written by a newer version.
    #[error("the checkpoints at {} have format {found}, newer than {known}", path.display())]
    NewerFormat {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// A file of the store does not hold what it should.
    #[error("damaged: {}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// An object is not in the store at all.
    #[error("object {oid} is missing from {}", store.display())]
    MissingObject {
        /// The object.
        oid: Oid,
        /// The store.
        store: PathBuf,
    },
    /// An object is in the store but does not read as itself.
    #[error("object {oid} is damaged in {}", store.display())]
    DamagedObject {
        /// The object.
        oid: Oid,
        /// The store.
        store: PathBuf,
    },
    /// Two different contents have one id.
    #[error("{} has the same object id as different content that is already stored", path.display())]
    Collision {
        /// The file that is not stored because of it.
        path: PathBuf,
    },
    /// Another process is working on this store.
    #[error("{} is held by {}", path.display(), holder.as_deref().unwrap_or("another process"))]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// What the holder wrote into it; only information.
        holder: Option<String>,
    },
    /// The workspace is no directory that may be snapshotted as a whole.
    #[error("refusing {} as a workspace: it is {reason}", path.display())]
    RefusedWorkspace {
        /// The workspace.
        path: PathBuf,
        /// What it is.
        reason: Refusal,
    },
    /// The workspace holds more than the limits allow; nothing was stored.
    #[error("{} is too broad: more than {max_files} files or {max_bytes} bytes", path.display())]
    TooBroad {
        /// The workspace.
        path: PathBuf,
        /// Files seen when the walk gave up.
        files: u64,
        /// Bytes seen when the walk gave up.
        bytes: u64,
        /// The limit on files.
        max_files: u64,
        /// The limit on bytes.
        max_bytes: u64,
    },
    /// The store is at its size limit and there is nothing left that may be dropped.
    #[error("{} holds {bytes} bytes, more than its limit of {limit}", path.display())]
    StoreFull {
        /// The store.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file system has too little room for the work.
    #[error("{} has {free} bytes free, and {needed} are needed", path.display())]
    NoSpace {
        /// The store.
        path: PathBuf,
        /// Free bytes.
        free: u64,
        /// Bytes that the work may need.
        needed: u64,
    },
    /// The directory at the workspace's path is not the one that the checkpoints were taken of.
    #[error("{} is not the directory that these checkpoints were taken of ({})", path.display(), recorded.display())]
    OtherWorkspace {
        /// The directory that was given.
        path: PathBuf,
        /// The path that was recorded.
        recorded: PathBuf,
    },
    /// There is no such turn.
    #[error("no checkpoint {turn}")]
    NoTurn {
        /// The turn, as a reference name.
        turn: String,
    },
    /// A turn with this number was dropped or never existed, and later ones exist: its "before" cannot be taken now.
    #[error("turn {turn} has no checkpoint, and turn {latest} already exists")]
    TurnPassed {
        /// The turn that was asked for.
        turn: u32,
        /// The newest turn.
        latest: u32,
    },
    /// A checkpoint cannot be read.
    #[error("checkpoint {turn} is broken")]
    BrokenTurn {
        /// The turn, as a reference name.
        turn: String,
        /// Why.
        source: Box<Error>,
    },
    /// A restore stopped before its first change because of conflicts.
    #[error("{} in conflict", counted(plan.conflicts.len() as u64, "path is", "paths are"))]
    Conflicts {
        /// What would have been done, conflicts included.
        plan: Box<PlanSummary>,
        /// The safety snapshot that was taken of the workspace as it is.
        safety: u32,
    },
    /// An interrupted restore must be resumed or undone first.
    #[error("a restore to {target} was interrupted; resume or undo it first")]
    Interrupted {
        /// What was being restored.
        target: String,
    },
    /// There is no restore to undo, or none to resume.
    #[error("there is no restore to undo")]
    NothingToUndo,
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// The caller's deadline passed.
    #[error("the deadline passed")]
    DeadlineExceeded,
    /// A path cannot be tracked as an external file.
    #[error("cannot track {}: {reason}", path.display())]
    NotExternal {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: NotExternal,
    },
    /// Threads could not be started.
    #[error("cannot start the worker threads")]
    Threads {
        /// What the system said.
        source: io::Error,
    },
}

/// Why a directory is no workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// `/`.
    Root,
    /// A home directory.
    Home,
    /// A directory above a home directory.
    AboveHome,
    /// A directory for temporary files as a whole.
    Temporary,
    /// The checkpoint store, or a directory inside it.
    Store,
    /// Not a directory.
    NoDirectory,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Refusal::Root => "the root directory",
            Refusal::Home => "a home directory",
            Refusal::AboveHome => "a directory above a home directory",
            Refusal::Temporary => "a directory for temporary files",
            Refusal::Store => "inside the checkpoint store",
            Refusal::NoDirectory => "not a directory",
        })
    }
}

/// Why a path is no external file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotExternal {
    /// The path is relative, or has no last component.
    NotAbsolute,
    /// The path lies inside the workspace, which is captured anyway.
    InWorkspace,
    /// The path lies inside the checkpoint store.
    InStore,
    /// The path lies in a `.git` directory.
    InGit,
    /// The path is a directory.
    Directory,
}

impl std::fmt::Display for NotExternal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotExternal::NotAbsolute => "it is not an absolute path of a file",
            NotExternal::InWorkspace => "it lies inside the workspace",
            NotExternal::InStore => "it lies inside the checkpoint store",
            NotExternal::InGit => "it lies inside a git directory",
            NotExternal::Directory => "it is a directory",
        })
    }
}

/// A closure that gives a failed read its path.
pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    move |source| Error::Read { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_refused_is_told_why() {
        let reasons = [
            (Refusal::Root, "the root directory"),
            (Refusal::Home, "a home directory"),
            (Refusal::AboveHome, "a directory above a home directory"),
            (Refusal::Temporary, "a directory for temporary files"),
            (Refusal::Store, "inside the checkpoint store"),
            (Refusal::NoDirectory, "not a directory"),
        ];
        for (reason, why) in reasons {
            let error = Error::RefusedWorkspace { path: "/garden".into(), reason };
            assert_eq!(error.to_string(), format!("refusing /garden as a workspace: it is {why}"));
        }
        let reasons = [
            (NotExternal::NotAbsolute, "it is not an absolute path of a file"),
            (NotExternal::InWorkspace, "it lies inside the workspace"),
            (NotExternal::InStore, "it lies inside the checkpoint store"),
            (NotExternal::InGit, "it lies inside a git directory"),
            (NotExternal::Directory, "it is a directory"),
        ];
        for (reason, why) in reasons {
            let error = Error::NotExternal { path: "/oak".into(), reason };
            assert_eq!(error.to_string(), format!("cannot track /oak: {why}"));
        }
    }
}
