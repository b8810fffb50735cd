//! Which checkpoints a retention keeps, which it drops, and which nothing may drop.

use super::prune::{Pruned, Retention};
use super::reach::Reach;
use super::sizes::{sizes, stored_bytes};
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::journal;
use crate::locked::Locked;
use crate::point::{TurnRef, find, read_commit};
use crate::refs::{Family, Refs};
use crate::restore::last_restore;
use crate::{Error, Oid};
use std::collections::{BTreeSet, HashSet};

/// A checkpoint in the order of age.
struct Item {
    family: Family,
    n: u32,
    oid: Option<Oid>,
    time_ms: i64,
    protected: bool,
}

impl Checkpoints {
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
