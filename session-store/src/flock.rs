//! The kernel's advisory locks (`flock`).
//!
//! `flock` only: locks by `fcntl` do not exclude the reference. The kernel frees a lock when the last descriptor of its
//! open file is closed, so a process that dies frees it at once. The standard library opens files close-on-exec, so a
//! child that outlives this process does not keep it.

use crate::{Result, StoreError};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Takes the exclusive lock of an open file, after whoever has it: for locks that are only held for the length of a
/// call. Taking it again changes nothing. `path` is for the error.
///
/// # Errors
/// [`StoreError::LockUnsupported`] where the file system has no locks.
pub(crate) fn exclusive(file: &File, path: &Path) -> Result<()> {
    loop {
        match fs4::FileExt::lock(file) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(StoreError::LockUnsupported { path: path.to_owned(), source }),
        }
    }
}

/// Frees the lock, also where a child between fork and exec still has a copy of the descriptor.
pub(crate) fn unlock(file: &File, path: &Path) -> Result<()> {
    fs4::FileExt::unlock(file).map_err(|source| StoreError::LockUnsupported { path: path.to_owned(), source })
}

/// Which file or directory something is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Inode { device: metadata.dev(), number: metadata.ino() }
    }
}
