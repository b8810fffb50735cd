//! Bytes on their way to the disk.

use super::gated;
use crate::gate::pass;
use crate::pass::Pass;
use crate::{DiskError, Op, ShortAppend, ShortWrite};
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{self, Fault};
    use crate::open_append;
    use std::fs;

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
}
