//! The stat cache: what each name in the workspace was when it was last hashed.
//!
//! The file is read whole and then looked into in place: an unchanged directory costs no allocation, and that is what
//! makes an unchanged workspace cost about one stat per file. It is derived and may be deleted at any time; a checksum,
//! and a header that names everything it depends on, keep a wrong one from being believed.

mod build;
mod entry;
mod header;
mod new_dir;

pub(crate) use build::build;
pub(crate) use entry::{Entry, EntryKind, FLAG_RACY, FLAG_UNSTABLE, FLAG_WAS_DIR, Stamp};
pub(crate) use header::Header;
pub(crate) use new_dir::{NewDir, NewEntry, Node};

use crate::Oid;
use entry::{DIR_LEN, ENTRY_LEN, get_u32, get_u64};
use std::ops::Range;

/// Something below is skipped, unstable, or another repository's directory.
pub(crate) const DIR_NOTES: u8 = 1;
/// An empty directory is here or below.
pub(crate) const DIR_EMPTY: u8 = 2;
/// There is nothing here but directories of which the same is true.
pub(crate) const DIR_BARE: u8 = 4;

/// A cache in memory.
#[derive(Debug)]
pub(crate) struct Cache {
    bytes: Vec<u8>,
    header: Header,
    dirs: usize,
    entries: usize,
    names: usize,
}

/// A directory in the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dir {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) flags: u8,
    /// The key of the rules under which its names were matched.
    pub(crate) rules: u64,
    /// Its tree; `None` where nothing in it is stored.
    pub(crate) tree: Option<Oid>,
}

impl Dir {
    pub(crate) fn range(&self) -> Range<u32> {
        self.first..self.first + self.count
    }
}

impl Cache {
    /// A cache from its bytes; `None` where they are not a whole one of this version.
    pub(crate) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let header = Header::parse(&bytes)?;
        let dirs = header::LEN;
        let entries = dirs + (header.dir_count as usize).checked_mul(DIR_LEN)?;
        let names = entries.checked_add((header.entry_count as usize).checked_mul(ENTRY_LEN)?)?;
        let end = names.checked_add(header.name_bytes as usize)?;
        (end == bytes.len() && header.dir_count > 0).then_some(Cache { bytes, header, dirs, entries, names })
    }

    /// Whether there are so many names that threads are worth starting.
    pub(crate) fn is_large(&self) -> bool {
        self.header.entry_count > 2000
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The whole cache, as it stands in its file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same cache for another set of packs.
    pub(crate) fn with_packs(self, fingerprint: u64) -> Self {
        let header = Header { packs: fingerprint, ..self.header };
        let mut bytes = self.bytes;
        header.write(&mut bytes);
        Cache { bytes, header, ..self }
    }

    /// The contents that it says are stored.
    pub(crate) fn contents(&self) -> impl Iterator<Item = Oid> + '_ {
        let entries = (0..self.header.entry_count).map(|n| self.entry(n));
        entries.filter(|entry| entry.kind.is_stored()).map(|entry| entry.oid)
    }

    /// The trees that it says are stored.
    pub(crate) fn trees(&self) -> impl Iterator<Item = Oid> + '_ {
        (0..self.header.dir_count).filter_map(|n| self.dir(n).tree)
    }

    /// The workspace's own directory: the last one, since each stands behind what is in it.
    pub(crate) fn root(&self) -> u32 {
        self.header.dir_count - 1
    }

    pub(crate) fn dir(&self, n: u32) -> Dir {
        let bytes = &self.bytes[self.dirs + n as usize * DIR_LEN..][..DIR_LEN];
        let tree = Oid::from_slice(&bytes[20..40]).expect("twenty bytes");
        Dir {
            first: get_u32(bytes, 0),
            count: get_u32(bytes, 4),
            flags: bytes[8],
            rules: get_u64(bytes, 12),
            tree: (tree != Oid::ZERO).then_some(tree),
        }
    }

    pub(crate) fn entry(&self, n: u32) -> Entry {
        Entry::read(self.entry_bytes(n))
    }

    fn entry_bytes(&self, n: u32) -> &[u8] {
        &self.bytes[self.entries + n as usize * ENTRY_LEN..][..ENTRY_LEN]
    }

    pub(crate) fn name(&self, n: u32) -> &[u8] {
        let (at, len) = Entry::name_range(self.entry_bytes(n));
        self.bytes.get(self.names + at..self.names + at + len).unwrap_or_default()
    }

    /// The entry of this name in a directory.
    pub(crate) fn find(&self, dir: &Dir, name: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (dir.first, dir.first + dir.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle).cmp(name) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The entry at a path.
    pub(crate) fn lookup(&self, path: &[u8]) -> Option<Entry> {
        let mut dir = self.dir(self.root());
        let mut parts = path.split(|byte| *byte == b'/').peekable();
        loop {
            let entry = self.entry(self.find(&dir, parts.next()?)?);
            match (parts.peek(), entry.kind) {
                (None, _) => return Some(entry),
                (Some(_), EntryKind::Dir) => dir = self.dir(entry.child),
                (Some(_), _) => return None,
            }
        }
    }
}
