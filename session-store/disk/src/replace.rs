//! How a file is replaced: the one implementation.

use crate::{DiskError, Durability, create_new, exchange, remove_file, rename, rename_new, write};
use rand::RngExt as _;
use std::io;
use std::path::{Path, PathBuf};

/// The name of a temporary file beside `path`: `.tmp-<name>-<16 hex digits>`. It starts with a dot, so that
/// no reader of the directory takes it for content.
pub fn temp_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.trim_start_matches('.').chars().take(32).collect();
    let random: u64 = rand::rng().random();
    path.with_file_name(format!(".tmp-{name}-{random:016x}"))
}

/// Replaces the file at `path` (or creates it) with `bytes`, mode 0600.
///
/// On disk when it returns: the new bytes under `path`; with [`Durability::Data`] they and the directory entry
/// are synced. After an error the old file stands, or, when only the last sync failed, the new one.
///
/// # Errors
/// The step that failed, with its path. A temporary file that could not be removed either is left behind; its
/// name is that of [`temp_name`].
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    replace_through(&temp_name(path), path, bytes, durability)
}

/// The same by a temporary file of this name, which must be free, in the same directory.
///
/// # Errors
/// As [`replace`].
pub fn replace_through(temp: &Path, path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    fill(temp, bytes, durability)?;
    rename(temp, path).and_then(|()| sync_entry(path, durability)).inspect_err(|_| discard(temp))
}

/// Makes a file that must not be there, mode 0600, whole or not at all.
///
/// On disk when it returns: as after [`replace`]. After an error there is no file, or, when only the last sync failed,
/// there is.
///
/// # Errors
/// As [`replace`]; where there is a file already, the kind is [`io::ErrorKind::AlreadyExists`].
pub fn create(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    let temp = temp_name(path);
    fill(&temp, bytes, durability)?;
    rename_new(&temp, path).and_then(|()| sync_entry(path, durability)).inspect_err(|_| discard(&temp))
}

/// The same, but the file that is replaced is kept beside the new one, under a name of [`temp_name`], for a caller that
/// has to see what it replaced and removes it then. `None`: there was no file, or the file system cannot swap two.
///
/// # Errors
/// As [`replace`]; nothing is kept then.
pub fn replace_keeping(path: &Path, bytes: &[u8], durability: Durability) -> Result<Option<PathBuf>, DiskError> {
    let temp = temp_name(path);
    fill(&temp, bytes, durability)?;
    let swapped = match exchange(&temp, path) {
        Ok(()) => Ok(true),
        Err(error) if error.is_unsupported() || error.kind() == io::ErrorKind::NotFound => {
            rename(&temp, path).map(|()| false)
        }
        Err(error) => Err(error),
    };
    let swapped = swapped.and_then(|swapped| sync_entry(path, durability).map(|()| swapped));
    let swapped = swapped.inspect_err(|_| discard(&temp))?;
    Ok(swapped.then_some(temp))
}

/// A temporary file with the bytes in it.
fn fill(temp: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    let file = create_new(temp)?;
    let filled = write(&file, temp, bytes).map_err(DiskError::from).and_then(|()| durability.sync_data(&file, temp));
    filled.inspect_err(|_| discard(temp))
}

/// The first error is the one to tell; a stray temporary file is harmless and is swept later.
fn discard(temp: &Path) {
    drop(remove_file(temp));
}

fn sync_entry(path: &Path, durability: Durability) -> Result<(), DiskError> {
    let Some(dir) = path.parent() else { return Ok(()) };
    durability.sync_dir(if dir.as_os_str().is_empty() { Path::new(".") } else { dir })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_replaced_can_be_looked_at() -> Result<(), DiskError> {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("meta.json");
        assert_eq!(replace_keeping(&path, b"old", Durability::Data)?, None);
        let kept = replace_keeping(&path, b"new", Durability::Data)?.expect("there was a file");
        assert_eq!(fs::read(&kept).expect("it is there"), b"old");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 2);
        Ok(())
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("turn");
        create(&path, b"one", Durability::Data).expect("the name is free");
        let refused = create(&path, b"two", Durability::Data).expect_err("it is taken");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("it is there"), b"one");
        assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 1, "no temporary file is left");
    }
}
