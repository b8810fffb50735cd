//! Comparing the workspace with a checkpoint: what must be written, deleted, left alone, or asked about.

use super::limits::Limits;
use super::then::{DirsThen, reasons};
use super::types::{ConflictKind, KeepReason};
use super::way::Way;
use super::work::{Put, Work};
use crate::commit::{ExternalKind, ExternalState};
use crate::external::{outside, tree_path};
use crate::names::{NameClass, classify};
use crate::objects::{Objects, Trees};
use crate::observe::Taken;
use crate::point::Point;
use crate::rel_path::{RelPath, is_in, parents};
use crate::root::Root;
use crate::tree::Mode;
use crate::tree_diff::{Delta, Leaf, diff};
use crate::tree_edit::find;
use crate::{Error, Oid};
use std::collections::BTreeSet;

/// The two sides, and what else is known.
pub(super) struct Sides<'a, T: Trees> {
    /// Where the trees of now are read.
    pub(super) trees: &'a T,
    pub(super) objects: &'a Objects,
    pub(super) now: &'a Taken,
    pub(super) target: &'a Point,
    /// Trees of which the workspace's content is known to come; anything else was edited by somebody.
    pub(super) known: &'a [Oid],
    pub(super) limits: &'a Limits,
}

/// Makes the plan. It looks at the disk only to see what is in the way.
pub(super) fn plan<T: Trees>(sides: &Sides<'_, T>, root: &Root, outer: &Root) -> Result<Work, Error> {
    let mut work = Work::default();
    let deltas = diff(sides.trees, Some(sides.now.tree), Some(sides.target.commit.tree))?;
    let deltas: Vec<Delta> = deltas.into_iter().filter(|delta| sides.limits.covers(&delta.path)).collect();
    let gone: Vec<&Delta> = deltas.iter().filter(|delta| delta.new.is_none()).collect();
    let asked: Vec<(&[u8], bool)> = gone.iter().map(|delta| (delta.path.as_slice(), false)).collect();
    // What another repository held at that commit is not in the checkpoint.
    let is_link = |delta: &&Delta| delta.new.is_some_and(|leaf| leaf.mode == Mode::Gitlink);
    let links: Vec<&[u8]> = deltas.iter().filter(is_link).map(|delta| delta.path.as_slice()).collect();
    for (delta, reason) in gone.iter().zip(reasons(sides.objects, sides.target, &asked)?) {
        let is_below_link = links.iter().any(|link| is_in(&delta.path, link));
        match reason.or(is_below_link.then_some(KeepReason::SkippedThen)) {
            Some(reason) => drop(work.kept.insert(delta.path.clone(), reason)),
            None => drop(delta.old.map(|leaf| work.deletes.insert(delta.path.clone(), leaf))),
        }
    }
    for delta in &deltas {
        if let Some(after) = delta.new {
            put(sides, &mut work, delta, after);
        }
    }
    modes_of_externals(sides, &mut work);
    only_mine(sides, &mut work);
    edited_since(sides, &mut work)?;
    dirs(sides, &mut work)?;
    let obstacles = Way { root, outer, work: &work }.look()?;
    for (path, kind) in obstacles.conflicts {
        work.conflicts.entry(path).or_insert(kind);
    }
    work.remove_dirs.extend(obstacles.clear);
    Ok(work)
}

fn put<T: Trees>(sides: &Sides<'_, T>, work: &mut Work, delta: &Delta, after: Leaf) {
    let reserved = match outside(&delta.path) {
        Some(rel) => rel.split(|byte| *byte == b'/').any(|name| classify(name, false) != NameClass::Plain),
        None => {
            let mut names = delta.path.split(|byte| *byte == b'/').enumerate();
            names.any(|(n, name)| classify(name, n == 0) != NameClass::Plain)
        }
    };
    let bad = reserved || matches!(after.mode, Mode::Gitlink | Mode::Dir) || RelPath::new(delta.path.clone()).is_none();
    if bad {
        work.kept.insert(delta.path.clone(), KeepReason::ReservedName);
        return;
    }
    let blocked = sides.now.look.blocked.get(&delta.path).copied();
    let skipped = || sides.now.notes.skipped.iter().find(|skipped| skipped.path.as_bytes() == delta.path);
    if let Some(reason) = blocked.or_else(|| skipped().filter(|_| delta.old.is_none()).map(|skipped| skipped.reason)) {
        work.conflicts.insert(delta.path.clone(), ConflictKind::NotStorable(reason));
    }
    let mode = external_then(sides.target, &delta.path).map(|state| state.mode).filter(|mode| *mode != 0);
    work.puts.insert(delta.path.clone(), Put { before: delta.old, after, mode });
}

fn external_then<'a>(target: &'a Point, path: &[u8]) -> Option<&'a ExternalState> {
    let rel = outside(path)?;
    target.commit.trailer.as_ref()?.external.iter().find(|state| state.path.strip_prefix(b"/") == Some(rel))
}

/// External files whose content is right and whose mode is not.
fn modes_of_externals<T: Trees>(sides: &Sides<'_, T>, work: &mut Work) {
    for then in sides.target.commit.trailer.iter().flat_map(|trailer| &trailer.external) {
        let path = tree_path(&then.path);
        let now = sides.now.look.externals.get(&path);
        let differs = now.is_some_and(|now| now.state == ExternalKind::File && now.mode != then.mode);
        let is_known = then.state == ExternalKind::File && then.mode != 0;
        if !is_known || !differs || work.puts.contains_key(&path) || !sides.limits.covers(&path) {
            continue;
        }
        if let Ok(Some(leaf)) = find(sides.trees, Some(sides.now.tree), &path) {
            work.puts.insert(path, Put { before: Some(leaf), after: leaf, mode: Some(then.mode) });
        }
    }
}

fn only_mine<T: Trees>(sides: &Sides<'_, T>, work: &mut Work) {
    let others = |path: &Vec<u8>| !sides.limits.is_mine(path);
    let out: Vec<Vec<u8>> = work.puts.keys().chain(work.deletes.keys()).filter(|path| others(path)).cloned().collect();
    for path in out {
        work.puts.remove(&path);
        work.deletes.remove(&path);
        work.conflicts.remove(&path);
        work.kept.insert(path, KeepReason::NotMine);
    }
}

/// What is on the disk and in none of the trees that are known was put there by somebody since.
fn edited_since<T: Trees>(sides: &Sides<'_, T>, work: &mut Work) -> Result<(), Error> {
    let mut unknown: Option<BTreeSet<Vec<u8>>> = None;
    for tree in sides.known {
        let differs = diff(sides.trees, Some(*tree), Some(sides.now.tree))?;
        let paths: BTreeSet<Vec<u8>> =
            differs.into_iter().filter(|delta| delta.new.is_some()).map(|delta| delta.path).collect();
        unknown = Some(match unknown {
            Some(before) => before.intersection(&paths).cloned().collect(),
            None => paths,
        });
    }
    for path in work.puts.keys().chain(work.deletes.keys()) {
        if unknown.as_ref().is_none_or(|unknown| unknown.contains(path)) {
            let there = work.deletes.contains_key(path) || work.puts.get(path).is_some_and(|put| put.before.is_some());
            if there {
                work.conflicts.entry(path.clone()).or_insert(ConflictKind::EditedSince);
            }
        }
    }
    Ok(())
}

fn dirs<T: Trees>(sides: &Sides<'_, T>, work: &mut Work) -> Result<(), Error> {
    let then = DirsThen::of(sides.target);
    let tree = sides.target.commit.tree;
    let mut maybe: BTreeSet<Vec<u8>> = BTreeSet::new();
    for path in work.deletes.keys().filter(|path| outside(path).is_none()) {
        maybe.extend(parents(path).map(<[u8]>::to_vec));
    }
    let now: BTreeSet<&[u8]> = sides.now.notes.empty_dirs.iter().map(RelPath::as_bytes).collect();
    if sides.limits.mine.is_none() {
        for dir in then.empty().filter(|dir| sides.limits.covers(dir) && !now.contains(dir.as_slice())) {
            work.make_dirs.insert(dir.clone());
        }
        let candidates: Vec<(&[u8], bool)> =
            now.iter().filter(|dir| then.whole && sides.limits.covers(dir)).map(|dir| (*dir, true)).collect();
        for ((dir, _), reason) in candidates.iter().zip(reasons(sides.objects, sides.target, &candidates)?) {
            if reason.is_none() && !then.had(sides.objects, tree, dir)? {
                work.empty_dirs_gone.extend(RelPath::new(*dir));
                maybe.insert(dir.to_vec());
                maybe.extend(parents(dir).map(<[u8]>::to_vec));
            }
        }
    }
    for dir in maybe {
        if !then.had(sides.objects, tree, &dir)? {
            work.remove_dirs.insert(dir);
        }
    }
    // An empty directory whose parent will be made by its file is no work of its own; one that has files now is there.
    work.make_dirs.retain(|dir| !sides.now.notes.empty_dirs.iter().any(|now| is_in(now.as_bytes(), dir)));
    Ok(())
}
