//! Dropping turns, the oldest first.

use super::reach::Reach;
use super::rewrite::Rewrite;
use crate::cancel::Cancel;
use crate::checkpoints::{Checkpoints, Locked};
use crate::journal;
use crate::pack::RawPack;
use crate::point::{TurnRef, find, read_commit};
use crate::refs::{Family, Refs};
use crate::restore::last_restore;
use crate::snapshot::{last_safety, last_turn};
use crate::turns::{read_recorded, rewrite};
use crate::{Error, Oid};
use serde::Serialize;
use session_disk::Durability;
use std::collections::{BTreeSet, HashMap, HashSet};

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

/// A checkpoint in the order of age.
struct Item {
    family: Family,
    n: u32,
    oid: Option<Oid>,
    time_ms: i64,
    protected: bool,
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
        self.drop_unreached(locked, &reach.seen, cancel)?;
        pruned.bytes_after = stored_bytes(locked);
        Ok(pruned)
    }

    /// Rewrites, one by one, the packs that hold anything nobody needs: the room that is needed is one pack's.
    fn drop_unreached(&mut self, locked: &mut Locked, keep: &HashSet<Oid>, cancel: &Cancel) -> Result<(), Error> {
        let dead: Vec<String> = locked
            .packs
            .packs
            .iter()
            .filter(|pack| pack.index().is_some_and(|index| index.entries().any(|entry| !keep.contains(&entry.oid))))
            .map(|pack| pack.name.clone())
            .collect();
        for name in dead {
            let (_, sizes) = sizes(locked, Some(&name))?;
            let needed = sizes.iter().filter(|(oid, _)| keep.contains(oid)).map(|(_, len)| len).sum();
            let free = crate::space::free_bytes(&self.layout.store)?;
            if needed >= free {
                return Err(Error::NoSpace { path: self.layout.store.clone(), free, needed });
            }
            let what = Rewrite { packs: HashSet::from([name]), loose: false, keep: Some(keep), compress: false };
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

    /// What is dropped, and the commits that are kept.
    pub(crate) fn select(
        &self,
        locked: &Locked,
        retention: Retention,
        cancel: &Cancel,
    ) -> Result<(Pruned, Vec<Oid>), Error> {
        let items = self.items(locked)?;
        let newest = items.iter().filter(|item| item.family == Family::Turn).map(|item| item.n).max().unwrap_or(0);
        let mut turns_kept = 0;
        let mut drop_item: Vec<bool> = Vec::with_capacity(items.len());
        // From the newest to the oldest.
        for item in &items {
            let too_many = item.family == Family::Turn && retention.keep_last.is_some_and(|keep| turns_kept >= keep);
            let too_old = retention.not_before_ms.is_some_and(|time| item.time_ms < time);
            drop_item.push(too_many || too_old);
            turns_kept += u32::from(item.family == Family::Turn && !too_many);
        }
        self.drop_by_size(locked, retention, &items, &mut drop_item, cancel)?;
        let oldest_kept = items
            .iter()
            .zip(&drop_item)
            .filter(|(item, gone)| item.family == Family::Turn && (!**gone || item.protected))
            .map(|(item, _)| item.time_ms)
            .min();
        let mut pruned = Pruned { bytes_before: stored_bytes(locked), ..Pruned::default() };
        let mut kept = Vec::new();
        for (item, gone) in items.iter().zip(drop_item) {
            // A safety snapshot goes with the turns of its time.
            let with_others = item.family == Family::Safety && oldest_kept.is_some_and(|time| item.time_ms < time);
            let gone = gone || with_others;
            match (gone, item.protected || item.n == newest && item.family == Family::Turn, item.family) {
                (true, false, Family::Turn) => pruned.turns.push(item.n),
                (true, false, Family::Safety) => pruned.safeties.push(item.n),
                (true, true, Family::Turn) => {
                    pruned.protected.push(item.n);
                    kept.extend(item.oid);
                }
                _ => kept.extend(item.oid),
            }
        }
        pruned.turns.reverse();
        pruned.safeties.reverse();
        pruned.protected.reverse();
        pruned.bytes_after = self.expected_bytes(locked, &kept)?;
        Ok((pruned, kept))
    }

    fn expected_bytes(&self, locked: &Locked, kept: &[Oid]) -> Result<u64, Error> {
        let mut reach = Reach::default();
        for oid in kept {
            reach.add(&locked.objects, *oid)?;
        }
        let (_, sizes) = sizes(locked, None)?;
        Ok(reach.seen.iter().filter_map(|oid| sizes.get(oid)).sum())
    }

    fn drop_by_size(
        &self,
        locked: &Locked,
        retention: Retention,
        items: &[Item],
        drop_item: &mut [bool],
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let Some(limit) = retention.max_bytes else { return Ok(()) };
        let (overhead, sizes) = sizes(locked, None)?;
        let mut reach = Reach::default();
        let mut bytes = overhead;
        let mut counted = 0;
        let mut add = |oid: Oid, reach: &mut Reach| -> Result<u64, Error> {
            let before: HashSet<Oid> = if counted == 0 { HashSet::new() } else { reach.seen.clone() };
            counted += 1;
            reach.add(&locked.objects, oid)?;
            Ok(reach.seen.difference(&before).filter_map(|oid| sizes.get(oid)).sum())
        };
        for item in items.iter().filter(|item| item.protected) {
            if let Some(oid) = item.oid {
                bytes += add(oid, &mut reach)?;
            }
        }
        let mut full = bytes > limit;
        for (item, gone) in items.iter().zip(drop_item.iter_mut()) {
            cancel.check()?;
            if item.protected || *gone {
                continue;
            }
            if let Some(oid) = item.oid.filter(|_| !full) {
                bytes += add(oid, &mut reach)?;
                full = bytes > limit;
            }
            *gone = full;
        }
        Ok(())
    }

    /// All checkpoints, from the newest to the oldest.
    fn items(&self, locked: &Locked) -> Result<Vec<Item>, Error> {
        let (turns, safeties) = self.protected(locked)?;
        let mut items = Vec::new();
        for family in [Family::Turn, Family::Safety] {
            let guarded = if family == Family::Turn { &turns } else { &safeties };
            let list = locked.refs.list(family)?;
            let newest = list.last_key_value().map(|(n, _)| *n).filter(|_| family == Family::Turn);
            for (n, oid) in list {
                let commit = oid.and_then(|oid| read_commit(&locked.objects, oid).ok());
                let time_ms = commit.and_then(|(_, commit)| Some(commit.trailer?.time_ms)).unwrap_or(0);
                let protected = guarded.contains(&n) || Some(n) == newest;
                items.push(Item { family, n, oid, time_ms, protected });
            }
        }
        // The clock may have jumped; among turns the numbers are right.
        items.sort_by_key(|item| (item.family == Family::Safety, std::cmp::Reverse(item.n)));
        Ok(items)
    }

    fn protected(&self, locked: &Locked) -> Result<(BTreeSet<u32>, BTreeSet<u32>), Error> {
        let mut turns = locked.meta.pinned.clone();
        turns.extend(locked.meta.fork_base);
        let mut safeties = BTreeSet::new();
        if let Some(safety) = last_restore(locked)? {
            safeties.insert(safety);
            guard(&mut turns, &mut safeties, restored_from(&locked.refs, locked, safety)?);
        }
        if let Some(journal) = journal::read(&self.layout)? {
            safeties.insert(journal.safety);
            guard(&mut turns, &mut safeties, journal.target_ref());
        }
        Ok((turns, safeties))
    }
}

fn guard(turns: &mut BTreeSet<u32>, safeties: &mut BTreeSet<u32>, point: Option<TurnRef>) {
    match point {
        Some(TurnRef::Turn(n)) => drop(turns.insert(n)),
        Some(TurnRef::Safety(n)) => drop(safeties.insert(n)),
        Some(TurnRef::Latest) | None => {}
    }
}

/// What the restore with this safety snapshot restored.
fn restored_from(refs: &Refs, locked: &Locked, safety: u32) -> Result<Option<TurnRef>, Error> {
    for n in refs.list(Family::Turn)?.into_keys().rev() {
        let Ok(point) = find(refs, &locked.objects, TurnRef::Turn(n)) else { continue };
        let trailer = point.commit.trailer.filter(|trailer| trailer.safety == Some(safety));
        if let Some(from) = trailer.and_then(|trailer| trailer.restored_from) {
            return Ok(from.parse().ok());
        }
    }
    Ok(None)
}

/// Bytes of all packs.
pub(super) fn stored_bytes(locked: &Locked) -> u64 {
    locked.packs.packs.iter().map(|pack| pack.len).sum()
}

/// The bytes that each object takes in its pack, of one pack or of all; and what the packs take beside.
fn sizes(locked: &Locked, only: Option<&str>) -> Result<(u64, HashMap<Oid, u64>), Error> {
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
