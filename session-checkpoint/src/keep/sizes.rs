//! How many bytes the objects take in their packs.

use crate::locked::Locked;
use crate::pack::RawPack;
use crate::{Error, Oid};
use std::collections::HashMap;

/// Bytes of all packs.
pub(super) fn stored_bytes(locked: &Locked) -> u64 {
    locked.packs.packs.iter().map(|pack| pack.len).sum()
}

/// The bytes that each object takes in its pack, of one pack or of all; and what the packs take beside.
pub(super) fn sizes(locked: &Locked, only: Option<&str>) -> Result<(u64, HashMap<Oid, u64>), Error> {
    let mut sizes = HashMap::new();
    let mut overhead = 0;
    for pack in locked.packs.packs.iter().filter(|pack| only.is_none_or(|only| only == pack.name)) {
        let Some(index) = pack.index() else { continue };
        let raw = RawPack::open(&pack.pack_path(), index)?;
        for n in 0..raw.len() {
            sizes.insert(raw.oid(n), raw.entry_len(n));
        }
        overhead += 32;
    }
    Ok((overhead, sizes))
}
