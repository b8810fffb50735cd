//! Emptying the trash.

use super::entries::names;
use super::forms::look;
use crate::{Result, StoreError};
use session_core::Timestamp;
use session_disk::{remove_dir_all, remove_file};
use std::path::Path;

/// What emptying the trash did.
#[derive(Debug, Default)]
#[must_use = "it tells what is still in the trash, and why"]
#[non_exhaustive]
pub struct EmptiedTrash {
    /// Entries that were removed.
    pub removed: u64,
    /// Why others were not.
    pub failed: Vec<StoreError>,
}

/// Removes what is in the trash, or what was put there before a time. One entry that cannot be removed keeps none of the
/// others.
pub(super) fn empty(base: &Path, before: Option<&Timestamp>) -> Result<EmptiedTrash> {
    let mut emptied = EmptiedTrash::default();
    let doomed = match before {
        None => names(base)?,
        Some(before) => {
            let old = super::entries(base)?.into_iter().filter(|entry| entry.deleted < *before);
            old.map(|entry| entry.path).collect()
        }
    };
    for path in doomed {
        match remove_tree(&path) {
            Ok(()) => emptied.removed += 1,
            Err(error) => emptied.failed.push(error),
        }
    }
    Ok(emptied)
}

/// Removes a directory with everything in it, or a file, or a link; nothing that a link points to. What is gone already
/// is no error.
pub(crate) fn remove_tree(path: &Path) -> Result<()> {
    match look(path)? {
        Some(metadata) if metadata.is_dir() => Ok(remove_dir_all(path)?),
        Some(_) => Ok(remove_file(path)?),
        None => Ok(()),
    }
}
