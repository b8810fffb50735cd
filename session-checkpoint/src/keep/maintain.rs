//! Work that can wait, within a budget of time.

use super::prune::Retention;
use super::rewrite::Rewrite;
use super::sizes::stored_bytes;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::locked::Locked;
use crate::snapshot::failure;
use crate::{Error, init};
use serde::Serialize;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Packs below this are made into one; larger ones stay.
const SMALL_PACK_BYTES: u64 = 32 << 20;

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
    /// [`Error::Busy`], [`Error::Cancelled`], and failed operations. What was done before stays done.
    pub fn maintain(&mut self, budget: Duration, cancel: &Cancel) -> Result<Maintenance, Error> {
        let start = Instant::now();
        let mut locked = self.begin()?;
        let mut done = Maintenance { swept: init::sweep(&self.layout)?, ..Maintenance::default() };
        let small: HashSet<String> = locked
            .packs
            .packs
            .iter()
            .filter(|pack| pack.len < SMALL_PACK_BYTES && !locked.meta.stored_packs.contains(&pack.name))
            .map(|pack| pack.name.clone())
            .collect();
        let loose = crate::loose::list(&self.layout)?.len();
        if small.len() > self.options.max_packs || loose > self.options.max_packs * 4 {
            let what = Rewrite { packs: small, loose: true, keep: None, compress: false };
            let rewritten = self.rewrite(&mut locked, &what, cancel)?;
            done.consolidated_packs = rewritten.packs;
            done.folded_objects = rewritten.loose;
        }
        for name in locked.meta.stored_packs.clone() {
            if start.elapsed() >= budget {
                done.unfinished = true;
                return Ok(done);
            }
            locked.meta.stored_packs.retain(|name| locked.packs.packs.iter().any(|pack| pack.name == *name));
            let what = Rewrite { packs: HashSet::from([name]), loose: false, keep: None, compress: true };
            done.compressed_packs += self.rewrite(&mut locked, &what, cancel)?.packs;
        }
        if let Some(limit) = self.options.max_store_bytes.filter(|limit| stored_bytes(&locked) > *limit) {
            let retention = Retention { max_bytes: Some(limit), ..Retention::default() };
            done.dropped_turns = self.prune_locked(&mut locked, retention, cancel)?.turns;
        }
        Ok(done)
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

    /// After a snapshot, which stands whatever happens here.
    pub(crate) fn make_room_after(&mut self, locked: &mut Locked) {
        let Some(limit) = self.options.max_store_bytes.filter(|limit| stored_bytes(locked) > *limit) else { return };
        let retention = Retention { max_bytes: Some(limit), ..Retention::default() };
        if let Err(error) = self.prune_locked(locked, retention, &Cancel::new()) {
            locked.meta.failure = Some(failure("prune", &error));
            // It is told at the next look, or at the next snapshot, which will refuse.
            drop(locked.meta.write(&self.layout));
        }
    }
}
