//! The names of files and directories: given, exchanged, taken away.

use super::gated;
use crate::{DiskError, Op};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Renames, replacing what has the new name. Neither directory is synced.
///
/// # Errors
/// Whatever the system says; the path in the error is the new name.
pub fn rename(from: &Path, to: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, to, || fs::rename(from, to))
}

/// Renames to a name that must be free. Neither directory is synced.
///
/// # Errors
/// `AlreadyExists` where anything has the new name.
pub fn rename_new(from: &Path, to: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, to, || {
        renameat2(AT_FDCWD, from, AT_FDCWD, to, RenameFlags::RENAME_NOREPLACE).map_err(io::Error::from)
    })
}

/// Gives a finished file its name, which must be free: what has it already is never replaced. Neither directory is
/// synced.
///
/// # Errors
/// `AlreadyExists` where anything has the new name; whatever the system says otherwise. The file keeps its old name
/// then.
pub fn publish(from: &Path, to: &Path) -> Result<(), DiskError> {
    match rename_new(from, to) {
        // Some file systems cannot rename without replacing. A second name, and then the loss of the first, says the same.
        Err(error) if error.source.raw_os_error() == Some(nix::libc::EINVAL) => {
            hard_link(from, to)?;
            // It has its name; that it has another one as well harms nobody.
            drop(remove_file(from));
            Ok(())
        }
        other => other,
    }
}

/// Swaps two names in one step. Neither directory is synced.
///
/// # Errors
/// Whatever the system says; both must exist on one file system.
pub fn exchange(a: &Path, b: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, b, || renameat2(AT_FDCWD, a, AT_FDCWD, b, RenameFlags::RENAME_EXCHANGE).map_err(io::Error::from))
}

/// Gives the file `from` a second name `to`, which must be free. The directory is not synced.
///
/// # Errors
/// `AlreadyExists` where anything has the new name.
pub fn hard_link(from: &Path, to: &Path) -> Result<(), DiskError> {
    gated(Op::Link, to, || fs::hard_link(from, to))
}

/// Removes a file, or a link itself and never what it points to. The directory is not synced.
///
/// # Errors
/// Whatever the system says.
pub fn remove_file(path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || fs::remove_file(path))
}

/// Removes a file, or a link itself, if there is one. True: it was there. The directory is not synced.
///
/// # Errors
/// Whatever the system says, but for `NotFound`.
pub fn remove_file_if_there(path: &Path) -> Result<bool, DiskError> {
    match remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes an empty directory.
///
/// # Errors
/// Whatever the system says.
pub fn remove_dir(path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || fs::remove_dir(path))
}

/// Removes a directory and everything below it without following a link.
///
/// # Errors
/// Whatever the system says; a part may be gone.
pub fn remove_dir_all(path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || fs::remove_dir_all(path))
}

/// Sets permission bits.
///
/// # Errors
/// Whatever the system says.
pub fn set_mode(path: &Path, mode: u32) -> Result<(), DiskError> {
    gated(Op::SetMode, path, || fs::set_permissions(path, Permissions::from_mode(mode)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_needs_no_removal_and_what_is_no_file_is_told() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        fs::write(&path, "").expect("there is room");
        assert!(remove_file_if_there(&path).expect("it is ours"));
        assert!(!remove_file_if_there(&path).expect("it is gone"));
        assert!(!remove_file_if_there(&path.join("below")).expect("nothing is there"));
        fs::create_dir(&path).expect("the name is free");
        let error = remove_file_if_there(&path).expect_err("it is a directory");
        assert!(error.op == Op::Remove && error.kind() != io::ErrorKind::NotFound && path.exists());
    }

    #[test]
    fn publishing_replaces_nothing() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (from, to) = (dir.path().join(".from"), dir.path().join("to"));
        fs::write(&from, "new").expect("there is room");
        fs::write(&to, "old").expect("there is room");
        let error = publish(&from, &to).expect_err("the name is taken");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&to).expect("it is there"), b"old");
        fs::remove_file(&to).expect("it is there");
        publish(&from, &to).expect("the name is free");
        assert!(fs::read(&to).expect("it is there") == b"new" && !from.exists());
    }
}
