//! The operations, one function each. All take the path for the sake of the error, also where a descriptor does the work.

use crate::gate::{Pass, pass};
use crate::{DiskError, Op, ShortAppend, ShortWrite};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

fn gated<T>(op: Op, path: &Path, act: impl FnOnce() -> io::Result<T>) -> Result<T, DiskError> {
    pass(op, path)?;
    act().map_err(|source| DiskError::new(op, path, source))
}

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
        match open.open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let made = open.create_new(true).mode(FILE_MODE).open(path);
        match made {
            Ok(file) => {
                file.set_permissions(Permissions::from_mode(FILE_MODE))?;
                Ok(file)
            }
            // Somebody else made it between the two calls: that one is as good.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open.create_new(false).open(path),
            Err(error) => Err(error),
        }
    })
}

/// Writes all bytes at the descriptor's place, in as few system calls as the system allows (one, but for a full
/// disk, a file size limit or a signal).
///
/// # Errors
/// [`ShortWrite`] says how many bytes did reach the file.
///
/// A process over its `RLIMIT_FSIZE` is killed by `SIGXFSZ` unless it ignores that signal; with the signal
/// ignored the write fails like one on a full disk.
pub fn write(mut file: &File, path: &Path, bytes: &[u8]) -> Result<(), ShortWrite> {
    let wanted = bytes.len() as u64;
    let fail = |written: usize, error| ShortWrite { written: written as u64, wanted, error };
    let (upto, planned) = match pass(Op::Write, path).map_err(|error| fail(0, error))? {
        Pass::Whole => (bytes.len(), None),
        Pass::Half { error } => (bytes.len() / 2, Some(error)),
    };
    let mut written = 0;
    while written < upto {
        match file.write(&bytes[written..upto]) {
            Ok(0) => {
                let source = io::Error::from(io::ErrorKind::WriteZero);
                return Err(fail(written, DiskError::new(Op::Write, path, source)));
            }
            Ok(n) => written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(fail(written, DiskError::new(Op::Write, path, source))),
        }
    }
    planned.map_or(Ok(()), |error| Err(fail(written, error)))
}

/// Appends all bytes with one system call, and says at which offset they stand.
///
/// The descriptor must be in append mode. The kernel then takes the end of the file and puts the bytes there in one
/// step, so that no other appender's bytes come between them; a second call for a rest could not promise that, and
/// is therefore not made.
///
/// # Errors
/// [`ShortAppend`] says where the bytes stand that did reach the file.
pub fn append(mut file: &File, path: &Path, bytes: &[u8]) -> Result<u64, ShortAppend> {
    let wanted = bytes.len() as u64;
    let fail = |offset, written, error| ShortAppend { offset, written, wanted, error };
    let (upto, planned) = match pass(Op::Write, path).map_err(|error| fail(0, 0, error))? {
        Pass::Whole => (bytes.len(), None),
        Pass::Half { error } => (bytes.len() / 2, Some(error)),
    };
    let told = |source| DiskError::new(Op::Write, path, source);
    let written = loop {
        match file.write(&bytes[..upto]) {
            Ok(written) => break written as u64,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(fail(0, 0, told(source))),
        }
    };
    // The kernel leaves the descriptor's place at the end of what it wrote.
    let end = file.stream_position().map_err(|source| fail(0, written, told(source)))?;
    let offset = end.saturating_sub(written);
    match planned {
        Some(error) => Err(fail(offset, written, error)),
        None if written < wanted => Err(fail(offset, written, told(io::ErrorKind::WriteZero.into()))),
        None => Ok(offset),
    }
}

/// Overwrites bytes at an offset. The descriptor must not be in append mode, or Linux appends instead.
///
/// # Errors
/// Whatever the system says; a part of the bytes may be written.
pub fn write_at(file: &File, path: &Path, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
    gated(Op::Write, path, || file.write_all_at(bytes, offset))
}

/// Cuts an open file to a length. Only for files that are information, never for a history.
///
/// # Errors
/// Whatever the system says.
pub fn truncate(file: &File, path: &Path, len: u64) -> Result<(), DiskError> {
    gated(Op::Truncate, path, || file.set_len(len))
}

/// Brings the file's bytes and its length to the disk (`fdatasync`).
///
/// # Errors
/// Whatever the system says. After a failed sync the state of the unsynced bytes is unknown.
pub fn sync_data(file: &File, path: &Path) -> Result<(), DiskError> {
    gated(Op::Sync, path, || file.sync_data())
}

/// Brings a directory's entries to the disk.
///
/// # Errors
/// Whatever the system says.
pub fn sync_dir(path: &Path) -> Result<(), DiskError> {
    gated(Op::SyncDir, path, || File::open(path)?.sync_all())
}

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
    use crate::faults::{self, Fault};

    #[test]
    fn an_append_says_where_its_bytes_stand_also_when_only_a_part_of_them_does() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("x");
        fs::write(&path, "old").expect("there is room");
        let file = open_append(&path).expect("it is there");
        assert_eq!(append(&file, &path, b"new").expect("there is room"), 3);
        // Another appender moves the end under this descriptor.
        append(&open_append(&path).expect("it is there"), &path, b"!").expect("there is room");
        let run = faults::with(Fault::Full { at: 0 }, || append(&file, &path, b"abcd"));
        let short = run.result.expect_err("the disk is full");
        assert_eq!((short.offset, short.written, short.wanted), (7, 2, 4));
        assert_eq!(fs::read(&path).expect("it is there"), b"oldnew!ab");
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
