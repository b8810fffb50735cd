//! The file `.lock`, which the reference locks too.

use super::LockHolder;
use crate::Result;
use crate::flock::{Deadline, names, try_exclusive};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// How long the reference is given between unlocking its file and removing it.
const LEAVING: Duration = Duration::from_millis(20);

/// How often the file may vanish under us before that counts as somebody's having it.
const MAX_VANISHED: u32 = 64;

/// One try at the file, which is created where it is missing. `None`: another has it.
pub(super) fn take(path: &Path) -> Result<Option<File>> {
    for _ in 0..MAX_VANISHED {
        let file = session_disk::open_private(path)?;
        if !try_exclusive(&file, path)? {
            return Ok(None);
        }
        if stays(path, &file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether the path names the locked file, and goes on doing so.
fn stays(path: &Path, file: &File) -> Result<bool> {
    if !names(path, file)? {
        return Ok(false);
    }
    // The reference unlocks before it removes. Its text on a file that could be locked means that it either died, or is
    // about to remove this very file.
    if !LockHolder::read(file).is_some_and(|holder| holder.is_reference() && holder.is_live()) {
        return Ok(true);
    }
    let vanished = Deadline::after(LEAVING).poll(|| Ok((!names(path, file)?).then_some(())))?;
    Ok(vanished.is_none())
}
