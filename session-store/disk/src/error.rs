//! What can go wrong: an operation, on a path, for a cause.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file operation that passes the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Open a file that exists, or create it.
    Open,
    /// Create a file or directory that must not exist yet.
    Create,
    /// Write bytes to an open file.
    Write,
    /// Bring a file's bytes to the disk (`fdatasync`).
    Sync,
    /// Bring a directory's entries to the disk (`fsync` of the directory).
    SyncDir,
    /// Rename a file or directory.
    Rename,
    /// Give a file a second name.
    Link,
    /// Remove a file or directory.
    Remove,
    /// Change permission bits.
    SetMode,
    /// Cut a file to a length.
    Truncate,
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Op::Open => "open",
            Op::Create => "create",
            Op::Write => "write",
            Op::Sync => "sync",
            Op::SyncDir => "sync directory",
            Op::Rename => "rename",
            Op::Link => "link",
            Op::Remove => "remove",
            Op::SetMode => "set the mode of",
            Op::Truncate => "truncate",
        })
    }
}

/// A file operation that failed: which one, on which path, and why.
#[derive(Debug, thiserror::Error)]
#[error("cannot {op} {}", path.display())]
pub struct DiskError {
    /// The operation that was attempted.
    pub op: Op,
    /// The path it was attempted on.
    pub path: PathBuf,
    /// The cause that the operating system gave.
    pub source: io::Error,
}

impl DiskError {
    pub(crate) fn new(op: Op, path: &Path, source: io::Error) -> Self {
        DiskError { op, path: path.to_owned(), source }
    }

    /// Whether the file system, or the kernel, does not have the operation: renaming without replacing, and swapping, are
    /// refused like this by network file systems, by those of virtual machines, and by some in user space.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
    }

    /// The kind of the cause, for callers that treat "already exists" or "not found" as an answer.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

/// A write that did not put all of its bytes into the file.
#[derive(Debug, thiserror::Error)]
#[error("wrote {written} of {wanted} bytes")]
pub struct ShortWrite {
    /// Bytes that did reach the file, in order from the first.
    pub written: u64,
    /// Bytes that were to be written.
    pub wanted: u64,
    /// Why the rest did not follow.
    #[source]
    pub error: DiskError,
}

impl From<ShortWrite> for DiskError {
    fn from(short: ShortWrite) -> Self {
        short.error
    }
}

/// An append that did not put all of its bytes into the file.
#[derive(Debug, thiserror::Error)]
#[error("appended {written} of {wanted} bytes at {offset}")]
pub struct ShortAppend {
    /// Where the first of them stands, if any was written.
    pub offset: u64,
    /// Bytes that did reach the file, without a gap, in order from the first.
    pub written: u64,
    /// Bytes that were to be written.
    pub wanted: u64,
    /// Why the rest did not follow. [`io::ErrorKind::WriteZero`]: the system took a part and gave no cause.
    #[source]
    pub error: DiskError,
}
