//! A directory in which others work at the same time: what is in it, and keeping hold of it. What goes away meanwhile is not
//! there.
//!
//! What a session keeps in a directory of its own is reached by [`own`] or [`make_own`] alone, so that no verb reads,
//! moves or removes what a link in that place leads to.

use crate::{Durability, Result, SessionPaths, StoreError};
use nix::libc::{O_DIRECTORY, O_PATH};
use session_disk::{ensure_dir, is_absent};
use std::fs::{self, DirEntry, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The directory inside a session's to which these names lead. None of them may be a symbolic link: what is behind one is
/// not the session's. That something has the name is not asked.
///
/// # Errors
/// [`StoreError::Escapes`].
pub(crate) fn own(paths: &SessionPaths, names: &[impl AsRef<Path>]) -> Result<PathBuf> {
    let mut dir = paths.dir().to_owned();
    for name in names {
        dir.push(name);
        if dir.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(StoreError::Escapes { path: dir });
        }
    }
    Ok(dir)
}

/// The same, made where it is missing. On disk when it returns: the directory; if it is new its entry is synced as the
/// durability says.
///
/// # Errors
/// [`StoreError::Escapes`]; [`StoreError::Disk`], of the kind `NotFound` where the directory above is missing.
pub(crate) fn make_own(paths: &SessionPaths, names: &[impl AsRef<Path>], durability: Durability) -> Result<PathBuf> {
    let dir = own(paths, names)?;
    if ensure_dir(&dir)? {
        durability.sync_dir(dir.parent().unwrap_or(paths.dir()))?;
    }
    Ok(dir)
}

/// What is directly in a directory, by name. Where there is no directory, nothing is in it.
///
/// # Errors
/// [`StoreError::Read`].
pub(crate) fn entries(dir: &Path) -> Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::read(dir)(source)),
    };
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>().map_err(StoreError::read(dir))?;
    entries.sort_by_key(DirEntry::file_name);
    Ok(entries)
}

/// The same with what each is: a link itself, and not what it points to.
///
/// # Errors
/// [`StoreError::Read`].
pub(crate) fn nodes(dir: &Path) -> Result<Vec<(DirEntry, Metadata)>> {
    let mut nodes = Vec::new();
    for entry in entries(dir)? {
        match entry.metadata() {
            Ok(metadata) => nodes.push((entry, metadata)),
            Err(error) if is_absent(&error) => {}
            Err(source) => return Err(StoreError::read(&entry.path())(source)),
        }
    }
    Ok(nodes)
}

/// The regular files directly in a directory, by name.
///
/// # Errors
/// [`StoreError::Read`].
pub(crate) fn files(dir: &Path) -> Result<Vec<(PathBuf, Metadata)>> {
    let files = nodes(dir)?.into_iter().filter(|(_, metadata)| metadata.is_file());
    Ok(files.map(|(entry, metadata)| (entry.path(), metadata)).collect())
}

/// A directory by its inode, which is not given to another one as long as this is kept. It takes no permission to read.
///
/// # Errors
/// What the system says, also where it is no directory.
pub(crate) fn hold(dir: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(O_PATH | O_DIRECTORY).open(dir)
}
