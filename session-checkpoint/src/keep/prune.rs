//! Dropping turns, the oldest first, and giving back what they took.

use super::reach::Reach;
use super::rewrite::Rewrite;
use super::sizes::{sizes, stored_bytes};
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::locked::Locked;
use crate::point::read_commit;
use crate::refs::Family;
use crate::snapshot::{last_safety, last_turn};
use crate::turns::{read_recorded, rewrite};
use crate::{Error, Oid};
use serde::Serialize;
use session_disk::Durability;
use std::collections::{BTreeSet, HashSet};

/// What is to be kept. What no rule keeps is dropped, but for what is protected: the newest turn, pinned ones, the last
/// one that a fork inherited, the newest restore's target and safety snapshot, and both ends of an interrupted one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// So many of the newest turns are kept, others are not.
    pub keep_last: Option<u32>,
    /// Turns from before this time, in milliseconds since 1970, are not kept.
    pub not_before_ms: Option<i64>,
    /// The oldest turns are dropped until what the others need takes no more bytes than this.
    pub max_bytes: Option<u64>,
}

/// What was dropped, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Pruned {
    /// Turns.
    pub turns: Vec<u32>,
    /// Safety snapshots.
    pub safeties: Vec<u32>,
    /// Turns that a rule would drop and that are protected.
    pub protected: Vec<u32>,
    /// Bytes that the objects took before, and take now.
    pub bytes_before: u64,
    /// See `bytes_before`. Of a dry run, what is expected.
    pub bytes_after: u64,
}

impl Checkpoints {
    /// Says what [`prune`](Checkpoints::prune) would drop.
    ///
    /// # Errors
    /// [`Error::Busy`] and failed reads.
    pub fn plan_prune(&mut self, retention: Retention, cancel: &Cancel) -> Result<Pruned, Error> {
        let locked = self.begin()?;
        Ok(self.select(&locked, retention, cancel)?.0)
    }

    /// Drops turns and gives back their space.
    ///
    /// On disk when it returns: every turn that is kept, whole; the others gone, and a `shallow` file that lets stock git
    /// end its history where ours does. It is idempotent, and a crash leaves some of the others.
    ///
    /// # Errors
    /// [`Error::NoSpace`] where the largest pack that must be rewritten would not fit beside itself; [`Error::Busy`] and
    /// failed operations.
    pub fn prune(&mut self, retention: Retention, cancel: &Cancel) -> Result<Pruned, Error> {
        let mut locked = self.begin()?;
        self.prune_locked(&mut locked, retention, cancel)
    }

    pub(super) fn prune_locked(
        &mut self,
        locked: &mut Locked,
        retention: Retention,
        cancel: &Cancel,
    ) -> Result<Pruned, Error> {
        let (mut pruned, kept) = self.select(locked, retention, cancel)?;
        let mut reach = Reach::default();
        for oid in &kept {
            reach.add(&locked.objects, *oid)?;
        }
        let keeps_cache = self.covers_cache(&mut reach.seen);
        // From here on numbers are gone from the references that must not be given again.
        locked.meta.last_turn = last_turn(locked)?;
        locked.meta.last_safety = last_safety(locked)?;
        locked.meta.write(&self.layout)?;
        self.write_shallow(locked, &kept)?;
        let turns = pruned.turns.iter().map(|n| Family::Turn.name(*n));
        let safeties = pruned.safeties.iter().map(|n| Family::Safety.name(*n));
        let names: Vec<String> = turns.chain(safeties).collect();
        self.forget_derived()?;
        locked.refs.remove(&names)?;
        if !pruned.turns.is_empty() {
            let mut recorded: Vec<_> = read_recorded(&self.layout)?.into_values().collect();
            recorded.retain(|turn| !pruned.turns.contains(&turn.turn));
            recorded.sort_by_key(|turn| turn.turn);
            rewrite(&self.layout, &recorded)?;
        }
        self.drop_unreached(locked, &reach.seen, keeps_cache, cancel)?;
        pruned.bytes_after = stored_bytes(locked);
        Ok(pruned)
    }

    /// Whether all that the cache names is kept: what it calls unchanged is never stored again. Trees alone are kept for
    /// its sake: one may be in no checkpoint, since external files are put into the workspace's tree afterwards.
    fn covers_cache(&self, keep: &mut HashSet<Oid>) -> bool {
        let Some(hot) = &self.hot else { return false };
        let covers = hot.cache.contents().all(|oid| keep.contains(&oid));
        if covers {
            keep.extend(hot.cache.trees());
        }
        covers
    }

    /// Rewrites, one by one, the packs that hold anything nobody needs: the room that is needed is one pack's.
    fn drop_unreached(
        &mut self,
        locked: &mut Locked,
        keep: &HashSet<Oid>,
        keeps_cache: bool,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let dead: Vec<String> = locked
            .packs
            .packs
            .iter()
            .filter(|pack| pack.index().is_some_and(|index| index.entries().any(|entry| !keep.contains(&entry.oid))))
            .map(|pack| pack.name.clone())
            .collect();
        if !keeps_cache && !dead.is_empty() {
            self.forget()?;
        }
        for name in dead {
            let (_, sizes) = sizes(locked, Some(&name))?;
            let needed = sizes.iter().filter(|(oid, _)| keep.contains(oid)).map(|(_, len)| len).sum();
            let free = crate::space::free_bytes(&self.layout.store)?;
            if needed >= free {
                return Err(Error::NoSpace { path: self.layout.store.clone(), free, needed });
            }
            let what = Rewrite { packs: HashSet::from([name]), loose: 0, keep: Some(keep), compress: false };
            self.rewrite(locked, &what, cancel)?;
        }
        for (oid, path) in crate::loose::list(&self.layout)? {
            if !keep.contains(&oid) {
                session_disk::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Tells stock git where the history ends: at each kept commit whose parent is not kept.
    fn write_shallow(&self, locked: &Locked, kept: &[Oid]) -> Result<(), Error> {
        let all: HashSet<Oid> = kept.iter().copied().collect();
        let mut ends = BTreeSet::new();
        for oid in kept {
            let parent = read_commit(&locked.objects, *oid).ok().and_then(|(_, commit)| commit.parent);
            if parent.is_some_and(|parent| !all.contains(&parent)) {
                ends.insert(oid.to_string());
            }
        }
        let text: String = ends.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect();
        let path = self.layout.shallow();
        if text.is_empty() && !path.exists() {
            return Ok(());
        }
        Ok(session_disk::replace(&path, text.as_bytes(), Durability::Data)?)
    }
}
