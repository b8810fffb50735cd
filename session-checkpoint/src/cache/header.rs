//! What a cache depends on.

use super::entry::{get_u32, get_u64};

const MAGIC: &[u8; 8] = b"SCKPSTAT";
/// Those of version 1 may name objects that a prune dropped, and were made by a walk that told no hidden directories.
const VERSION: u32 = 2;
pub(super) const LEN: usize = 96;
/// The checksum covers everything behind itself.
const SUMMED_FROM: usize = 16;

/// The head of a cache file. A cache is believed only where all of it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Header {
    pub(crate) dir_count: u32,
    pub(crate) entry_count: u32,
    pub(crate) name_bytes: u32,
    /// Whether the objects were synced before the cache was written: if not, a reboot ends its life.
    pub(crate) synced: bool,
    /// Device and inode of the workspace.
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// The key of the rules at the top.
    pub(crate) rules: u64,
    /// The packs that hold the objects.
    pub(crate) packs: u64,
    /// The boot that the stamps are of.
    pub(crate) boot: u128,
}

impl Header {
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..8)? != MAGIC || bytes.len() < LEN || get_u32(bytes, 8) != VERSION {
            return None;
        }
        if crc32fast::hash(&bytes[SUMMED_FROM..]) != get_u32(bytes, 12) {
            return None;
        }
        Some(Header {
            dir_count: get_u32(bytes, 16),
            entry_count: get_u32(bytes, 20),
            name_bytes: get_u32(bytes, 24),
            synced: bytes[28] == 1,
            dev: get_u64(bytes, 32),
            ino: get_u64(bytes, 40),
            rules: get_u64(bytes, 48),
            packs: get_u64(bytes, 56),
            boot: u128::from_le_bytes(bytes[64..80].try_into().expect("sixteen bytes")),
        })
    }

    /// Writes the head, and the checksum over all, into a buffer that has room for it in front.
    pub(super) fn write(&self, bytes: &mut [u8]) {
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.dir_count.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.entry_count.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.name_bytes.to_le_bytes());
        bytes[28] = u8::from(self.synced);
        bytes[32..40].copy_from_slice(&self.dev.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.ino.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.rules.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.packs.to_le_bytes());
        bytes[64..80].copy_from_slice(&self.boot.to_le_bytes());
        let sum = crc32fast::hash(&bytes[SUMMED_FROM..]);
        bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    }
}
