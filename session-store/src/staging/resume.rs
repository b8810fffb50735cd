//! Building a session that takes long, in several tries.

use super::{NewHistory, Staged, at_work};
use crate::paths::staging_path;
use crate::{Redaction, Result, Store, StoreError};
use session_core::SessionName;
use session_disk::{open_append, remove_dir_all, truncate};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Builds a session that takes long to build. What a try that failed or was killed has built stays in staging, under a name
/// that begins with `key`. The next try of that key is given each such directory to `take` out of it what is still good;
/// what it leaves there is removed.
pub(crate) fn resume<E: From<StoreError>>(
    store: &Store,
    name: &SessionName,
    key: &str,
    mut take: impl FnMut(&Staged<'_>, &Path) -> Result<(), E>,
    fill: impl FnOnce(&Staged<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut staged = Staged::new(store, name.clone(), &format!("{key}-"))?;
    for (left, _nobody_works_there) in left(store, key, staged.paths().dir())? {
        take(&staged, &left)?;
        remove_dir_all(&left).map_err(StoreError::from)?;
    }
    if let Err(error) = fill(&staged) {
        staged.is_kept = true;
        return Err(error);
    }
    staged.place().map(drop).map_err(E::from)
}

/// What was left in staging under a key, locked.
fn left(store: &Store, key: &str, own: &Path) -> Result<Vec<(PathBuf, File)>> {
    let staging = staging_path(store.base_dir());
    let mut left = Vec::new();
    for entry in fs::read_dir(&staging).map_err(StoreError::read(&staging))? {
        let path = entry.map_err(StoreError::read(&staging))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_of_key = name.strip_prefix(key).is_some_and(|rest| rest.starts_with('-'));
        if is_of_key && path != own && path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            left.extend(at_work(&path).map(|locked| (path, locked)));
        }
    }
    Ok(left)
}

impl Staged<'_> {
    /// Continues its history after so many bytes, the rest of which was left by an earlier try and is not good.
    pub(crate) fn history_from(&self, bytes: u64) -> Result<NewHistory> {
        let path = self.paths.history();
        let file = open_append(&path)?;
        truncate(&file, &path, bytes)?;
        let durability = self.store.options().durability;
        // What stands elsewhere already is not redacted again.
        Ok(NewHistory { file, path, bytes: Vec::new(), redaction: Redaction::default(), durability })
    }
}
