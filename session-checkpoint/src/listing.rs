//! What is in a directory of a store.

use crate::Error;
use crate::error::reading;
use std::fs;
use std::io;
use std::path::Path;

/// The names in a directory that are text; none where it does not exist.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(reading(dir)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.extend(entry.map_err(reading(dir))?.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}
