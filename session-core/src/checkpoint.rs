//! What a store asks of whoever keeps snapshots of a workspace.
//!
//! A store knows conversations and no repository. It takes, restores and shares checkpoints through [`Checkpointer`];
//! whoever composes the two, an agent or a command line, hands one in. Where none is handed in, the store deals with the
//! conversation alone.

use std::error::Error;
use std::path::{Path, PathBuf};

/// An error of whoever keeps the checkpoints; a composer that knows which one it is can look what is inside.
pub type CheckpointError = Box<dyn Error + Send + Sync>;

/// Which checkpoint is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckpointRef {
    /// The one of this number, as `x.checkpoint` and `x.turn` events tell it.
    Taken(u64),
    /// The workspace as it was right before a restore: the guard of this number.
    Guard(u64),
}

/// Whose changes a checkpoint finds: those since the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChangesOf {
    /// The session's: it is taken when a turn has ended.
    #[default]
    Session,
    /// A person's, or another session's: it is taken before a turn begins.
    Others,
}

/// What to do about files that were edited since the newest checkpoint, or cannot be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Nothing is changed.
    #[default]
    Stop,
    /// They are replaced; the guard has what it can hold, the rest is moved aside.
    Force,
}

/// A path of the workspace, and what there is to say about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileNote {
    /// The path, relative to the workspace. What is no UTF-8 in it is U+FFFD.
    pub path: String,
    /// What there is to say, in a word or a few.
    pub why: String,
}

/// A path that another session changed too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharedFile {
    /// The path, relative to the workspace.
    pub path: String,
    /// The other session.
    pub session: String,
    /// The checkpoint in which that session recorded its change.
    pub checkpoint: u64,
}

/// What a restore would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FilePlan {
    /// Paths that will be written.
    pub writes: Vec<String>,
    /// Paths that will be deleted.
    pub deletes: Vec<String>,
    /// Paths that differ and are left alone, with the reason.
    pub kept: Vec<FileNote>,
    /// Paths in conflict, with what stands against them.
    pub conflicts: Vec<FileNote>,
    /// Paths among these that another session changed too.
    pub shared: Vec<SharedFile>,
}

impl FilePlan {
    /// Whether the workspace is as it is wanted already.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.deletes.is_empty() && self.conflicts.is_empty()
    }
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "it tells which paths are not as they should be"]
pub struct FilesRestored {
    /// The checkpoint that shows the workspace as it is now.
    pub checkpoint: u64,
    /// The guard: the workspace as it was before.
    pub guard: u64,
    /// How many paths were written.
    pub written: u64,
    /// How many paths were deleted.
    pub deleted: u64,
    /// Paths that are not as they should be, with the reason; those that changed meanwhile among them.
    pub failed: Vec<FileNote>,
}

/// The newest restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastRestore {
    /// The checkpoint that it left.
    pub checkpoint: u64,
    /// Its guard.
    pub guard: u64,
    /// What it restored; `None` where it was to restore a part of that only.
    pub restored: Option<CheckpointRef>,
}

/// A restore that has begun and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterruptedRestore {
    /// What it restores; `None` where it is to restore a part of that only.
    pub restoring: Option<CheckpointRef>,
}

/// A file in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckpointedFile {
    /// The checkpoint, or the guard.
    pub checkpoint: CheckpointRef,
    /// The path, relative to the workspace. What is no UTF-8 in it is U+FFFD.
    pub path: String,
}

/// How closely checkpoints are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckpointDepth {
    /// Whether everything that they need seems to be there, which costs little however much that is.
    #[default]
    Links,
    /// Every content is read, against its id.
    Contents,
}

/// What is wrong with checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFault {
    /// The checkpoint; `None` where it is about all of them.
    pub checkpoint: Option<CheckpointRef>,
    /// The kind of fault.
    pub kind: CheckpointFaultKind,
    /// The file, where one file is at fault.
    pub path: Option<PathBuf>,
    /// What it is, in a few words.
    pub what: String,
}

/// The kinds of faults of checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointFaultKind {
    /// Something is missing or damaged.
    Damaged,
    /// A file was found damaged before, and set aside.
    SetAside,
    /// A restore has begun and not ended.
    Interrupted,
}

/// How the checkpoints of a session are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckpointHealth {
    /// The newest checkpoint that is not a guard; `None` where there is none.
    pub newest: Option<u64>,
    /// What is wrong.
    pub faults: Vec<CheckpointFault>,
}

/// Who keeps the checkpoints of one session's workspace.
///
/// A restore takes a guard first, is recorded before its first change, and can be found and ended when it was
/// interrupted. Each call is whole by itself: no lock is held between two.
pub trait Checkpointer {
    /// Takes a checkpoint of the workspace and gives its number. On disk when it returns: the checkpoint.
    ///
    /// # Errors
    /// Whatever keeps it from being taken: there is none then.
    fn take(&mut self, label: &str, changes_of: ChangesOf) -> Result<u64, CheckpointError>;

    /// What restoring a checkpoint would do. Nothing is changed.
    ///
    /// # Errors
    /// That there is no such checkpoint, or what keeps it from being looked at.
    fn plan(&mut self, to: CheckpointRef) -> Result<FilePlan, CheckpointError>;

    /// Makes the workspace what it was, with a guard of what it is. On disk when it returns: that, and a checkpoint of it.
    ///
    /// # Errors
    /// Conflicts, where they stop it: nothing was changed. After another error a part may be: see
    /// [`Checkpointer::interrupted`]. While one is interrupted no other begins.
    fn restore(&mut self, to: CheckpointRef, on_conflict: OnConflict) -> Result<FilesRestored, CheckpointError>;

    /// The restore that has begun and not ended, if there is one.
    ///
    /// # Errors
    /// Failed reads.
    fn interrupted(&self) -> Result<Option<InterruptedRestore>, CheckpointError>;

    /// Ends an interrupted restore by doing the rest of it.
    ///
    /// # Errors
    /// As [`Checkpointer::restore`].
    fn resume(&mut self) -> Result<FilesRestored, CheckpointError>;

    /// Ends an interrupted restore by going back to its guard.
    ///
    /// # Errors
    /// As [`Checkpointer::restore`].
    fn go_back(&mut self, on_conflict: OnConflict) -> Result<FilesRestored, CheckpointError>;

    /// The newest restore that has ended.
    ///
    /// # Errors
    /// Failed reads.
    fn last_restore(&self) -> Result<Option<LastRestore>, CheckpointError>;

    /// Gives the checkpoints up to a number (all where it is `None`) to a session whose directory for them is `to`, which
    /// is empty or missing. Both can be deleted without harm to the other. Gives how many it got; 0 where there are none,
    /// and then nothing is made.
    ///
    /// # Errors
    /// Failed operations; what is in `to` counts for nothing then.
    fn share(&self, to: &Path, upto: Option<u64>) -> Result<u64, CheckpointError>;

    /// The files whose content `is_wanted` says yes to, each content under each of its paths once: in the oldest
    /// checkpoint that has it there. It is asked once about each content. Nothing is changed.
    ///
    /// # Errors
    /// Failed reads; a checkpoint that is damaged.
    fn find_files(&self, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Result<Vec<CheckpointedFile>, CheckpointError>;

    /// Looks whether the checkpoints are whole. Nothing is changed, the workspace is not looked at, and nothing is healthy
    /// that cannot be read.
    ///
    /// # Errors
    /// What keeps them from being looked at. What is wrong with them is an answer.
    fn examine(&self, depth: CheckpointDepth) -> Result<CheckpointHealth, CheckpointError>;
}

/// Who hands in the checkpoints of many sessions, for who looks after a whole store.
pub trait Checkpointers {
    /// Those in a session's directory of checkpoints, to be looked at; `None` where nobody knows such.
    fn to_examine(&self, dir: &Path) -> Option<Box<dyn Checkpointer + '_>>;

    /// Those of the session of this name, to end a restore with.
    ///
    /// # Errors
    /// What keeps them, or the workspace, from being found.
    fn to_restore(&self, session: &str, dir: &Path) -> Result<Box<dyn Checkpointer + '_>, CheckpointError>;
}
