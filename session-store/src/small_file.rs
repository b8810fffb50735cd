//! Reading a file that should be small and regular, whatever stands there.

use crate::flock::Inode;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Opens a regular file for reading: never a link's target, and never blocked by a FIFO.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
    }
    Ok((file, metadata))
}

/// Whether an error says that nothing has the name.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The bytes of a file, and what it was when they were read. More than `limit` bytes are an error.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<(Vec<u8>, Stamp)> {
    let (file, metadata) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok((bytes, Stamp::of(&metadata)))
}

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

/// How long ago a file was written; as an error, how long from now it will have been.
pub(crate) fn age(metadata: &Metadata) -> Result<Duration, Duration> {
    // A file system without times has files that are as old as can be.
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    SystemTime::now().duration_since(modified).map_err(|ahead| ahead.duration())
}
