//! Keeping our own appends out of a history for a moment.

use crate::flock::{self, names};
use crate::{Result, SessionPaths, StoreError};
use session_disk::{create_new, open_existing};
use std::fs::File;
use std::io;

/// How often the history may be replaced while it is locked.
const REOPENS: usize = 16;

/// The history, locked against our own appends until it is closed: who was appending is done, and who comes later waits.
/// It can be read. `None`: there is none.
///
/// # Errors
/// [`StoreError::Read`] where it is no regular file; [`StoreError::LockUnsupported`]; that of opening it.
pub(crate) fn hold_history(paths: &SessionPaths) -> Result<Option<File>> {
    let path = paths.history();
    for _ in 0..REOPENS {
        let file = match open_existing(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if !file.metadata().map_err(StoreError::read(&path))?.is_file() {
            let source = io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file");
            return Err(StoreError::Read { path, source });
        }
        flock::exclusive(&file, &path)?;
        if names(&path, &file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// The same where there may be none: then an empty one is made, which every reader takes for none, so that nobody begins
/// one meanwhile.
pub(crate) fn hold_or_create(paths: &SessionPaths) -> Result<Option<File>> {
    match hold_history(paths)? {
        Some(file) => Ok(Some(file)),
        None => match create_new(&paths.history()) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
            Ok(_) | Err(_) => hold_history(paths),
        },
    }
}
