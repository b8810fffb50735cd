//! Finding files of checkpoints by their content.

use crate::objects::Objects;
use crate::oid::Kind;
use crate::point::TurnRef;
use crate::reader::Reader;
use crate::refs::Family;
use crate::rel_path::RelPath;
use crate::tree::Mode;
use crate::tree_diff::{Leaf, diff};
use crate::{Error, Oid};
use std::collections::{HashMap, HashSet};

impl Reader {
    /// The files whose content `is_wanted` says yes to: each content under each of its paths once, in the oldest checkpoint
    /// that has it there, turns before safety snapshots. It is asked once about each content.
    ///
    /// # Errors
    /// [`Error::BrokenTurn`], [`Error::MissingObject`], [`Error::DamagedObject`], failed reads.
    pub fn find_files(&self, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Result<Vec<(TurnRef, RelPath)>, Error> {
        let objects = self.objects()?;
        let mut search = Search { objects: &objects, is_wanted, judged: HashMap::new(), seen: HashSet::new() };
        let mut found = Vec::new();
        for family in [Family::Turn, Family::Safety] {
            let mut before = None;
            for (n, _) in self.refs().list(family)? {
                let name = if family == Family::Turn { TurnRef::Turn(n) } else { TurnRef::Safety(n) };
                let tree = self.point(&objects, name)?.commit.tree;
                for delta in diff(&objects, before, Some(tree))? {
                    if let (Some(leaf), Some(path)) = (delta.new, RelPath::new(delta.path))
                        && search.takes(&path, leaf)?
                    {
                        found.push((name, path));
                    }
                }
                before = Some(tree);
            }
        }
        Ok(found)
    }
}

struct Search<'a> {
    objects: &'a Objects,
    is_wanted: &'a mut dyn FnMut(&[u8]) -> bool,
    judged: HashMap<Oid, bool>,
    seen: HashSet<(RelPath, Oid)>,
}

impl Search<'_> {
    /// Whether a file is wanted and was not met before.
    fn takes(&mut self, path: &RelPath, leaf: Leaf) -> Result<bool, Error> {
        if !matches!(leaf.mode, Mode::File | Mode::Exec) {
            return Ok(false);
        }
        let wanted = match self.judged.get(&leaf.oid) {
            Some(&judged) => judged,
            None => {
                let judged = (self.is_wanted)(&self.objects.read_kind(leaf.oid, Kind::Blob)?);
                self.judged.insert(leaf.oid, judged);
                judged
            }
        };
        Ok(wanted && self.seen.insert((path.clone(), leaf.oid)))
    }
}
