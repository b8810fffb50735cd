//! Which state of a file stands there, and since when.

use crate::flock::Inode;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What tells one state of a file from the next without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: Inode,
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Stamp { inode: Inode::of(metadata), size: metadata.size(), modified: (metadata.mtime(), metadata.mtime_nsec()) }
    }

    /// The stamp of what `path` names itself, be it a link; `None` where there is nothing.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// When a file was made, in nanoseconds since 1970; `None` where the file system does not say. It tells a file from one that
/// is given the same inode later.
pub(crate) fn born(metadata: &Metadata) -> Option<u128> {
    let made = metadata.created().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(made.as_nanos())
}

/// How long ago a file was written; as an error, how long from now it will have been.
pub(crate) fn age(metadata: &Metadata) -> Result<Duration, Duration> {
    // A file system without times has files that are as old as can be.
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    SystemTime::now().duration_since(modified).map_err(|ahead| ahead.duration())
}
