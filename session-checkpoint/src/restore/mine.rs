//! Whose change it was: what this session's turns record, and what other sessions' do.

use super::types::SharedPath;
use super::work::Work;
use crate::checkpoints::Checkpoints;
use crate::commit::{ChangedBy, TurnKind};
use crate::locked::Locked;
use crate::objects::Objects;
use crate::point::{Point, TurnRef, read_commit};
use crate::reader::{Reader, changes_of};
use crate::refs::Family;
use crate::rel_path::RelPath;
use crate::turns::{Turn, changes, read_recorded};
use crate::{Error, Oid};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

impl Checkpoints {
    /// The paths that the turns since the target record as this session's own changes.
    pub(super) fn changed_by_session(&self, locked: &Locked, target: &Point) -> Result<BTreeSet<Vec<u8>>, Error> {
        let from = target.newest_turn(&locked.objects);
        let mut recorded = read_recorded(&self.layout)?;
        let mut paths = BTreeSet::new();
        for (n, oid) in locked.refs.list(Family::Turn)?.split_off(&(from + 1)) {
            let Some(oid) = oid else { continue };
            let whole = |turn: &Turn| turn.changed_n == turn.changed.len() as u64;
            let (by, changed) = match recorded.remove(&oid).filter(whole) {
                Some(turn) => (turn.by, turn.changed),
                None => {
                    let (oid, commit) = read_commit(&locked.objects, oid)?;
                    let point = Point { name: TurnRef::Turn(n), oid, commit };
                    let by = point.commit.trailer.as_ref().map_or(ChangedBy::Session, |trailer| trailer.by);
                    (by, changes_of(&locked.objects, &point)?)
                }
            };
            if by == ChangedBy::Session && !found_all(&locked.objects, oid) {
                paths.extend(changed.into_iter().map(|change| change.path.as_bytes().to_vec()));
            }
        }
        Ok(paths)
    }

    /// The paths of a plan that other sessions' turns since the target record as theirs. A turn that this session shares
    /// with a fork is its own, and what a restore of this session has replaced since is nobody's any more.
    pub(super) fn shared(
        &self,
        locked: &Locked,
        work: &Work,
        target: &Point,
        stores: &[PathBuf],
    ) -> Result<Vec<SharedPath>, Error> {
        if stores.is_empty() {
            return Ok(Vec::new());
        }
        let own: BTreeSet<Oid> = locked.refs.list(Family::Turn)?.into_values().flatten().collect();
        let replaced = self.replaced(locked, &own)?;
        let since = target.commit.trailer.as_ref().map_or(target.commit.time_s * 1000, |trailer| trailer.time_ms);
        let mut shared = Vec::new();
        for store in stores {
            let reader = Reader::open(store)?;
            if reader.status()?.workspace != self.workspace {
                continue;
            }
            let objects = reader.objects()?;
            for mut turn in reader.turns()?.into_iter().filter(|turn| turn.time_ms >= since) {
                if turn.by != ChangedBy::Session || own.contains(&turn.commit) || found_all(&objects, turn.commit) {
                    continue;
                }
                if turn.changed_n > turn.changed.len() as u64 {
                    turn = reader.turn(TurnRef::Turn(turn.turn))?;
                }
                let theirs = turn.changed.iter();
                let ours = |path: &RelPath| {
                    if replaced.get(path).is_some_and(|when| *when >= turn.time_ms) {
                        return false;
                    }
                    let path = path.as_bytes();
                    work.puts.contains_key(path) || work.deletes.contains_key(path) || work.kept.contains_key(path)
                };
                shared.extend(theirs.filter(|change| ours(&change.path)).map(|change| SharedPath {
                    path: change.path.clone(),
                    store: store.clone(),
                    turn: turn.turn,
                }));
            }
        }
        Ok(shared)
    }

    /// The paths that restores of this session have replaced, and when the last one did: what differs between the safety
    /// snapshot of each and what it left.
    fn replaced(&self, locked: &Locked, own: &BTreeSet<Oid>) -> Result<BTreeMap<RelPath, i64>, Error> {
        let mut replaced = BTreeMap::new();
        let safeties = locked.refs.list(Family::Safety)?;
        let restores = read_recorded(&self.layout)?.into_values();
        for turn in restores.filter(|turn| turn.kind == TurnKind::Restore && own.contains(&turn.commit)) {
            let Some(safety) = turn.safety.and_then(|n| safeties.get(&n).copied().flatten()) else { continue };
            // What cannot be compared any more has replaced nothing that anybody knows of: then more is told.
            let Ok((_, before)) = read_commit(&locked.objects, safety) else { continue };
            let differ = changes(&locked.objects, Some(before.tree), Some(turn.tree));
            for change in differ.into_iter().flatten() {
                let when = replaced.entry(change.path).or_insert(turn.time_ms);
                *when = turn.time_ms.max(*when);
            }
        }
        Ok(replaced)
    }
}

/// Whether a turn is a store's first: what it holds it has found, and nobody changed it.
fn found_all(objects: &Objects, turn: Oid) -> bool {
    read_commit(objects, turn).is_ok_and(|(_, commit)| commit.parent.is_none())
}
