//! The file `.lock`, which the reference locks too.

use super::LockHolder;
use crate::Result;
use crate::flock::{Deadline, names, try_exclusive};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// How long the reference is given between unlocking its file and removing it.
const LEAVING: Duration = Duration::from_millis(20);

/// One try at the file, which is created where it is missing. `None`: another has it, or what was locked is not, or does
/// not stay, what the path names.
pub(super) fn take(path: &Path) -> Result<Option<File>> {
    let file = session_disk::open_private(path)?;
    if !try_exclusive(&file, path)? || !names(path, &file)? {
        return Ok(None);
    }
    // The reference unlocks before it removes. Its text on a file that could be locked means that it either died, or is
    // about to remove this very file.
    let leaving = LockHolder::read(&file).is_some_and(|holder| holder.is_reference() && holder.is_live());
    if leaving && Deadline::after(LEAVING).poll(|| Ok((!names(path, &file)?).then_some(())))?.is_some() {
        return Ok(None);
    }
    Ok(Some(file))
}
