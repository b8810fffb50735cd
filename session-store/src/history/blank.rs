//! Overwriting bytes that are no event with what every reader passes over.

use crate::flock::Inode;
use session_disk::{DiskError, Op, open_existing, write_at};
use std::fs::File;
use std::io;
use std::path::Path;

/// A newline stands this often in a blank, so that no line of it is too long for a reader.
const LINE: usize = 4096;
/// How much is overwritten with one call; a multiple of [`LINE`].
const CHUNK: usize = 64 * LINE;

/// What becomes of the last byte of a blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    /// A space: a newline follows, or an event that is to begin with spaces.
    Space,
    /// A newline.
    Newline,
}

/// The byte that stands so many bytes behind the start of a blank.
pub(crate) fn blank_at(at: u64) -> u8 {
    if at % LINE as u64 == LINE as u64 - 1 { b'\n' } else { b' ' }
}

/// Opens the history for overwriting: without append mode, in which Linux would append instead.
///
/// # Errors
/// That of opening; `NotFound` where the path no longer names that file.
pub(super) fn open_overwrite(path: &Path, inode: Inode) -> Result<File, DiskError> {
    let file = open_existing(path)?;
    let found = |source| DiskError { op: Op::Open, path: path.to_owned(), source };
    let metadata = file.metadata().map_err(found)?;
    if Inode::of(&metadata) != inode {
        return Err(found(io::ErrorKind::NotFound.into()));
    }
    Ok(file)
}

/// Blanks what a write to a history that failed has left of it, whole lines included, so that it can be tried again.
///
/// # Errors
/// As [`open_overwrite`] and [`blank`].
pub(crate) fn take_back(history: &File, path: &Path, offset: u64, len: u64) -> Result<(), DiskError> {
    let read = |source| DiskError { op: Op::Open, path: path.to_owned(), source };
    let inode = Inode::of(&history.metadata().map_err(read)?);
    blank(&open_overwrite(path, inode)?, path, offset, len, Last::Newline)
}

/// Overwrites bytes with spaces and, every 4096 bytes, a newline.
///
/// It goes from the end to the start, so that after a failure what still stands is the beginning, whole.
///
/// # Errors
/// Whatever the system says; a part at the end is blank then.
pub(super) fn blank(file: &File, path: &Path, offset: u64, len: u64, last: Last) -> Result<(), DiskError> {
    let mut upto = len;
    while upto > 0 {
        let from = (upto - 1) / CHUNK as u64 * CHUNK as u64;
        let mut bytes: Vec<u8> = (from..upto).map(blank_at).collect();
        if upto == len
            && last == Last::Newline
            && let Some(byte) = bytes.last_mut()
        {
            *byte = b'\n';
        }
        write_at(file, path, offset + from, &bytes)?;
        upto = from;
    }
    Ok(())
}
