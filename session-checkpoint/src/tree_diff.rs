//! What differs between two trees. Subtrees with one id are never read.

use crate::objects::Trees;
use crate::rel_path::joined;
use crate::tree::{Mode, TreeEntry, order, parse};
use crate::{Error, Oid};
use std::cmp::Ordering;

/// A file or link: what it is, and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Leaf {
    pub(crate) mode: Mode,
    pub(crate) oid: Oid,
}

/// A path that is not the same on both sides. At least one side is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delta {
    pub(crate) path: Vec<u8>,
    pub(crate) old: Option<Leaf>,
    pub(crate) new: Option<Leaf>,
}

/// The differences in order of path components. `None` stands for an empty tree.
pub(crate) fn diff(trees: &impl Trees, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<Delta>, Error> {
    let mut deltas = Vec::new();
    walk(trees, old, new, b"", &mut deltas)?;
    deltas.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(deltas)
}

/// All files and links of a tree.
pub(crate) fn leaves(trees: &impl Trees, tree: Option<Oid>) -> Result<Vec<(Vec<u8>, Leaf)>, Error> {
    let deltas = diff(trees, None, tree)?;
    Ok(deltas.into_iter().filter_map(|delta| delta.new.map(|leaf| (delta.path, leaf))).collect())
}

fn read(trees: &impl Trees, oid: Option<Oid>) -> Result<Vec<u8>, Error> {
    oid.map_or(Ok(Vec::new()), |oid| trees.tree(oid))
}

fn walk(
    trees: &impl Trees,
    old: Option<Oid>,
    new: Option<Oid>,
    dir: &[u8],
    deltas: &mut Vec<Delta>,
) -> Result<(), Error> {
    if old == new {
        return Ok(());
    }
    let (old_bytes, new_bytes) = (read(trees, old)?, read(trees, new)?);
    let parsed = |bytes, oid: Option<Oid>| parse(bytes).ok_or_else(|| trees.broken_tree(oid.unwrap_or(Oid::ZERO)));
    let (old, new) = (parsed(&old_bytes, old)?, parsed(&new_bytes, new)?);
    let (mut left, mut right) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let side = match (left.peek(), right.peek()) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => order(a.name, a.mode == Mode::Dir, b.name, b.mode == Mode::Dir),
        };
        let a = if side == Ordering::Greater { None } else { left.next() };
        let b = if side == Ordering::Less { None } else { right.next() };
        pair(trees, a, b, dir, deltas)?;
    }
}

/// Two entries of one name and of one order: both directories, or neither.
fn pair(
    trees: &impl Trees,
    old: Option<&TreeEntry<'_>>,
    new: Option<&TreeEntry<'_>>,
    dir: &[u8],
    deltas: &mut Vec<Delta>,
) -> Result<(), Error> {
    let Some(either) = old.or(new) else { return Ok(()) };
    let path = joined(dir, either.name);
    if either.mode == Mode::Dir {
        return walk(trees, old.map(|entry| entry.oid), new.map(|entry| entry.oid), &path, deltas);
    }
    let leaf = |entry: &TreeEntry<'_>| Leaf { mode: entry.mode, oid: entry.oid };
    let (old, new) = (old.map(leaf), new.map(leaf));
    if old != new {
        deltas.push(Delta { path, old, new });
    }
    Ok(())
}
