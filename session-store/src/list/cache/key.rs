//! Whether a file is still the one that was read.

use crate::directory::hold;
use nix::fcntl::AtFlags;
use nix::libc::{S_IFDIR, S_IFMT, S_IFREG};
use nix::sys::stat::{FileStat, fstatat};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long after a change a file's times may still be those of before the change: times are as coarse as two seconds
/// on some file systems, and a second change in the same moment leaves no trace.
const COARSE_SECONDS: i64 = 2;

/// A point in time, as seconds since 1970 and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in super::super) struct Moment(pub(super) i64, pub(super) i64);

impl Moment {
    pub(super) fn now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment(i64::try_from(now.as_secs()).unwrap_or(i64::MAX), i64::from(now.subsec_nanos()))
    }
}

/// What tells one state of a file from another without reading it. The time of the last change is there because
/// everybody can set the time of the last write, and nobody that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Key {
    device: u64,
    inode: u64,
    pub(super) size: u64,
    pub(super) modified: Moment,
    changed: Moment,
}

impl Key {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Key {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: Moment(metadata.mtime(), metadata.mtime_nsec()),
            changed: Moment(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn of_stat(stat: &FileStat) -> Self {
        Key {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: Moment(stat.st_mtime, stat.st_mtime_nsec),
            changed: Moment(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether a look at `seen` can be believed: the file had been left alone for a while.
    pub(super) fn had_settled(&self, seen: Moment) -> bool {
        let last = self.modified.max(self.changed);
        last.0.saturating_add(COARSE_SECONDS) < seen.0
    }

    /// Whether the file may have grown from this state to that one, and not have been replaced or changed.
    pub(super) fn may_have_grown_to(&self, now: &Key) -> bool {
        (self.device, self.inode) == (now.device, now.inode) && self.size < now.size
    }
}

/// The store's directory, kept open: from there a look at a session's file takes two steps, and not all those from the
/// root.
#[derive(Debug)]
pub(in super::super) struct Lookout(File);

/// What stands in a place, if it was looked at alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Seen {
    Nothing,
    File(Key),
    Directory(Key),
    /// A link, a FIFO, and what else there is; or nobody can tell.
    Odd,
}

impl Lookout {
    pub(super) fn open(base: &Path) -> io::Result<Self> {
        hold(base).map(Lookout)
    }

    /// Looks at what is called `file` in a session's directory, and follows no link.
    pub(super) fn look(&self, session: &OsStr, file: &str) -> Seen {
        // As a rule the path fits here, and asks for no memory.
        let mut short = [0; 192];
        let parts = [session.as_bytes(), b"/", file.as_bytes()];
        let len = parts.iter().map(|part| part.len()).sum();
        let stat = match short.get_mut(..len) {
            Some(mut path) => {
                for part in parts {
                    path.split_off_mut(..part.len()).expect("it is as long as the parts").copy_from_slice(part);
                }
                fstatat(&self.0, &short[..len], AtFlags::AT_SYMLINK_NOFOLLOW)
            }
            None => fstatat(&self.0, &parts.concat()[..], AtFlags::AT_SYMLINK_NOFOLLOW),
        };
        match stat {
            Ok(stat) if stat.st_mode & S_IFMT == S_IFREG => Seen::File(Key::of_stat(&stat)),
            Ok(stat) if stat.st_mode & S_IFMT == S_IFDIR => Seen::Directory(Key::of_stat(&stat)),
            Err(nix::Error::ENOENT | nix::Error::ENOTDIR) => Seen::Nothing,
            Ok(_) | Err(_) => Seen::Odd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, Moment};

    #[test]
    fn a_file_that_was_written_just_before_it_was_seen_is_not_believed() {
        let key = Key { device: 1, inode: 2, size: 3, modified: Moment(100, 0), changed: Moment(100, 5) };
        assert!(!key.had_settled(Moment(102, 999)));
        assert!(key.had_settled(Moment(103, 0)));
        assert!(!key.had_settled(Moment(50, 0)), "nor one from the future");
        let touched = Key { modified: Moment(7, 0), ..key };
        assert!(!touched.had_settled(Moment(101, 0)), "whoever set its time changed it at another time");
    }
}
