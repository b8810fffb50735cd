//! Directories and files that are made, or opened to be written to: private ones, and never through a link.

use super::gated;
use crate::{DiskError, Op};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// How often a file that comes and goes is tried. No two processes are in step for so long.
const MAX_TRIES: u32 = 1_000;

const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// Creates one directory, mode 0700. On disk when it returns: the directory; its entry is not synced.
///
/// # Errors
/// `AlreadyExists` where anything has that name, and whatever the system says otherwise.
pub fn create_dir(path: &Path) -> Result<(), DiskError> {
    gated(Op::Create, path, || {
        DirBuilder::new().mode(DIR_MODE).create(path)?;
        // The umask can only take bits away; 0700 loses its own bits only under a umask that locks us out.
        fs::set_permissions(path, Permissions::from_mode(DIR_MODE))
    })
}

/// Creates one directory, mode 0700, unless something has the name, be it no directory. True: it was made. On disk when
/// it returns: something under that name; the entry of a new directory is not synced.
///
/// # Errors
/// `NotFound` where the directory above does not exist; whatever the system says otherwise.
pub fn ensure_dir(path: &Path) -> Result<bool, DiskError> {
    match create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a directory and the missing ones above it, each mode 0700. One that exists is left as it is.
///
/// # Errors
/// Whatever the system says, with the path that could not be made.
pub fn create_dir_all(path: &Path) -> Result<(), DiskError> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_dir_all(parent)?;
    }
    match create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// Creates a file that must not exist, mode 0600, open for reading and writing. Its entry is not synced.
///
/// # Errors
/// `AlreadyExists` where anything, a dangling link included, has that name.
pub fn create_new(path: &Path) -> Result<File, DiskError> {
    gated(Op::Create, path, || {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)?;
        file.set_permissions(Permissions::from_mode(FILE_MODE))?;
        Ok(file)
    })
}

/// Opens an existing regular file for reading and appending; never creates, never follows a final link.
///
/// # Errors
/// `NotFound` where it does not exist; whatever the system says otherwise.
pub fn open_append(path: &Path) -> Result<File, DiskError> {
    gated(Op::Open, path, || OpenOptions::new().read(true).append(true).custom_flags(nix::libc::O_NOFOLLOW).open(path))
}

/// Opens an existing file for reading and overwriting, not for appending; never creates, never follows a final link.
///
/// # Errors
/// `NotFound` where it does not exist; whatever the system says otherwise.
pub fn open_existing(path: &Path) -> Result<File, DiskError> {
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    gated(Op::Open, path, || OpenOptions::new().read(true).write(true).custom_flags(flags).open(path))
}

/// Opens a file for reading and writing, creating it with mode 0600 where it is missing; never follows a final link.
///
/// # Errors
/// Whatever the system says.
pub fn open_private(path: &Path) -> Result<File, DiskError> {
    gated(Op::Open, path, || {
        let mut open = OpenOptions::new();
        open.read(true).write(true).custom_flags(nix::libc::O_NOFOLLOW);
        let mut tries = 0;
        loop {
            tries += 1;
            match open.create_new(false).open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && tries < MAX_TRIES => {}
                other => return other,
            }
            match open.create_new(true).mode(FILE_MODE).open(path) {
                Ok(file) => {
                    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
                    return Ok(file);
                }
                // Somebody else made it between the two calls, and that one is as good, unless it is gone again: the
                // reference makes and removes its lock.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn a_directory_is_made_once_and_what_has_its_name_is_left_alone() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (new, file) = (dir.path().join("new"), dir.path().join("file"));
        assert!(ensure_dir(&new).expect("the name is free"));
        assert_eq!(fs::metadata(&new).expect("it is there").permissions().mode() & 0o777, 0o700);
        assert!(!ensure_dir(&new).expect("it is there"));
        fs::write(&file, "kept").expect("there is room");
        assert!(!ensure_dir(&file).expect("something has the name"));
        assert_eq!(fs::read(&file).expect("it is there"), b"kept");
        symlink("nowhere", dir.path().join("link")).expect("the name is free");
        assert!(!ensure_dir(&dir.path().join("link")).expect("something has the name"));
    }

    #[test]
    fn a_directory_is_not_made_below_one_that_is_missing() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let error = ensure_dir(&dir.path().join("gone/new")).expect_err("the one above is missing");
        assert_eq!((error.op, error.kind()), (Op::Create, io::ErrorKind::NotFound));
    }

    #[test]
    fn a_file_that_others_make_and_remove_in_a_loop_is_opened_all_the_same() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join(".lock");
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        fs::write(&path, "").ok();
                        fs::remove_file(&path).ok();
                    }
                });
            }
            let opened: Vec<_> = (0..50_000).filter_map(|_| open_private(&path).err()).collect();
            over.store(true, Ordering::Relaxed);
            assert!(opened.is_empty(), "{} failed: {}", opened.len(), opened[0]);
        });
    }
}
