//! Everything that a restore would do.

use super::types::{Conflict, ConflictKind, KeepReason, Kept, PlanSummary, Planned};
use crate::point::Point;
use crate::rel_path::RelPath;
use crate::tree_diff::Leaf;
use std::collections::{BTreeMap, BTreeSet};

/// A file or link that a restore puts in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Put {
    pub(super) before: Option<Leaf>,
    pub(super) after: Leaf,
    /// All permission bits, where the checkpoint knows them: of external files.
    pub(super) mode: Option<u32>,
}

/// Everything that a restore would do.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) puts: BTreeMap<Vec<u8>, Put>,
    pub(super) deletes: BTreeMap<Vec<u8>, Leaf>,
    pub(super) make_dirs: BTreeSet<Vec<u8>>,
    /// Directories that go if they are empty by then.
    pub(super) remove_dirs: BTreeSet<Vec<u8>>,
    pub(super) empty_dirs_gone: Vec<RelPath>,
    pub(super) kept: BTreeMap<Vec<u8>, KeepReason>,
    pub(super) conflicts: BTreeMap<Vec<u8>, ConflictKind>,
}

impl Work {
    /// Notes as conflicts what an interrupted restore left as it was, as far as it is still to be changed.
    pub(super) fn leave(&mut self, left: &[RelPath]) {
        for path in left.iter().map(RelPath::as_bytes) {
            if self.puts.contains_key(path) || self.deletes.contains_key(path) || self.make_dirs.contains(path) {
                self.conflicts.entry(path.to_vec()).or_insert(ConflictKind::EditedSince);
            }
        }
    }

    /// The work in the words of the interface.
    pub(super) fn summary(&self, target: &Point) -> PlanSummary {
        let path = |path: &[u8]| RelPath::new(path).expect("a planned path was checked");
        let free = |at: &&Vec<u8>| !self.conflicts.contains_key(*at);
        let planned = |at: &[u8], before: Option<Leaf>, after: Option<Leaf>| Planned {
            path: path(at),
            before: before.map(Into::into),
            after: after.map(Into::into),
        };
        let shown = |bytes: &Vec<u8>| RelPath::new(bytes.clone());
        PlanSummary {
            target: target.name.to_string(),
            writes: self
                .puts
                .iter()
                .filter(|(at, _)| free(at))
                .map(|(at, put)| planned(at, put.before, Some(put.after)))
                .collect(),
            deletes: self
                .deletes
                .iter()
                .filter(|(at, _)| free(at))
                .map(|(at, leaf)| planned(at, Some(*leaf), None))
                .collect(),
            make_dirs: self.make_dirs.iter().filter_map(shown).collect(),
            remove_dirs: self.empty_dirs_gone.clone(),
            kept: self
                .kept
                .iter()
                .filter_map(|(at, reason)| Some(Kept { path: shown(at)?, reason: *reason }))
                .collect(),
            conflicts: self
                .conflicts
                .iter()
                .filter_map(|(at, kind)| Some(Conflict { path: shown(at)?, kind: *kind }))
                .collect(),
            also_changed_by: Vec::new(),
        }
    }
}
