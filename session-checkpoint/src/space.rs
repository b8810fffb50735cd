//! Room on the disk.

use crate::Error;
use nix::sys::statvfs::statvfs;
use std::path::Path;

/// Bytes that are free for this user on the file system of a path.
pub(crate) fn free_bytes(path: &Path) -> Result<u64, Error> {
    let stat = statvfs(path).map_err(|errno| Error::Read { path: path.to_owned(), source: errno.into() })?;
    Ok(stat.blocks_available().saturating_mul(stat.fragment_size()))
}
