//! One name in the cache, 76 bytes.

use crate::Oid;
use crate::skipped::SkipReason;
use nix::sys::stat::FileStat;

pub(super) const ENTRY_LEN: usize = 76;
pub(super) const DIR_LEN: usize = 40;

/// The file was touched so close to the snapshot that a later change might leave the same stamp.
pub(crate) const FLAG_RACY: u8 = 1;
/// The file changed while it was read.
pub(crate) const FLAG_UNSTABLE: u8 = 2;
/// What is excluded or skipped is a directory.
pub(crate) const FLAG_WAS_DIR: u8 = 4;

/// What a name was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Exec,
    Link,
    Dir,
    /// Excluded by a rule: neither looked at nor reported.
    Excluded,
    /// Not stored, and reported.
    Skipped(SkipReason),
    /// Another repository's own directory or file.
    GitDir,
}

impl EntryKind {
    /// Whether it has a content of its own in the store.
    pub(crate) fn is_stored(self) -> bool {
        matches!(self, EntryKind::File | EntryKind::Exec | EntryKind::Link)
    }

    fn codes(self) -> (u8, u8) {
        match self {
            EntryKind::File => (0, 0),
            EntryKind::Exec => (1, 0),
            EntryKind::Link => (2, 0),
            EntryKind::Dir => (3, 0),
            EntryKind::Excluded => (4, 0),
            EntryKind::Skipped(reason) => (5, reason.code()),
            EntryKind::GitDir => (6, 0),
        }
    }

    fn from_codes(kind: u8, reason: u8) -> Self {
        match (kind, SkipReason::from_code(reason)) {
            (0, _) => EntryKind::File,
            (1, _) => EntryKind::Exec,
            (2, _) => EntryKind::Link,
            (3, _) => EntryKind::Dir,
            (5, Some(reason)) => EntryKind::Skipped(reason),
            (6, _) => EntryKind::GitDir,
            // Excluded; and what a checksummed file of this version cannot hold.
            _ => EntryKind::Excluded,
        }
    }
}

/// What tells that a file has not changed since it was hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) ino: u64,
}

impl Stamp {
    pub(crate) fn of(stat: &FileStat) -> Self {
        // Times beyond the year 2262 wrap around, which still tells them apart.
        let ns = |s: i64, ns: i64| s.wrapping_mul(1_000_000_000).wrapping_add(ns);
        Stamp {
            mode: stat.st_mode,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ns: ns(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: ns(stat.st_ctime, stat.st_ctime_nsec),
            ino: stat.st_ino,
        }
    }

    /// Whether a change after this stamp, made no earlier than `start_ns`, could leave the same stamp: the clock of the
    /// file system ticks coarsely, in whole seconds on some.
    pub(crate) fn is_racy(&self, start_ns: i64) -> bool {
        let whole = self.mtime_ns % 1_000_000_000 == 0 && self.ctime_ns % 1_000_000_000 == 0;
        let margin = if whole { 2_000_000_000 } else { 20_000_000 };
        self.mtime_ns.max(self.ctime_ns).saturating_add(margin) >= start_ns
    }
}

/// An entry, by value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) flags: u8,
    /// The directory's number, of a directory.
    pub(crate) child: u32,
    pub(crate) stamp: Stamp,
    pub(crate) oid: Oid,
}

impl Entry {
    /// An entry without stamp or content.
    pub(crate) fn bare(kind: EntryKind, flags: u8) -> Self {
        Entry { kind, flags, child: 0, stamp: Stamp::default(), oid: Oid::ZERO }
    }

    pub(super) fn name_range(bytes: &[u8]) -> (usize, usize) {
        (get_u32(bytes, 0) as usize, usize::from(u16::from_le_bytes([bytes[4], bytes[5]])))
    }

    pub(super) fn read(bytes: &[u8]) -> Self {
        Entry {
            kind: EntryKind::from_codes(bytes[6], bytes[7]),
            flags: bytes[8],
            child: get_u32(bytes, 12),
            stamp: Stamp {
                mode: get_u32(bytes, 16),
                size: get_u64(bytes, 24),
                mtime_ns: get_u64(bytes, 32).cast_signed(),
                ctime_ns: get_u64(bytes, 40).cast_signed(),
                ino: get_u64(bytes, 48),
            },
            oid: Oid::from_slice(&bytes[56..76]).expect("twenty bytes"),
        }
    }

    pub(super) fn write(&self, name_at: u32, name_len: u16, out: &mut Vec<u8>) {
        let (kind, reason) = self.kind.codes();
        out.extend_from_slice(&name_at.to_le_bytes());
        out.extend_from_slice(&name_len.to_le_bytes());
        out.extend_from_slice(&[kind, reason, self.flags, 0, 0, 0]);
        out.extend_from_slice(&self.child.to_le_bytes());
        out.extend_from_slice(&self.stamp.mode.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&self.stamp.size.to_le_bytes());
        out.extend_from_slice(&self.stamp.mtime_ns.to_le_bytes());
        out.extend_from_slice(&self.stamp.ctime_ns.to_le_bytes());
        out.extend_from_slice(&self.stamp.ino.to_le_bytes());
        out.extend_from_slice(self.oid.as_bytes());
    }
}

pub(super) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(super) fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(mtime_ns: i64, ctime_ns: i64) -> Stamp {
        Stamp { mtime_ns, ctime_ns, ..Stamp::default() }
    }

    #[test]
    fn ck34_a_stamp_is_racy_by_the_later_of_its_times_and_by_its_grain() {
        const S: i64 = 1_000_000_000;
        assert!(stamp(5, 100 * S + 1).is_racy(100 * S + 20_000_000));
        assert!(!stamp(5, 100 * S + 1).is_racy(100 * S + 20_000_002));
        // A file system with whole seconds, or two-second steps: the margin covers a step.
        assert!(stamp(100 * S, 100 * S).is_racy(102 * S));
        assert!(!stamp(100 * S, 100 * S).is_racy(102 * S + 1));
        // The clock went back: the file lies in the future, and is hashed again each time.
        assert!(stamp(500 * S + 1, 3).is_racy(100 * S));
    }

    #[test]
    fn entries_read_back() {
        let entry = Entry {
            kind: EntryKind::Skipped(SkipReason::TooBig),
            flags: FLAG_RACY | FLAG_WAS_DIR,
            child: 9,
            stamp: Stamp { mode: 1, size: u64::MAX, mtime_ns: -5, ctime_ns: i64::MAX, ino: 7 },
            oid: crate::oid::hash(crate::oid::Kind::Blob, b"x"),
        };
        let mut bytes = Vec::new();
        entry.write(3, 4, &mut bytes);
        assert_eq!((bytes.len(), Entry::name_range(&bytes)), (ENTRY_LEN, (3, 4)));
        assert_eq!(format!("{:?}", Entry::read(&bytes)), format!("{entry:?}"));
    }
}
