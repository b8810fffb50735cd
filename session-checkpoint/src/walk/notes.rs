//! What a walk has to report beside the tree. Only directories that are marked are looked into again.

use super::Walked;
use crate::cache::{Cache, DIR_EMPTY, DIR_NOTES, Entry, EntryKind, FLAG_UNSTABLE, Node};
use crate::rel_path::{RelPath, joined};
use crate::skipped::{SkipReason, Skipped};

/// The report.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) skipped: Vec<Skipped>,
    /// Directories without anything in them.
    pub(crate) empty_dirs: Vec<RelPath>,
    /// Directories with something in them, no directory, and nothing that is stored.
    pub(crate) hidden_dirs: Vec<RelPath>,
    /// The `.git` files and directories of other repositories below the workspace's own.
    pub(crate) nested: Vec<RelPath>,
}

/// Collects the report of a walk, in the order of paths.
pub(crate) fn notes(cache: Option<&Cache>, walked: &Walked) -> Notes {
    let mut notes = Notes::default();
    node(cache, &walked.root, b"", &mut notes);
    notes
}

fn node(cache: Option<&Cache>, at: &Node, path: &[u8], notes: &mut Notes) {
    match (at, cache) {
        (Node::New(dir), _) => {
            if dir.flags & (DIR_NOTES | DIR_EMPTY) == 0 {
                return;
            }
            let has_dirs = dir.entries.iter().any(|new| new.entry.kind == EntryKind::Dir);
            without_files(dir.entries.is_empty(), dir.tree.is_none() && !has_dirs, path, notes);
            for new in &dir.entries {
                let path = joined(path, dir.name(new));
                match &new.child {
                    Some(child) => node(cache, child, &path, notes),
                    None => entry(&new.entry, path, notes),
                }
            }
        }
        (Node::Same(n), Some(cache)) => same(cache, *n, path, notes),
        (Node::Same(_), None) => {}
    }
}

fn same(cache: &Cache, n: u32, path: &[u8], notes: &mut Notes) {
    let dir = cache.dir(n);
    if dir.flags & (DIR_NOTES | DIR_EMPTY) == 0 {
        return;
    }
    let has_dirs = || dir.range().any(|at| cache.entry(at).kind == EntryKind::Dir);
    without_files(dir.count == 0, dir.tree.is_none() && !has_dirs(), path, notes);
    for at in dir.range() {
        let child = cache.entry(at);
        match child.kind {
            EntryKind::Dir if cache.dir(child.child).flags & (DIR_NOTES | DIR_EMPTY) == 0 => {}
            EntryKind::Dir => same(cache, child.child, &joined(path, cache.name(at)), notes),
            EntryKind::Skipped(_) | EntryKind::GitDir => entry(&child, joined(path, cache.name(at)), notes),
            _ if child.flags & FLAG_UNSTABLE != 0 => entry(&child, joined(path, cache.name(at)), notes),
            _ => {}
        }
    }
}

fn without_files(is_empty: bool, is_hidden: bool, path: &[u8], notes: &mut Notes) {
    // The workspace itself has the empty path, which is none.
    let Some(path) = RelPath::new(path) else { return };
    if is_empty {
        notes.empty_dirs.push(path);
    } else if is_hidden {
        notes.hidden_dirs.push(path);
    }
}

fn entry(entry: &Entry, path: Vec<u8>, notes: &mut Notes) {
    let Some(path) = RelPath::new(path) else { return };
    let size = entry.stamp.size;
    match entry.kind {
        EntryKind::Skipped(reason) => notes.skipped.push(Skipped { path, reason, size }),
        EntryKind::GitDir if path.as_bytes().contains(&b'/') => notes.nested.push(path),
        _ if entry.flags & FLAG_UNSTABLE != 0 => {
            notes.skipped.push(Skipped { path, reason: SkipReason::Unstable, size });
        }
        _ => {}
    }
}
