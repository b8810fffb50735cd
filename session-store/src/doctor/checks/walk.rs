//! Looking into directories.

use crate::small_file::{age, is_absent};
use crate::{Result, StoreError};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was written longer ago than this is in nobody's hands: it would have its name by now.
const IDLE: Duration = Duration::from_secs(60);

/// Whether somebody who was making a file has given up.
pub(super) fn is_idle(metadata: &Metadata) -> bool {
    age(metadata).is_ok_and(|age| age >= IDLE)
}

/// What is directly in a directory, by name. A directory that is not there holds nothing.
pub(super) fn entries(dir: &Path) -> Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::read(dir)(source)),
    };
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(StoreError::read(dir))?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// The regular files directly in a directory, by name.
pub(super) fn files(dir: &Path) -> Result<Vec<(PathBuf, Metadata)>> {
    let mut files = Vec::new();
    for entry in entries(dir)? {
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => files.push((entry.path(), metadata)),
            Ok(_) => {}
            Err(error) if is_absent(&error) => {}
            Err(source) => return Err(StoreError::read(&entry.path())(source)),
        }
    }
    Ok(files)
}

/// Visits a directory and everything below it, links themselves and not what they point to. What cannot be read is
/// passed over: another check says so where it matters.
pub(super) fn visit(path: &Path, visitor: &mut impl FnMut(&Path, &Metadata)) {
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        visitor(&path, &metadata);
        if metadata.is_dir() {
            open.extend(entries(&path).into_iter().flatten().rev().map(|entry| entry.path()));
        }
    }
}
