//! The good ones among an object's copies: an object whose copy was found damaged is stored again, and stands twice.

use super::entry::{EntryKind, parse_header};
use super::raw::RawPack;
use super::set::PackState;
use crate::Oid;
use crate::oid::{Kind, hash};
use libdeflater::Decompressor;

/// Deflate makes nothing smaller than by this.
const MOST_DEFLATED: u64 = 1032;

/// Packs that are looked into for good copies.
pub(crate) struct Copies<'a> {
    packs: Vec<&'a PackState>,
    /// The pack that was read last: what stands twice mostly stands there together.
    open: Option<(usize, RawPack)>,
    buffer: Vec<u8>,
}

impl<'a> Copies<'a> {
    pub(crate) fn of(packs: impl IntoIterator<Item = &'a PackState>) -> Self {
        Copies { packs: packs.into_iter().collect(), open: None, buffer: Vec::new() }
    }

    /// Whether one of the packs holds the object whole, and its bytes pass their checksum. What cannot be read is no copy,
    /// and neither is a difference to another object.
    pub(crate) fn has(&mut self, oid: Oid) -> bool {
        (0..self.packs.len()).any(|n| self.entry(n, oid).is_some())
    }

    /// The object from a pack that holds it as itself.
    pub(crate) fn read(&mut self, oid: Oid) -> Option<(Kind, Vec<u8>)> {
        (0..self.packs.len()).find_map(|n| {
            let kind = self.entry(n, oid)?;
            let content = inflated(&self.buffer)?;
            (hash(kind, &content) == oid).then_some((kind, content))
        })
    }

    /// Reads the entry of an object of the n-th pack into the buffer.
    fn entry(&mut self, n: usize, oid: Oid) -> Option<Kind> {
        let pack = self.packs[n];
        let offset = pack.index()?.offset(oid)?;
        if self.open.as_ref().is_none_or(|(open, _)| *open != n) {
            self.open = Some((n, RawPack::open(&pack.pack_path(), pack.index()?).ok()?));
        }
        let (_, raw) = self.open.as_ref()?;
        match raw.read(raw.at(offset)?, &mut self.buffer) {
            Ok(Some(EntryKind::Whole(kind))) => Some(kind),
            Ok(Some(EntryKind::Delta) | None) | Err(_) => None,
        }
    }
}

fn inflated(entry: &[u8]) -> Option<Vec<u8>> {
    let (_, len, at) = parse_header(entry)?;
    if len > MOST_DEFLATED * entry.len() as u64 {
        return None;
    }
    let mut content = vec![0; usize::try_from(len).ok()?];
    let inflated = Decompressor::new().zlib_decompress(&entry[at..], &mut content).ok()?;
    (inflated == content.len()).then_some(content)
}
