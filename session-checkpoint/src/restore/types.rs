//! What a restore is asked, plans, and answers.

use crate::turns::Content;
use crate::{Oid, RelPath, SkipReason};
use serde::Serialize;
use std::path::PathBuf;

/// Which part of a checkpoint is to be restored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only these paths and what lies below them. Empty is everything.
    pub paths: Vec<RelPath>,
    /// Only what the turns since the target record as this session's own change.
    pub only_mine: bool,
    /// Stores of other sessions on the same workspace: paths that they changed too since the target are told.
    pub other_stores: Vec<PathBuf>,
}

/// A path that a restore writes or deletes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Planned {
    /// The path. External files stand below `.session-external/`.
    pub path: RelPath,
    /// What it holds now; `None` where it is not there.
    pub before: Option<Content>,
    /// What it will hold; `None` where it will be deleted.
    pub after: Option<Content>,
}

/// Why a path that differs is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum KeepReason {
    /// A rule of that time excluded it: it may have been there.
    ExcludedThen,
    /// It was there and was not stored.
    SkippedThen,
    /// The checkpoint could not see all of the directory, or more was skipped than it lists.
    IncompleteThen,
    /// This session has not changed it since.
    NotMine,
    /// The name is one that is never written.
    ReservedName,
    /// It is an external file that was not tracked then.
    NotTrackedThen,
}

/// A path that is left alone, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Kept {
    /// The path.
    pub path: RelPath,
    /// Why.
    pub reason: KeepReason,
}

/// What stands against restoring a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConflictKind {
    /// It is not what the newest turn recorded: somebody edited it since.
    EditedSince,
    /// It is not what the plan saw.
    ChangedSincePlan,
    /// Something stands there that cannot be stored in a safety snapshot.
    NotStorable(SkipReason),
    /// A directory stands there, with things in it that the safety snapshot does not hold.
    DirectoryInTheWay,
    /// Something that is no directory, and not in the safety snapshot, stands where a directory must be.
    Blocked,
    /// The directory may not be written to.
    NotWritable,
}

/// A path in conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Conflict {
    /// The path.
    pub path: RelPath,
    /// What stands against it.
    pub kind: ConflictKind,
}

/// A path that another session changed too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SharedPath {
    /// The path.
    pub path: RelPath,
    /// The other session's store.
    pub store: PathBuf,
    /// Its turn that recorded the change.
    pub turn: u32,
}

/// What a restore would do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct PlanSummary {
    /// The checkpoint, by name.
    pub target: String,
    /// Files and links that will be written, without those in conflict.
    pub writes: Vec<Planned>,
    /// Files and links that will be deleted, without those in conflict.
    pub deletes: Vec<Planned>,
    /// Empty directories that will be made.
    pub make_dirs: Vec<RelPath>,
    /// Empty directories that will go.
    pub remove_dirs: Vec<RelPath>,
    /// Paths that differ and are left alone.
    pub kept: Vec<Kept>,
    /// Paths in conflict.
    pub conflicts: Vec<Conflict>,
    /// Paths among the above that another session changed too.
    pub also_changed_by: Vec<SharedPath>,
}

impl PlanSummary {
    /// Whether the workspace is as the checkpoint wants it already.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
            && self.deletes.is_empty()
            && self.make_dirs.is_empty()
            && self.remove_dirs.is_empty()
            && self.conflicts.is_empty()
    }
}

/// A path that is not as it was to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailedPath {
    /// The path.
    pub path: RelPath,
    /// What the system said, or that something else stands there now.
    pub why: String,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[must_use = "it tells which paths are not as the checkpoint wants them"]
#[non_exhaustive]
pub struct Restored {
    /// The checkpoint, by name.
    pub target: String,
    /// The turn that records what the workspace is now.
    pub turn: u32,
    /// Its commit.
    pub commit: Oid,
    /// The safety snapshot of the workspace as it was: what undo restores.
    pub safety: u32,
    /// Files and links written.
    pub restored: u64,
    /// Files and links deleted.
    pub deleted: u64,
    /// Files of the checkpoint that were as wanted already.
    pub unchanged: u64,
    /// Paths that should have changed and are not as wanted, found by a look at the disk afterwards.
    pub failed: Vec<FailedPath>,
    /// Paths that were none of the restore's and changed while it ran.
    pub raced: Vec<RelPath>,
    /// Paths in conflict that were left as they are.
    pub conflicts: Vec<Conflict>,
    /// Paths that differ and were left alone.
    pub kept: Vec<Kept>,
    /// Things that no snapshot can hold, moved here to make room.
    pub rescued: Vec<PathBuf>,
    /// Paths among these that another session changed too.
    pub also_changed_by: Vec<SharedPath>,
}

impl Restored {
    /// Whether every path in scope is as the checkpoint wants it, but for those that are left alone by rule.
    pub fn is_exact(&self) -> bool {
        self.failed.is_empty() && self.conflicts.is_empty()
    }
}
