//! One file or link.

use super::Walk;
use super::dir::is_clean;
use crate::cache::{Entry, EntryKind, FLAG_RACY, FLAG_UNSTABLE, Stamp};
use crate::root::{FileKind, is_unreadable, open_file, read_link};
use crate::sink::ObjectSink;
use crate::skipped::SkipReason;
use crate::{Error, Oid};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{fstat, fstatat};
use std::cell::RefCell;
use std::ffi::CStr;
use std::io::Read as _;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// A file that changes while it is read is read this often.
const TRIES: usize = 3;
/// A larger buffer is given back.
const KEEP_BUFFER: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The outcome of reading a file whole.
enum Content {
    /// Read; whether it kept changing meanwhile.
    Whole {
        stamp: Stamp,
        unstable: bool,
    },
    TooBig(Stamp),
    Gone,
}

impl Walk<'_> {
    /// Looks at a name that is no directory, and stores it where it changed; `None` where it is gone.
    pub(super) fn leaf(
        &self,
        dir: BorrowedFd<'_>,
        name: &CStr,
        cached: Option<Entry>,
        path: &dyn Fn() -> PathBuf,
    ) -> Result<Option<Entry>, Error> {
        self.cancel.check()?;
        let now = match fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::ENOENT) => return Ok(None),
            Err(errno) if is_unreadable(errno) => return Ok(Some(skip(SkipReason::Unreadable, Stamp::default()))),
            Err(errno) => return Err(Error::Read { path: path(), source: errno.into() }),
        };
        let stamp = Stamp::of(&now);
        let cached = cached.filter(|entry| entry.kind.is_stored());
        if let Some(entry) = cached.filter(|entry| is_clean(entry, &stamp)) {
            return Ok(Some(entry));
        }
        let known = cached.map(|entry| entry.oid);
        let entry = store_leaf(self.sink, self.options.max_file_bytes, self.start_ns, dir, name, known, path)?;
        if let Some(entry) = &entry {
            self.cancel.read_file(entry.stamp.size);
        }
        Ok(entry)
    }
}

fn skip(reason: SkipReason, stamp: Stamp) -> Entry {
    Entry { stamp, ..Entry::bare(EntryKind::Skipped(reason), 0) }
}

/// Stores a file or link whatever the cache says; `None` where it is gone. A directory is not looked into.
pub(crate) fn store_leaf(
    sink: &ObjectSink<'_>,
    max_bytes: u64,
    start_ns: i64,
    dir: BorrowedFd<'_>,
    name: &CStr,
    known: Option<Oid>,
    path: &dyn Fn() -> PathBuf,
) -> Result<Option<Entry>, Error> {
    let failed = |errno: Errno| match errno {
        Errno::ENOENT => Ok(None),
        errno if is_unreadable(errno) => Ok(Some(SkipReason::Unreadable)),
        errno => Err(Error::Read { path: path(), source: errno.into() }),
    };
    let now = match fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(errno) => return Ok(failed(errno)?.map(|reason| skip(reason, Stamp::default()))),
    };
    let stamp = Stamp::of(&now);
    let racy = |stamp: &Stamp| if stamp.is_racy(start_ns) { FLAG_RACY } else { 0 };
    match FileKind::of(&now) {
        FileKind::Special => Ok(Some(skip(SkipReason::Special, stamp))),
        // It became one since the directory was listed: the next snapshot will see it so.
        FileKind::Dir => Ok(Some(skip(SkipReason::Unreadable, stamp))),
        FileKind::Link => {
            let target = match read_link(dir, name) {
                Ok(target) => target,
                Err(Errno::EINVAL) => return Ok(Some(skip(SkipReason::Unreadable, stamp))),
                Err(errno) => return Ok(failed(errno)?.map(|reason| skip(reason, stamp))),
            };
            let oid = sink.blob(&target, known, path)?;
            Ok(Some(Entry { kind: EntryKind::Link, flags: racy(&stamp), child: 0, stamp, oid }))
        }
        FileKind::File if stamp.size > max_bytes => Ok(Some(skip(SkipReason::TooBig, stamp))),
        FileKind::File => BUFFER.with_borrow_mut(|buffer| {
            let entry = match read_whole(dir, name, max_bytes, buffer) {
                Ok(Content::Whole { stamp, unstable }) => {
                    let oid = sink.blob(buffer, known, path)?;
                    let kind = if stamp.mode & 0o100 == 0 { EntryKind::File } else { EntryKind::Exec };
                    let flags = racy(&stamp) | if unstable { FLAG_RACY | FLAG_UNSTABLE } else { 0 };
                    Some(Entry { kind, flags, child: 0, stamp, oid })
                }
                Ok(Content::TooBig(stamp)) => Some(skip(SkipReason::TooBig, stamp)),
                Ok(Content::Gone) => None,
                Err(errno) => failed(errno)?.map(|reason| skip(reason, stamp)),
            };
            if buffer.capacity() > KEEP_BUFFER {
                *buffer = Vec::new();
            }
            Ok(entry)
        }),
    }
}

/// Reads a file until it was the same before and after, or the tries are used up.
fn read_whole(dir: BorrowedFd<'_>, name: &CStr, max_bytes: u64, buffer: &mut Vec<u8>) -> Result<Content, Errno> {
    let mut last = None;
    for _ in 0..TRIES {
        let mut file = match open_file(dir, name) {
            // A link took its place; the next snapshot will see it so.
            Err(Errno::ENOENT | Errno::ELOOP) => return Ok(Content::Gone),
            other => other?,
        };
        let before = fstat(&file)?;
        if FileKind::of(&before) != FileKind::File {
            return Ok(Content::Gone);
        }
        let before = Stamp::of(&before);
        if before.size > max_bytes {
            return Ok(Content::TooBig(before));
        }
        buffer.clear();
        buffer.reserve(usize::try_from(before.size).map_err(|_| Errno::EFBIG)? + 1);
        let read = file.by_ref().take(max_bytes.saturating_add(1)).read_to_end(buffer);
        read.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(nix::libc::EIO)))?;
        let after = Stamp::of(&fstat(&file)?);
        if buffer.len() as u64 > max_bytes {
            return Ok(Content::TooBig(after));
        }
        if before == after && buffer.len() as u64 == after.size {
            return Ok(Content::Whole { stamp: after, unstable: false });
        }
        last = Some(after);
    }
    Ok(last.map_or(Content::Gone, |stamp| Content::Whole { stamp, unstable: true }))
}
