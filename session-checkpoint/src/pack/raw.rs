//! A pack's entries as raw bytes: for copying, and for finding out which are damaged.

use super::entry::{EntryKind, parse_header};
use super::index::{Index, IndexEntry};
use crate::error::reading;
use crate::{Error, Oid};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// What is wrong with a pack as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The index is cut, changed, or missing.
    Index,
    /// The pack is cut, changed, or missing.
    Pack,
}

/// A pack with its index, open for reading.
pub(crate) struct RawPack {
    path: PathBuf,
    file: File,
    len: u64,
    /// Sorted by place, so that an entry ends where the next one begins.
    entries: Vec<IndexEntry>,
}

impl RawPack {
    pub(crate) fn open(path: &Path, index: &Index) -> Result<Self, Error> {
        let file = File::open(path).map_err(reading(path))?;
        let len = file.metadata().map_err(reading(path))?.len();
        let mut entries: Vec<IndexEntry> = index.entries().collect();
        entries.sort_unstable_by_key(|entry| entry.offset);
        Ok(RawPack { path: path.to_owned(), file, len, entries })
    }

    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn oid(&self, n: usize) -> Oid {
        self.entries[n].oid
    }

    /// The number of the entry that begins at an offset.
    pub(crate) fn at(&self, offset: u64) -> Option<usize> {
        self.entries.binary_search_by_key(&offset, |entry| entry.offset).ok()
    }

    /// The length in bytes of the n-th entry in the order of places.
    pub(crate) fn entry_len(&self, n: usize) -> u64 {
        let end = self.entries.get(n + 1).map_or(self.len.saturating_sub(20), |next| next.offset);
        end.saturating_sub(self.entries[n].offset)
    }

    /// The n-th entry's bytes; `None` where they are not what the index promised.
    pub(crate) fn read(&self, n: usize, buffer: &mut Vec<u8>) -> Result<Option<EntryKind>, Error> {
        let entry = self.entries[n];
        let len = self.entry_len(n);
        if len == 0 || entry.offset.checked_add(len).is_none_or(|end| end + 20 > self.len) {
            return Ok(None);
        }
        buffer.resize(usize::try_from(len).expect("an entry fits in memory, or it could not have been written"), 0);
        self.file.read_exact_at(buffer, entry.offset).map_err(reading(&self.path))?;
        if crc32fast::hash(buffer) != entry.crc {
            return Ok(None);
        }
        Ok(parse_header(buffer).map(|(kind, _, _)| kind))
    }
}

/// Reads a whole pack and compares it with its checksums.
pub(crate) fn content_is_whole(pack: &Path, index: &Index) -> Result<(), Damage> {
    if !index.is_whole() {
        return Err(Damage::Index);
    }
    let whole = || -> Option<bool> {
        let file = File::open(pack).ok()?;
        let len = file.metadata().ok()?.len().checked_sub(20)?;
        let mut trailer = [0; 20];
        file.read_exact_at(&mut trailer, len).ok()?;
        Some(trailer == index.pack_checksum() && sha1_of_prefix(pack, len)? == trailer)
    };
    if whole() == Some(true) { Ok(()) } else { Err(Damage::Pack) }
}

fn sha1_of_prefix(path: &Path, len: u64) -> Option<[u8; 20]> {
    use sha1::{Digest as _, Sha1};
    use std::io::Read as _;
    let mut rest = File::open(path).ok()?.take(len);
    let mut sha = Sha1::new();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match rest.read(&mut buffer).ok()? {
            0 => return Some(sha.finalize().into()),
            n => sha.update(&buffer[..n]),
        }
    }
}
