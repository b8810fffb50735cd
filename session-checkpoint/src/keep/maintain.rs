//! Work that can wait, within a budget of time.

use super::prune::Retention;
use super::rewrite::{Rewrite, Rewritten};
use super::sizes::stored_bytes;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::locked::Locked;
use crate::pack::PackState;
use crate::snapshot::failure;
use crate::{Error, Oid, init, loose};
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Packs below this are made into one; larger ones stay.
const SMALL_PACK_BYTES: u64 = 32 << 20;

/// How much is made one pack at once.
struct Portion {
    packs: usize,
    bytes: u64,
    loose: usize,
}

impl Portion {
    const ALL: Portion = Portion { packs: usize::MAX, bytes: u64::MAX, loose: usize::MAX };
    /// What may be done while somebody waits for a snapshot; removing the files takes longest. Any two small packs fit, so
    /// that each portion leaves fewer.
    const AFTER_SNAPSHOT: Portion = Portion { packs: 16, bytes: 2 * SMALL_PACK_BYTES, loose: 64 };

    /// The smallest packs, by length and name, as many as fit; and their bytes.
    fn of(&self, mut packs: Vec<(u64, String)>) -> (HashSet<String>, u64) {
        packs.sort_unstable();
        let (mut names, mut bytes) = (HashSet::new(), 0);
        for (len, name) in packs.into_iter().take(self.packs) {
            if bytes + len > self.bytes {
                break;
            }
            bytes += len;
            names.insert(name);
        }
        (names, bytes)
    }
}

/// What maintenance did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Maintenance {
    /// Temporary files of dead writers that were removed.
    pub swept: Vec<PathBuf>,
    /// Small packs that became one.
    pub consolidated_packs: u64,
    /// Loose objects that were taken into it.
    pub folded_objects: u64,
    /// Packs that were compressed.
    pub compressed_packs: u64,
    /// Turns that were dropped because the store was too large.
    pub dropped_turns: Vec<u32>,
    /// Whether the budget ended before the work did.
    pub unfinished: bool,
}

impl Checkpoints {
    /// Sweeps, consolidates, compresses and enforces [`Options::max_store_bytes`](crate::Options::max_store_bytes), in
    /// this order, until the budget is used up. Each step is whole or not done at all.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::Cancelled`], [`Error::NoSpace`] where the small packs do not fit beside themselves, and
    /// failed operations. What was done before stays done.
    pub fn maintain(&mut self, budget: Duration, cancel: &Cancel) -> Result<Maintenance, Error> {
        let start = Instant::now();
        let mut locked = self.begin()?;
        let mut done = Maintenance { swept: init::sweep(&self.layout)?, ..Maintenance::default() };
        let consolidated = self.consolidate(&mut locked, &Portion::ALL, cancel)?;
        (done.consolidated_packs, done.folded_objects) = (consolidated.packs, consolidated.loose);
        for name in locked.meta.stored_packs.clone() {
            if start.elapsed() >= budget {
                done.unfinished = true;
                return Ok(done);
            }
            locked.meta.stored_packs.retain(|name| locked.packs.packs.iter().any(|pack| pack.name == *name));
            let what = Rewrite { packs: HashSet::from([name]), loose: 0, keep: None, compress: true };
            done.compressed_packs += self.rewrite(&mut locked, &what, cancel)?.packs;
        }
        if let Some(limit) = self.options.max_store_bytes.filter(|limit| stored_bytes(&locked) > *limit) {
            let retention = Retention { max_bytes: Some(limit), ..Retention::default() };
            done.dropped_turns = self.prune_locked(&mut locked, retention, cancel)?.turns;
        }
        Ok(done)
    }

    /// Packs below [`SMALL_PACK_BYTES`] that are to be compressed by nobody.
    fn small_packs(&self, locked: &Locked) -> Vec<(u64, String)> {
        let small = |pack: &&PackState| pack.len < SMALL_PACK_BYTES && !locked.meta.stored_packs.contains(&pack.name);
        locked.packs.packs.iter().filter(small).map(|pack| (pack.len, pack.name.clone())).collect()
    }

    /// Makes one pack of small packs and loose objects, where there are too many of either.
    fn consolidate(&mut self, locked: &mut Locked, portion: &Portion, cancel: &Cancel) -> Result<Rewritten, Error> {
        let small = self.small_packs(locked);
        let too_many_loose = self.options.max_packs.saturating_mul(4);
        if small.len() <= self.options.max_packs && loose::list(&self.layout)?.len() <= too_many_loose {
            return Ok(Rewritten::default());
        }
        let (packs, needed) = portion.of(small);
        let free = crate::space::free_bytes(&self.layout.store)?;
        if needed >= free {
            return Err(Error::NoSpace { path: self.layout.store.clone(), free, needed });
        }
        let what = Rewrite { packs, loose: portion.loose, keep: None, compress: false };
        self.rewrite(locked, &what, cancel)
    }

    /// After a snapshot, which stands whatever happens here: a store that is above its limit gives up its oldest turns,
    /// and a portion of too many packs and loose objects becomes one pack.
    pub(crate) fn tidy(&mut self, locked: &mut Locked, commit: Oid, cancel: &Cancel) {
        let made_room = self.make_room_after(locked);
        let consolidated = self.consolidate_after(locked, commit, cancel);
        for (during, result) in [("prune", made_room), ("consolidation", consolidated)] {
            match result {
                // The next one goes on.
                Ok(()) | Err(Error::Cancelled | Error::DeadlineExceeded) => {}
                Err(error) => {
                    locked.meta.failure = Some(failure(during, &error));
                    // It is told at the next look, or at the next snapshot.
                    drop(locked.meta.write(&self.layout));
                }
            }
        }
    }

    fn consolidate_after(&mut self, locked: &mut Locked, commit: Oid, cancel: &Cancel) -> Result<(), Error> {
        // Counting all loose objects would cost each turn more than writing one. As in git's own housekeeping one of their
        // 256 directories stands for all.
        let beside = loose::beside(&self.layout, commit)?;
        let max = self.options.max_packs;
        if self.small_packs(locked).len() > max || beside.saturating_mul(16) > max {
            self.consolidate(locked, &Portion::AFTER_SNAPSHOT, cancel)?;
        }
        Ok(())
    }

    /// Before a snapshot: a store that is at its limit gives up its oldest turns, or refuses.
    pub(crate) fn make_room(&mut self, locked: &mut Locked) -> Result<(), Error> {
        let Some(limit) = self.options.max_store_bytes.filter(|limit| stored_bytes(locked) > *limit) else {
            return Ok(());
        };
        let retention = Retention { max_bytes: Some(limit), ..Retention::default() };
        self.prune_locked(locked, retention, &Cancel::new())?;
        match stored_bytes(locked) {
            bytes if bytes > limit => Err(Error::StoreFull { path: self.layout.store.clone(), bytes, limit }),
            _ => Ok(()),
        }
    }

    fn make_room_after(&mut self, locked: &mut Locked) -> Result<(), Error> {
        let Some(limit) = self.options.max_store_bytes.filter(|limit| stored_bytes(locked) > *limit) else {
            return Ok(());
        };
        let retention = Retention { max_bytes: Some(limit), ..Retention::default() };
        self.prune_locked(locked, retention, &Cancel::new()).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packs(lens: &[u64]) -> Vec<(u64, String)> {
        lens.iter().enumerate().map(|(n, len)| (*len, format!("pack-{n:03}"))).collect()
    }

    #[test]
    fn after_a_snapshot_the_smallest_packs_become_one_and_any_two_small_ones_can() {
        let taken = |lens: &[u64]| {
            let (names, bytes) = Portion::AFTER_SNAPSHOT.of(packs(lens));
            (names.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>(), bytes)
        };
        let most = SMALL_PACK_BYTES - 1;
        assert_eq!(taken(&[most, most, most]), (vec!["pack-000".to_owned(), "pack-001".to_owned()], 2 * most));
        assert_eq!(taken(&[most, 1, most, 2]).0, ["pack-000", "pack-001", "pack-003"]);
        assert_eq!(taken(&[1; 1000]).0.len(), 16);
        assert_eq!(Portion::ALL.of(packs(&[most; 1000])).0.len(), 1000);
    }
}
