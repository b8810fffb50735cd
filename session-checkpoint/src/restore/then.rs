//! What a checkpoint knows about a path that is not in it: was it absent, or only not captured?
//!
//! Deleting is allowed in the first case alone.

use super::types::KeepReason;
use crate::commit::{RuleFacts, Trailer};
use crate::external::outside;
use crate::objects::Objects;
use crate::oid::Kind;
use crate::point::{Point, read_commit};
use crate::rel_path::{RelPath, is_in};
use crate::rules::{Judge, RULE_FILE, RuleFile, Verdict};
use crate::skipped::SkipReason;
use crate::tree::Mode;
use crate::tree_diff::Leaf;
use crate::tree_edit::find;
use crate::{Error, Oid};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The first failure of a look at the target's rule files. A rule that cannot be read must end the restore before its
/// first write; the matcher itself cannot say so.
#[derive(Default)]
struct FirstError(Mutex<Option<Error>>);

impl FirstError {
    fn note<T>(&self, result: Result<T, Error>) -> Option<T> {
        result
            .map_err(|error| self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error).to_string())
            .ok()
    }

    fn take(self) -> Option<Error> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For each path that is not in the target: why it may not be deleted, or `None` where it was absent.
pub(super) fn reasons(
    objects: &Objects,
    target: &Point,
    paths: &[(&[u8], bool)],
) -> Result<Vec<Option<KeepReason>>, Error> {
    let unknown = RuleFacts { gitignore: true, ..RuleFacts::default() };
    let trailer = target.commit.trailer.as_ref();
    let looked_for = looked_for(objects, trailer)?;
    let errors = FirstError::default();
    let tree = target.commit.tree;
    let rule_file = |dir: &[u8]| {
        let path = crate::rel_path::joined(dir, RULE_FILE);
        match errors.note(find(objects, Some(tree), &path)).flatten() {
            Some(Leaf { mode: Mode::File | Mode::Exec, oid }) => RuleFile::Of(oid),
            _ if trailer.is_some_and(|trailer| was_too_big(trailer, &path)) => RuleFile::NotStored,
            _ => RuleFile::None,
        }
    };
    let load = |path: &[u8]| {
        let leaf = errors.note(find(objects, Some(tree), path)).flatten();
        leaf.and_then(|leaf| errors.note(objects.read_kind(leaf.oid, Kind::Blob))).unwrap_or_default()
    };
    let mut judge = Judge::new(trailer.map_or(&unknown, |trailer| &trailer.rules), &rule_file, &load);
    let mut reasons = Vec::with_capacity(paths.len());
    for (path, is_dir) in paths {
        let reason = if outside(path).is_some() {
            external_reason(trailer, path)
        } else if let Some(reason) = trailer.and_then(|trailer| skipped_reason(trailer, path)) {
            Some(reason)
        } else if was_looked_for(objects, looked_for, path)? {
            None
        } else {
            match judge.verdict(path, *is_dir) {
                Verdict::Capture => None,
                Verdict::Exclude | Verdict::Secret => Some(KeepReason::ExcludedThen),
            }
        };
        reasons.push(reason);
    }
    drop(judge);
    errors.take().map_or(Ok(reasons), Err)
}

/// The tree whose paths a safety snapshot looked for in spite of the rules.
fn looked_for(objects: &Objects, trailer: Option<&Trailer>) -> Result<Option<Oid>, Error> {
    let Some(oid) = trailer.and_then(|trailer| trailer.looked_for) else { return Ok(None) };
    match read_commit(objects, oid) {
        Ok((_, commit)) => Ok(Some(commit.tree)),
        // The target of that restore was dropped since: then the rules alone decide, which keeps more.
        Err(Error::MissingObject { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn was_looked_for(objects: &Objects, tree: Option<Oid>, path: &[u8]) -> Result<bool, Error> {
    let leaf: Option<Leaf> = if tree.is_some() { find(objects, tree, path)? } else { None };
    Ok(leaf.is_some_and(|leaf| leaf.mode != Mode::Dir))
}

/// Whether a path was left out for its size alone: the rules in such a file held all the same.
fn was_too_big(trailer: &Trailer, path: &[u8]) -> bool {
    trailer.skipped.iter().any(|skipped| skipped.reason == SkipReason::TooBig && skipped.path.as_bytes() == path)
}

fn skipped_reason(trailer: &Trailer, path: &[u8]) -> Option<KeepReason> {
    let skipped = trailer.skipped.iter().filter(|skipped| skipped.reason != SkipReason::Unstable);
    let above = skipped.filter(|skipped| is_in(path, skipped.path.as_bytes())).map(|skipped| skipped.reason).next();
    match above {
        Some(reason) if reason.makes_incomplete() => Some(KeepReason::IncompleteThen),
        Some(_) => Some(KeepReason::SkippedThen),
        None if trailer.skipped_n > trailer.skipped.len() as u64 => Some(KeepReason::IncompleteThen),
        None => None,
    }
}

fn external_reason(trailer: Option<&Trailer>, path: &[u8]) -> Option<KeepReason> {
    use crate::commit::ExternalKind;
    let rel = outside(path)?;
    let known = trailer?.external.iter().find(|state| state.path.strip_prefix(b"/") == Some(rel));
    match known.map(|state| state.state) {
        None => Some(KeepReason::NotTrackedThen),
        Some(ExternalKind::Skipped) => Some(KeepReason::SkippedThen),
        Some(ExternalKind::Absent | ExternalKind::File | ExternalKind::Link) => None,
    }
}

/// The directories that a checkpoint had: those above its files, the empty ones, and those of which nothing was stored.
pub(super) struct DirsThen {
    empty: BTreeSet<Vec<u8>>,
    /// Those of which nothing was stored: they were there, and what was in them is not known.
    hidden: BTreeSet<Vec<u8>>,
    /// Whether the lists are whole.
    pub(super) whole: bool,
}

impl DirsThen {
    pub(super) fn of(target: &Point) -> Self {
        let trailer = target.commit.trailer.as_ref();
        let listed = |dirs: fn(&Trailer) -> &[RelPath]| -> BTreeSet<Vec<u8>> {
            trailer.into_iter().flat_map(dirs).map(|dir| dir.as_bytes().to_vec()).collect()
        };
        let empty = listed(|trailer| &trailer.empty_dirs);
        let hidden = listed(|trailer| &trailer.hidden_dirs);
        let is_whole = |trailer: &Trailer| {
            (trailer.empty_dirs_n, trailer.hidden_dirs_n) == (empty.len() as u64, hidden.len() as u64)
        };
        DirsThen { whole: trailer.is_some_and(is_whole), empty, hidden }
    }

    pub(super) fn empty(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.empty.iter()
    }

    /// Whether there was such a directory.
    pub(super) fn had(&self, objects: &Objects, tree: Oid, dir: &[u8]) -> Result<bool, Error> {
        for listed in [&self.empty, &self.hidden] {
            if listed.contains(dir) || listed.iter().any(|below| is_in(below, dir)) {
                return Ok(true);
            }
        }
        Ok(find(objects, Some(tree), dir)?.is_some_and(|leaf| leaf.mode == Mode::Dir))
    }
}
