//! What can go wrong with an operation on the store. Bad data in a history is no error: it is a defect, and a value.

use crate::rewind::Refusal;
use session_core::checkpoint::CheckpointError;
use session_core::{CutError, Defect, NameError, Point, RedactError, SessionName, Timestamp, counted};
use session_disk::DiskError;
use session_proc::ProcError;
use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation on the store.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An operation that failed: what was attempted, on which path, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A text that should be a session's name is none.
    #[error(transparent)]
    Name(#[from] NameError),
    /// No directory for the store is known: there is no home directory.
    #[error("there is no home directory to keep sessions in")]
    NoHome,
    /// The store's own directory is no directory.
    #[error("{} is no directory", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// There is no such session. Nothing was created.
    #[error("there is no session {name:?} in {}", base.display())]
    NotFound {
        /// The session.
        name: String,
        /// The store's directory.
        base: PathBuf,
    },
    /// A session of that name exists.
    #[error("a session {name} exists already")]
    Exists {
        /// The session.
        name: SessionName,
    },
    /// The session was deleted, or replaced by another of its name, while it was open. Nothing was written.
    #[error("session {name} was deleted or replaced while it was open: {}", path.display())]
    Deleted {
        /// The session.
        name: String,
        /// Its history.
        path: PathBuf,
    },
    /// The conversation goes on in another session. Nothing was written.
    #[error("session {name} goes on as {successor}")]
    Succeeded {
        /// The session.
        name: String,
        /// The one that goes on with it.
        successor: String,
    },
    /// Something has the place that a file is to be put back to. Nothing was moved.
    #[error("{} is there already", path.display())]
    InTheWay {
        /// That place.
        path: PathBuf,
    },
    /// The chain of successors comes back to where it was.
    #[error("the successors of session {name} form a loop: {at} follows again")]
    SuccessorLoop {
        /// The session that was opened.
        name: SessionName,
        /// The session that comes twice.
        at: SessionName,
    },
    /// The chain of successors, or of parents, is longer than any real one.
    #[error("the chain from session {name} is longer than {limit}; it was given up at {at}")]
    ChainTooLong {
        /// The session that was opened.
        name: SessionName,
        /// The session at which it was given up.
        at: SessionName,
        /// How many are followed.
        limit: usize,
    },
    /// The history was begun by a program with a newer format. It can be read; nothing was written.
    #[error("{} has format {format}, this program writes up to {}", path.display(), session_core::FORMAT)]
    NewerFormat {
        /// The history.
        path: PathBuf,
        /// Its format.
        format: u64,
    },
    /// An event's line is so long that the reference could not read the session any more. Nothing of the call was
    /// written. Large texts belong into a spill.
    #[error("event {event} of the call takes {bytes} bytes, {limit} are too many for a line of {}", path.display())]
    LineTooLong {
        /// Which event of the call, from 0.
        event: usize,
        /// The length of its line without the newline.
        bytes: u64,
        /// The first length that is refused.
        limit: u64,
        /// The history.
        path: PathBuf,
    },
    /// An append failed. What stands of it in the file is said by `whole_events`.
    #[error("cannot append to {}: {}", path.display(), told(*whole_events))]
    Append {
        /// The history.
        path: PathBuf,
        /// How many events of the call, from its first one, are in the file as whole lines. 0 as a rule: what a failed
        /// write left is blanked at once.
        whole_events: usize,
        /// Why.
        source: DiskError,
    },
    /// The output that was to be spilled could not be read to its end. There is no file.
    #[error("cannot read the output that was to be kept in {}", path.display())]
    SpillInput {
        /// The file that was begun.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A message for the inbox is too large to be delivered.
    #[error("a message of {bytes} bytes is too large for the inbox {}: {limit} are allowed", path.display())]
    MessageTooLarge {
        /// Its length, encoded.
        bytes: u64,
        /// The largest length.
        limit: u64,
        /// The inbox.
        path: PathBuf,
    },
    /// An id that should name a claimed message of the inbox names none.
    #[error("there is no claimed message {id:?} in {}", path.display())]
    NoSuchClaim {
        /// The id.
        id: String,
        /// The inbox.
        path: PathBuf,
    },
    /// Somebody else holds the lock.
    #[error("session {name} is locked by {holder}")]
    Locked {
        /// The session.
        name: String,
        /// Who, as far as it is known.
        holder: crate::LockHolder,
    },
    /// This file system has no locks.
    #[error("the file system of {} cannot lock", path.display())]
    LockUnsupported {
        /// The path.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The lock that was held is gone: somebody removed the directory or the lock file, and another holds the new one.
    /// Nothing was written.
    #[error("the lock of session {name} was lost")]
    LockLost {
        /// The session.
        name: String,
    },
    /// This needs the session's lock, held through the same handle.
    #[error("the lock of session {name} is not held")]
    NotLocked {
        /// The session.
        name: String,
    },
    /// The session has a live turn.
    #[error("session {name} has a live turn, process {pid}")]
    LiveTurn {
        /// The session.
        name: String,
        /// The process that runs it.
        pid: i32,
    },
    /// The session has live background processes: others start, however often they are stopped. The session stands.
    #[error("background processes keep starting in session {name}: {}", ids.join(", "))]
    LiveProcesses {
        /// The session.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// Processes of the session could not be stopped. The session stands.
    #[error("session {name} has processes that could not be stopped: {}", survivors.join("; "))]
    Survivors {
        /// The session.
        name: String,
        /// Which ones, and why.
        survivors: Vec<String>,
    },
    /// Only the live turn, its children, or the lock's holder may do this.
    #[error("session {name} has a live turn, process {pid}; only it and its children drain the inbox")]
    NotOfTheTurn {
        /// The session.
        name: String,
        /// The process that runs the turn.
        pid: i32,
    },
    /// A directory of this name is in the store, and it is no session's. Nothing was touched.
    #[error("{} is no session's directory", path.display())]
    NotASession {
        /// The path.
        path: PathBuf,
    },
    /// The session leads from one member of its chain to the next. Nothing was touched.
    #[error("session {name} leads from {before} to {next}")]
    InChain {
        /// The session.
        name: SessionName,
        /// The one that goes on as it.
        before: SessionName,
        /// The one that it goes on as.
        next: SessionName,
    },
    /// A rule for pruning names a time that has not come yet. Nothing was touched.
    #[error("{} has not come yet; it is {}", session_core::format_time(before), session_core::format_time(now))]
    PruneTime {
        /// The time.
        before: Timestamp,
        /// The time by the store's clock.
        now: Timestamp,
    },
    /// The session was used, pinned or replaced since pruning was planned. It was not touched.
    #[error("session {name} is not as it was when pruning was planned")]
    PruneChanged {
        /// The session.
        name: SessionName,
    },
    /// The session's workspace is another one than was planned. It was not touched.
    #[error("session {name} does not work in {from} any more")]
    Moved {
        /// The session.
        name: String,
        /// The workspace that it was planned with.
        from: String,
    },
    /// The trash holds no session with this id.
    #[error("there is no {id:?} in {}", path.display())]
    NotInTrash {
        /// The id.
        id: String,
        /// The trash.
        path: PathBuf,
    },
    /// Another program keeps writing the history while a flat file is migrated to it. The flat file holds everything.
    #[error("{} does not come to rest: another program is migrating the session", path.display())]
    MigrationUnsettled {
        /// The history.
        path: PathBuf,
    },
    /// A path leads out of the session or the store.
    #[error("{} leads out of the store", path.display())]
    Escapes {
        /// The path.
        path: PathBuf,
    },
    /// The conversation cannot go to this point.
    #[error("{}", path.display())]
    Cut {
        /// The history.
        path: PathBuf,
        /// Why.
        source: CutError,
    },
    /// Lines of a history that cannot be read make it a guess what is copied. Nothing was made.
    #[error("{} of {} cannot be read, the first of them: {first}", counted(*defects, "line", "lines"), path.display())]
    Damaged {
        /// The history.
        path: PathBuf,
        /// How many.
        defects: u64,
        /// The first of them.
        first: Box<Defect>,
    },
    /// Whoever keeps the checkpoints says no.
    #[error("cannot work on the checkpoints in {}", path.display())]
    Checkpoint {
        /// The directory of the checkpoints.
        path: PathBuf,
        /// Why. Who composed the two knows which error is inside.
        source: CheckpointError,
    },
    /// No checkpoint shows the workspace at this point.
    #[error("no checkpoint of session {name} shows the workspace at {point}")]
    NoCheckpoint {
        /// The session.
        name: String,
        /// The point.
        point: Point,
    },
    /// Background processes of the session run.
    #[error("session {name} has running background processes: {}", ids.join(", "))]
    Running {
        /// The session.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// Something stands against going back. Nothing was changed.
    #[error("session {name} does not go back: {}", crate::rewind::told(reasons))]
    RewindRefused {
        /// The session.
        name: String,
        /// What stands against it.
        reasons: Vec<Refusal>,
    },
    /// An earlier rewind was interrupted; it must be ended first.
    #[error("a rewind of session {name} was interrupted: {}", path.display())]
    RewindInterrupted {
        /// The session.
        name: String,
        /// What it has left.
        path: PathBuf,
    },
    /// A restore of the workspace that is none of the rewind's was interrupted; it must be ended first.
    #[error("a restore of the workspace of session {name} was interrupted: {}", path.display())]
    RestoreInterrupted {
        /// The session.
        name: String,
        /// Its checkpoints.
        path: PathBuf,
    },
    /// There is no rewind that could be taken back.
    #[error("session {name} has no rewind that could be taken back")]
    NothingToUndo {
        /// The session.
        name: String,
    },
    /// A file does not stay as it is for long enough to be replaced.
    #[error("{} keeps changing", path.display())]
    KeepsChanging {
        /// The file.
        path: PathBuf,
    },
    /// An event was not written, since its secrets could not be taken out. Nothing of the call was.
    #[error("event {event} of the call cannot be redacted, and was not written to {}", path.display())]
    NotRedacted {
        /// Which event of the call, from 0.
        event: usize,
        /// The history.
        path: PathBuf,
        /// Why. It holds nothing of the event, if the redactor keeps to its word.
        source: RedactError,
    },
    /// It cannot be told what is secret in a file, so that it goes nowhere.
    #[error("cannot tell what is secret in {}: {why}", path.display())]
    NotMasked {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Checkpoints hold secrets, which cannot be masked there.
    #[error("{} with secrets in the checkpoints in {}, {first} among them", counted(*files, "file", "files"), path.display())]
    SecretInCheckpoint {
        /// The directory of the checkpoints.
        path: PathBuf,
        /// The path of the first such file, relative to the workspace.
        first: String,
        /// In how many files of how many checkpoints, all counted.
        files: u64,
    },
    /// A bundle does not come in. Nothing of it is in the store.
    #[cfg(feature = "bundle")]
    #[error(transparent)]
    Bundle(#[from] crate::BundleError),
    /// A bundle could not be written.
    #[cfg(feature = "bundle")]
    #[error("cannot write the bundle")]
    BundleOutput {
        /// Why.
        source: io::Error,
    },
    /// No thread could be started.
    #[error("cannot start a thread")]
    Threads {
        /// What the system said.
        source: io::Error,
    },
    /// A process, or the marker of a turn, could not be looked at.
    #[error(transparent)]
    Process(#[from] ProcError),
    /// Reading failed.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A change on the disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

fn told(whole_events: usize) -> String {
    match whole_events {
        0 => "nothing of the call is in the file".to_owned(),
        1 => "its first event is in the file, the rest is not".to_owned(),
        n => format!("its first {n} events are in the file, the rest is not"),
    }
}

impl StoreError {
    /// That a turn runs.
    pub(crate) fn live_turn(name: &str, pid: i32) -> Self {
        StoreError::LiveTurn { name: name.to_owned(), pid }
    }

    /// The same, but where something is missing the session is: for what is made in its directory.
    pub(crate) fn or_deleted(self, name: &str) -> Self {
        match self {
            StoreError::Disk(error) if error.kind() == io::ErrorKind::NotFound => {
                StoreError::Deleted { name: name.to_owned(), path: error.path }
            }
            error => error,
        }
    }

    /// For `map_err` after reading from a path.
    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
        let path = path.to_owned();
        |source| StoreError::Read { path, source }
    }
}
