//! Emptying the trash.

use super::entries::{holds_nothing, id, names};
use super::forms::look;
use crate::{Result, StoreError};
use session_disk::{remove_dir_all, remove_file};
use std::collections::HashSet;
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

/// Removes these from the trash, and nothing else. One that cannot be removed keeps none of the others.
pub(super) fn empty(base: &Path, ids: &[impl AsRef<str>]) -> Result<EmptiedTrash> {
    let mut emptied = EmptiedTrash::default();
    let wanted: HashSet<&str> = ids.iter().map(AsRef::as_ref).collect();
    // Looked up among what is there, so that no id can lead anywhere else.
    for path in names(base)? {
        // One that holds nothing any more was restored, or is being so.
        if !wanted.contains(&*id(&path)) || holds_nothing(&path) {
            continue;
        }
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
