//! Pack indexes, version 2: which object is where.

use crate::Oid;
use sha1::{Digest as _, Sha1};

const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
const TABLES: usize = 8 + 256 * 4;
const LARGE: u32 = 1 << 31;

/// One object of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) oid: Oid,
    /// The CRC-32 of the entry's bytes as they stand in the pack.
    pub(crate) crc: u32,
    /// Where the entry begins.
    pub(crate) offset: u64,
}

/// The bytes of an index for these entries, which are sorted here, as `git index-pack` writes them.
pub(crate) fn encode(entries: &mut [IndexEntry], pack_checksum: [u8; 20]) -> Vec<u8> {
    entries.sort_unstable_by_key(|entry| entry.oid);
    let mut out = Vec::with_capacity(TABLES + entries.len() * 28 + 40);
    out.extend_from_slice(&MAGIC);
    let mut count = 0_u32;
    let mut rest = entries.iter().peekable();
    for first in 0..=255_u8 {
        while rest.next_if(|entry| entry.oid.as_bytes()[0] == first).is_some() {
            count += 1;
        }
        out.extend_from_slice(&count.to_be_bytes());
    }
    entries.iter().for_each(|entry| out.extend_from_slice(entry.oid.as_bytes()));
    entries.iter().for_each(|entry| out.extend_from_slice(&entry.crc.to_be_bytes()));
    let mut large = Vec::new();
    for entry in &*entries {
        let small = u32::try_from(entry.offset).ok().filter(|offset| *offset < LARGE);
        let word = small.unwrap_or_else(|| {
            large.push(entry.offset);
            LARGE | u32::try_from(large.len() - 1).expect("an index has fewer than 2^31 objects")
        });
        out.extend_from_slice(&word.to_be_bytes());
    }
    large.iter().for_each(|offset| out.extend_from_slice(&offset.to_be_bytes()));
    out.extend_from_slice(&pack_checksum);
    let sum: [u8; 20] = Sha1::digest(&out).into();
    out.extend_from_slice(&sum);
    out
}

/// An index, looked into in place.
#[derive(Debug)]
pub(crate) struct Index {
    bytes: Vec<u8>,
    count: usize,
}

impl Index {
    /// An index from a file's bytes; `None` where they are not a whole one.
    pub(crate) fn parse(bytes: Vec<u8>) -> Option<Self> {
        if bytes.get(..8)? != MAGIC {
            return None;
        }
        let count = be32(&bytes, TABLES - 4)? as usize;
        (bytes.len() >= TABLES + count * 28 + 40).then_some(Index { bytes, count })
    }

    /// Whether the checksum over the index itself holds.
    pub(crate) fn is_whole(&self) -> bool {
        let (body, sum) = self.bytes.split_at(self.bytes.len() - 20);
        <[u8; 20]>::from(Sha1::digest(body)) == sum
    }

    /// The checksum of the pack that this index belongs to.
    pub(crate) fn pack_checksum(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - 40..self.bytes.len() - 20]
    }

    fn oid(&self, n: usize) -> Oid {
        let at = TABLES + n * 20;
        Oid::from_slice(&self.bytes[at..at + 20]).expect("twenty bytes")
    }

    fn entry(&self, n: usize) -> Option<IndexEntry> {
        let crcs = TABLES + self.count * 20;
        let offsets = crcs + self.count * 4;
        let word = be32(&self.bytes, offsets + n * 4)?;
        let offset = if word & LARGE == 0 {
            u64::from(word)
        } else {
            let at = offsets + self.count * 4 + (word & !LARGE) as usize * 8;
            u64::from_be_bytes(self.bytes.get(at..at + 8)?.try_into().ok()?)
        };
        Some(IndexEntry { oid: self.oid(n), crc: be32(&self.bytes, crcs + n * 4)?, offset })
    }

    /// Whether the pack holds this object.
    pub(crate) fn contains(&self, oid: Oid) -> bool {
        self.find(oid).is_some()
    }

    /// Where this object begins in the pack.
    pub(crate) fn offset(&self, oid: Oid) -> Option<u64> {
        Some(self.entry(self.find(oid)?)?.offset)
    }

    fn find(&self, oid: Oid) -> Option<usize> {
        let first = usize::from(oid.as_bytes()[0]);
        let fan = |n: usize| be32(&self.bytes, 8 + n * 4).unwrap_or(0) as usize;
        let mut low = if first == 0 { 0 } else { fan(first - 1) };
        let mut high = fan(first).min(self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.oid(middle).cmp(&oid) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All objects, sorted by id; an entry that does not read ends the list.
    pub(crate) fn entries(&self) -> impl Iterator<Item = IndexEntry> + '_ {
        (0..self.count).map_while(|n| self.entry(n))
    }
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oid::{Kind, hash};

    #[test]
    fn entries_read_back_with_offsets_beyond_31_bits() {
        let mut entries: Vec<IndexEntry> = (0..1000_u32)
            .map(|n| IndexEntry {
                oid: hash(Kind::Blob, &n.to_le_bytes()),
                crc: n,
                offset: if n % 7 == 0 { u64::from(n) << 32 } else { u64::from(n) },
            })
            .collect();
        let index = Index::parse(encode(&mut entries, [7; 20])).expect("its own bytes");
        assert!(index.is_whole());
        assert_eq!(index.pack_checksum(), [7; 20]);
        assert_eq!(index.entries().collect::<Vec<_>>(), entries);
        assert!(entries.iter().all(|entry| index.offset(entry.oid) == Some(entry.offset)));
        assert!(!index.contains(hash(Kind::Tree, b"")));
    }

    #[test]
    fn a_cut_index_is_none_and_a_flipped_bit_is_seen() {
        let mut entries = [IndexEntry { oid: hash(Kind::Blob, b""), crc: 1, offset: 12 }];
        let bytes = encode(&mut entries, [0; 20]);
        assert!((0..bytes.len()).all(|cut| Index::parse(bytes[..cut].to_vec()).is_none()));
        let mut flipped = bytes;
        flipped[TABLES + 3] ^= 1;
        assert!(!Index::parse(flipped).expect("the length is right").is_whole());
    }
}
