//! Opening a file that should be regular, whatever stands there.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
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

/// How long ago a file was written; as an error, how long from now it will have been.
pub(crate) fn age(metadata: &Metadata) -> Result<Duration, Duration> {
    // A file system without times has files that are as old as can be.
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    SystemTime::now().duration_since(modified).map_err(|ahead| ahead.duration())
}
