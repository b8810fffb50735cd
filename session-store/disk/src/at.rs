//! The same operations relative to an open directory, for trees that somebody else may rearrange meanwhile.
//!
//! A path is resolved anew at each call, so a directory that was swapped for a symbolic link leads elsewhere. A
//! descriptor does not. These functions take one name inside an open directory, never follow a link, and pass the
//! same gate. Unlike the rest of the crate they write into the *user's* tree: the caller gives the mode.

use crate::gate::pass;
use crate::{DiskError, Op};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::path::Path;

fn gated<T>(op: Op, path: &Path, act: impl FnOnce() -> Result<T, Errno>) -> Result<T, DiskError> {
    pass(op, path)?;
    act().map_err(|errno| DiskError::new(op, path, errno.into()))
}

/// Creates a file that must not exist, open for writing, with `mode` less the umask. `path` is only for the error.
///
/// # Errors
/// `AlreadyExists` where anything has that name.
pub fn create_new(dir: BorrowedFd<'_>, name: &CStr, mode: u32, path: &Path) -> Result<File, DiskError> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    gated(Op::Create, path, || openat(dir, name, flags, Mode::from_bits_truncate(mode))).map(File::from)
}

/// Creates a directory with `mode` less the umask.
///
/// # Errors
/// `AlreadyExists` where anything has that name.
pub fn create_dir(dir: BorrowedFd<'_>, name: &CStr, mode: u32, path: &Path) -> Result<(), DiskError> {
    gated(Op::Create, path, || mkdirat(dir, name, Mode::from_bits_truncate(mode)))
}

/// Creates a symbolic link that holds `target`, which is not looked at.
///
/// # Errors
/// `AlreadyExists` where anything has that name.
pub fn symlink(target: &CStr, dir: BorrowedFd<'_>, name: &CStr, path: &Path) -> Result<(), DiskError> {
    gated(Op::Link, path, || symlinkat(target, dir, name))
}

/// Renames inside one directory, replacing what has the new name (a link itself, never what it points to).
///
/// # Errors
/// Whatever the system says; a directory in the place of a file is an error.
pub fn rename(dir: BorrowedFd<'_>, from: &CStr, to: &CStr, path: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, path, || renameat(dir, from, dir, to))
}

/// Renames out of an open directory to a path, which must be on the same file system.
///
/// # Errors
/// Whatever the system says; `CrossesDevices` where it is not.
pub fn rename_out(dir: BorrowedFd<'_>, from: &CStr, to: &Path) -> Result<(), DiskError> {
    gated(Op::Rename, to, || renameat(dir, from, AT_FDCWD, to))
}

/// Removes a file or a link.
///
/// # Errors
/// Whatever the system says; a directory is an error.
pub fn remove_file(dir: BorrowedFd<'_>, name: &CStr, path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || unlinkat(dir, name, UnlinkatFlags::NoRemoveDir))
}

/// Removes an empty directory.
///
/// # Errors
/// Whatever the system says; `DirectoryNotEmpty` where something is in it.
pub fn remove_dir(dir: BorrowedFd<'_>, name: &CStr, path: &Path) -> Result<(), DiskError> {
    gated(Op::Remove, path, || unlinkat(dir, name, UnlinkatFlags::RemoveDir))
}

/// Sets the permission bits of an open file, whatever the umask is.
///
/// # Errors
/// Whatever the system says.
pub fn set_mode(file: &File, mode: u32, path: &Path) -> Result<(), DiskError> {
    gated(Op::SetMode, path, || fchmod(file, Mode::from_bits_truncate(mode)))
}
