//! What can fail: looking at a process, or at a file under `proc/`; starting, stopping and waiting.

use crate::{LiveTurn, ProcessId};
use session_disk::DiskError;
use std::io;
use std::path::{Path, PathBuf};

/// An operation of this crate that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProcError {
    /// A file could not be read: one of the session's, or one of the kernel's under `/proc`.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause that the operating system gave.
        source: io::Error,
    },
    /// A file of the kernel's does not look as documented, so nothing can be said about any process.
    #[error("cannot make sense of {}", path.display())]
    Kernel {
        /// The file.
        path: PathBuf,
    },
    /// A file of the session's could not be written or removed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The session has a live turn already.
    #[error("a turn is running in {}: {turn}", proc_dir.display())]
    TurnLive {
        /// The session's directory of process records.
        proc_dir: PathBuf,
        /// Who runs it.
        turn: Box<LiveTurn>,
    },
    /// There is no record of this id.
    #[error("no background process {id} in {}", proc_dir.display())]
    NoProcess {
        /// The id.
        id: ProcessId,
        /// The session's directory of process records.
        proc_dir: PathBuf,
    },
    /// A record is no JSON, or has a member of the wrong type.
    #[error("cannot read the record {}", path.display())]
    Unreadable {
        /// The record.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// The id inside a record is not its name, so it is not clear whose it is.
    #[error("the record {} has another id inside", path.display())]
    Misplaced {
        /// The record.
        path: PathBuf,
    },
    /// Others took every id that was tried.
    #[error("no free id for a background process in {}", proc_dir.display())]
    NoFreeId {
        /// The session's directory of process records.
        proc_dir: PathBuf,
    },
    /// The reference took the id in the last moment before the command was put on record. It was ended again.
    #[error("{} is the record of another process by now", path.display())]
    IdTaken {
        /// The record.
        path: PathBuf,
    },
    /// The command line has nothing in it.
    #[error("the command is empty")]
    EmptyCommand,
    /// A pattern is no regular expression.
    #[error("the pattern {pattern:?} cannot be used: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A program could not be started.
    #[error("cannot start {}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The cause that the operating system gave.
        source: io::Error,
    },
    /// The supervisor did not say whether the command runs. It may run: its claim stays.
    #[error("the supervisor {} did not answer", program.display())]
    SupervisorSilent {
        /// The supervisor.
        program: PathBuf,
    },
    /// The supervisor could not put the command on record, and did not leave it running.
    #[error("the supervisor {} could not record the command", program.display())]
    SupervisorFailed {
        /// The supervisor.
        program: PathBuf,
    },
    /// The arguments of a supervisor are not those that a registry gives.
    #[error("a supervisor is started by a registry, with a directory and an id")]
    Arguments,
    /// A supervisor was started in a process that has more than one thread.
    #[error("a supervisor must be the only thread of its process")]
    Threads,
    /// The directory's lock could not be taken: the file system may not have any.
    #[error("cannot lock {}", path.display())]
    Lock {
        /// The directory.
        path: PathBuf,
        /// The cause that the operating system gave.
        source: io::Error,
    },
    /// Another process holds the directory's lock, for longer than anything should take.
    #[error("{} is locked by another process", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// The kernel refused to wait.
    #[error("cannot wait for a background process")]
    Wait {
        /// The cause that the operating system gave.
        source: io::Error,
    },
}

impl ProcError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        ProcError::Read { path: path.to_owned(), source }
    }

    pub(crate) fn kernel(path: impl Into<PathBuf>) -> Self {
        ProcError::Kernel { path: path.into() }
    }
}
