//! A tree with some paths set or removed.

use crate::objects::Trees;
use crate::rel_path::split;
use crate::tree::{Mode, TreeEntry, order, parse, push};
use crate::tree_diff::Leaf;
use crate::{Error, Oid};
use std::collections::BTreeMap;

/// What is to become of a path: a file or link in its place, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    Put(Leaf),
    Remove,
}

/// Where new trees go.
pub(crate) trait TreeSink: Trees {
    /// Keeps a tree and gives its id.
    fn keep(&self, bytes: &[u8]) -> Result<Oid, Error>;
}

/// The tree that `base` becomes by these edits; `None` where nothing is left. A directory that becomes empty goes; a
/// file in the way of an edited path goes too.
pub(crate) fn edit(
    sink: &impl TreeSink,
    base: Option<Oid>,
    edits: &BTreeMap<Vec<u8>, Edit>,
) -> Result<Option<Oid>, Error> {
    let all: Vec<(&[u8], Edit)> = edits.iter().map(|(path, edit)| (path.as_slice(), *edit)).collect();
    apply(sink, base, &all)
}

fn apply(sink: &impl TreeSink, base: Option<Oid>, edits: &[(&[u8], Edit)]) -> Result<Option<Oid>, Error> {
    if edits.is_empty() {
        return Ok(base);
    }
    let bytes = base.map_or(Ok(Vec::new()), |oid| sink.tree(oid))?;
    let parsed = parse(&bytes).ok_or_else(|| sink.broken_tree(base.unwrap_or(Oid::ZERO)))?;
    let mut entries: BTreeMap<&[u8], (Mode, Oid)> =
        parsed.iter().map(|entry| (entry.name, (entry.mode, entry.oid))).collect();
    let mut below: BTreeMap<&[u8], Vec<(&[u8], Edit)>> = BTreeMap::new();
    for (path, edit) in edits {
        match path.iter().position(|byte| *byte == b'/') {
            Some(at) => below.entry(&path[..at]).or_default().push((&path[at + 1..], *edit)),
            None => match edit {
                Edit::Put(leaf) => drop(entries.insert(path, (leaf.mode, leaf.oid))),
                // A removed file may have become a directory, which other edits fill.
                Edit::Remove => drop(entries.remove(path)),
            },
        }
    }
    for (name, edits) in below {
        let sub = entries.get(name).filter(|(mode, _)| *mode == Mode::Dir).map(|(_, oid)| *oid);
        let only_removals = edits.iter().all(|(_, edit)| *edit == Edit::Remove);
        if sub.is_none() && only_removals {
            continue;
        }
        match apply(sink, sub, &edits)? {
            Some(oid) => drop(entries.insert(name, (Mode::Dir, oid))),
            None => drop(entries.remove(name)),
        }
    }
    write(sink, &entries)
}

fn write(sink: &impl TreeSink, entries: &BTreeMap<&[u8], (Mode, Oid)>) -> Result<Option<Oid>, Error> {
    if entries.is_empty() {
        return Ok(None);
    }
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted
        .sort_unstable_by(|(a, (a_mode, _)), (b, (b_mode, _))| order(a, *a_mode == Mode::Dir, b, *b_mode == Mode::Dir));
    let mut bytes = Vec::new();
    for (name, (mode, oid)) in sorted {
        push(&mut bytes, TreeEntry { name, mode: *mode, oid: *oid });
    }
    sink.keep(&bytes).map(Some)
}

/// The entry at a path, if there is one.
pub(crate) fn find(trees: &impl Trees, root: Option<Oid>, path: &[u8]) -> Result<Option<Leaf>, Error> {
    let Some(root) = root else { return Ok(None) };
    let (dir, name) = split(path);
    let tree = if dir.is_empty() {
        root
    } else {
        match find(trees, Some(root), dir)? {
            Some(Leaf { mode: Mode::Dir, oid }) => oid,
            _ => return Ok(None),
        }
    };
    let bytes = trees.tree(tree)?;
    let entries = parse(&bytes).ok_or_else(|| trees.broken_tree(tree))?;
    let found = entries.iter().find(|entry| entry.name == name);
    Ok(found.map(|entry| Leaf { mode: entry.mode, oid: entry.oid }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oid::{Kind, hash};
    use crate::tree_diff::{diff, leaves};
    use std::cell::RefCell;
    use std::collections::HashMap;

    #[derive(Default)]
    struct Memory(RefCell<HashMap<Oid, Vec<u8>>>);

    impl Trees for Memory {
        fn tree(&self, oid: Oid) -> Result<Vec<u8>, Error> {
            self.0.borrow().get(&oid).cloned().ok_or_else(|| self.broken_tree(oid))
        }

        fn broken_tree(&self, oid: Oid) -> Error {
            Error::DamagedObject { oid, store: "memory".into() }
        }
    }

    impl TreeSink for Memory {
        fn keep(&self, bytes: &[u8]) -> Result<Oid, Error> {
            let oid = hash(Kind::Tree, bytes);
            self.0.borrow_mut().insert(oid, bytes.to_vec());
            Ok(oid)
        }
    }

    fn put(text: &str) -> Edit {
        Edit::Put(Leaf { mode: Mode::File, oid: hash(Kind::Blob, text.as_bytes()) })
    }

    fn edits(list: &[(&str, Edit)]) -> BTreeMap<Vec<u8>, Edit> {
        list.iter().map(|(path, edit)| (path.as_bytes().to_vec(), *edit)).collect()
    }

    fn paths(memory: &Memory, tree: Option<Oid>) -> Vec<String> {
        let all = leaves(memory, tree).expect("trees in memory");
        all.into_iter().map(|(path, _)| String::from_utf8(path).expect("test paths are text")).collect()
    }

    #[test]
    fn edits_set_remove_and_swap_files_with_directories() {
        let memory = Memory::default();
        let first = edits(&[("a", put("1")), ("b/c", put("2")), ("b/d/e", put("3")), ("z", put("4"))]);
        let one = edit(&memory, None, &first).expect("trees in memory");
        assert_eq!(paths(&memory, one), ["a", "b/c", "b/d/e", "z"]);
        let second = edits(&[("a", Edit::Remove), ("a/x", put("5")), ("b", Edit::Remove), ("z", Edit::Remove)]);
        let two = edit(&memory, one, &second).expect("trees in memory");
        assert_eq!(paths(&memory, two), ["a/x"]);
        let none = edit(&memory, two, &edits(&[("a/x", Edit::Remove), ("q/r", Edit::Remove)])).expect("in memory");
        assert_eq!(none, None);
    }

    #[test]
    fn a_diff_names_a_file_that_became_a_directory_on_both_sides() {
        let memory = Memory::default();
        let one = edit(&memory, None, &edits(&[("a", put("1")), ("k", put("k"))])).expect("in memory");
        let two = edit(&memory, None, &edits(&[("a/b", put("1")), ("k", put("k"))])).expect("in memory");
        let deltas = diff(&memory, one, two).expect("in memory");
        let seen: Vec<_> = deltas.iter().map(|d| (d.path.as_slice(), d.old.is_some(), d.new.is_some())).collect();
        assert_eq!(seen, [(&b"a"[..], true, false), (b"a/b", false, true)]);
    }

    #[test]
    fn find_walks_down_and_stops_at_files() {
        let memory = Memory::default();
        let tree = edit(&memory, None, &edits(&[("a/b/c", put("1"))])).expect("in memory");
        assert!(find(&memory, tree, b"a/b/c").expect("in memory").is_some());
        assert_eq!(find(&memory, tree, b"a/b/c/d").expect("in memory"), None);
        assert_eq!(find(&memory, tree, b"a/x/c").expect("in memory"), None);
    }
}
