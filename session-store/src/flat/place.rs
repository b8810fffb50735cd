//! Building a history in staging, and giving it its name.

use crate::flock::{names, try_exclusive};
use crate::paths::{staging_path, with_suffix};
use crate::{Durability, HistoryView, Result, SessionPaths, StoreError};
use session_core::SessionName;
use session_disk::{
    DiskError, create_dir_all, create_new, ensure_dir, hard_link, remove_file, rename, rename_new, temp_name, write,
};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Names to try for a flat file that was migrated.
const MIGRATED_NAMES: usize = 100;

/// Writes a file in the store's staging area. On disk when it returns: the file, synced as the durability says.
pub(super) fn stage(base: &Path, name: &SessionName, bytes: &[u8], durability: Durability) -> Result<PathBuf> {
    let staging = staging_path(base);
    create_dir_all(&staging)?;
    let staged = temp_name(&staging.join(name));
    let file = create_new(&staged)?;
    let filled =
        write(&file, &staged, bytes).map_err(DiskError::from).and_then(|()| durability.sync_data(&file, &staged));
    match filled {
        Ok(()) => Ok(staged),
        Err(error) => {
            unstage(&staged);
            Err(error.into())
        }
    }
}

/// Removes a file from staging, if a rename did not take it.
pub(super) fn unstage(staged: &Path) {
    // What is left in staging may be removed at any time, so this needs no success.
    drop(remove_file(staged));
}

/// Gives a staged file the history's name, unless one has it already.
pub(super) fn link(staged: &Path, base: &Path, paths: &SessionPaths, durability: Durability) -> Result<()> {
    if !ensure_dir(paths.dir())? && !paths.dir().symlink_metadata().map_err(StoreError::read(paths.dir()))?.is_dir() {
        return Err(StoreError::NotADirectory { path: paths.dir().to_owned() });
    }
    match hard_link(staged, &paths.history()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        // A file system without hard links.
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            rename_new(staged, &paths.history())?;
        }
        linked => linked?,
    }
    durability.sync_dir(paths.dir())?;
    Ok(durability.sync_dir(base)?)
}

/// Whether the history is nothing but the beginning of `whole`. `None` where it was cut meanwhile: the next look sees what
/// it is now.
pub(super) fn is_prefix(history: &HistoryView, file: &File, whole: &[u8]) -> Result<Option<bool>> {
    let len = usize::try_from(history.len_bytes()).unwrap_or(usize::MAX);
    let Some(start) = whole.get(..len) else { return Ok(Some(false)) };
    let mut bytes = vec![0; len];
    match file.read_exact_at(&mut bytes, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        read => history.told(read).map(|()| Some(bytes == start)),
    }
}

/// Puts a staged file where an incomplete history is, if that still is what was looked at.
pub(super) fn exchange(
    staged: &Path,
    history: &HistoryView,
    file: &File,
    paths: &SessionPaths,
    durability: Durability,
) -> Result<()> {
    // Our own writers hold this lock, and look at the inode once they have it.
    if !try_exclusive(file, history.path())? || !names(history.path(), file)? {
        return Ok(());
    }
    if history.told(file.metadata())?.len() != history.len_bytes() {
        return Ok(());
    }
    rename(staged, history.path())?;
    Ok(durability.sync_dir(paths.dir())?)
}

/// Renames a flat file whose history is complete, once that is on the disk, whoever wrote it. A flat file that cannot get a
/// free name stays: nothing depends on its being renamed.
pub(super) fn rename_away(
    flat: &Path,
    target: &Path,
    paths: &SessionPaths,
    history: &File,
    durability: Durability,
) -> Result<()> {
    durability.sync_data(history, &paths.history())?;
    durability.sync_dir(paths.dir())?;
    for number in 1..=MIGRATED_NAMES {
        let target = match number {
            1 => target.to_owned(),
            n => PathBuf::from(with_suffix(target.as_os_str(), &format!(".{n}"))),
        };
        match rename_new(flat, &target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // The reference, or another of ours, was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // Who may not rename it may open the session all the same.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) =>
            {
                return Ok(());
            }
            renamed => {
                renamed?;
                return Ok(target.parent().map_or(Ok(()), |base| durability.sync_dir(base))?);
            }
        }
    }
    Ok(())
}
