//! What can fail: looking at a process, or at a file under `proc/`.

use crate::LiveTurn;
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
}

impl ProcError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        ProcError::Read { path: path.to_owned(), source }
    }

    pub(crate) fn kernel(path: impl Into<PathBuf>) -> Self {
        ProcError::Kernel { path: path.into() }
    }
}
