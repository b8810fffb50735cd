//! The document of a session's other files: paths, lengths and what they hold.

use super::files::{Kind, kind};
use super::sha::Sha;
use super::{RemoteError, RemoteResult};
use serde::{Deserialize, Serialize};
use session_core::layout;
use std::collections::BTreeMap;
use std::path::{Component, Path};

const FORMAT: u32 = 1;
/// A document that is longer is none.
pub(super) const MAX_BYTES: u64 = 64 << 20;
/// A longer file is cut into parts of this length.
pub(super) const PART: u64 = 32 << 20;

/// The files of a session, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tree(pub(super) BTreeMap<String, Entry>);

/// A file: the objects that it is made of, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) bytes: u64,
    pub(super) parts: Vec<Sha>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: u32,
    files: BTreeMap<String, Entry>,
}

impl Entry {
    /// The lengths of its parts, with what they hold.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Sha, u64)> {
        let left = |n: usize| self.bytes.saturating_sub(n as u64 * PART);
        self.parts.iter().enumerate().map(move |(n, sha)| (*sha, left(n).min(PART)))
    }

    fn is_whole(&self) -> bool {
        self.parts.len() as u64 == self.bytes.div_ceil(PART).max(1)
    }
}

impl Tree {
    pub(super) fn to_json(&self) -> Vec<u8> {
        let document = Document { format: FORMAT, files: self.0.clone() };
        let mut json = serde_json::to_vec(&document).expect("strings and numbers are always JSON");
        json.push(b'\n');
        json
    }

    /// Reads the document. A path that leads anywhere else than below the session makes it damaged.
    pub(super) fn read(object: &str, bytes: &[u8]) -> RemoteResult<Self> {
        let corrupt = |what: String| RemoteError::Corrupt { object: object.to_owned(), what };
        let document: Document = serde_json::from_slice(bytes).map_err(|error| corrupt(error.to_string()))?;
        if document.format > FORMAT {
            return Err(RemoteError::NewerFormat { object: object.to_owned(), format: document.format, known: FORMAT });
        }
        match document.files.iter().find(|(path, entry)| !is_inside(path) || !entry.is_whole()) {
            Some((path, _)) => Err(corrupt(format!("it names {path:?}"))),
            None => Ok(Tree(document.files)),
        }
    }
}

/// Whether a path leads to a place below where it begins, and nowhere else.
fn is_inside(path: &str) -> bool {
    let is_plain = Path::new(path).components().all(|component| matches!(component, Component::Normal(_)));
    is_plain && !path.is_empty() && !path.ends_with('/') && !path.contains("//") && !path.contains(['\0', '\n'])
}

/// What becomes of a document when a session is sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) tree: Tree,
    /// The files that were changed in both places: those of the copy stay there, those here stay here.
    pub(super) conflicts: Vec<String>,
}

/// What becomes of the document when `local` is sent, where `base` is what was here when both were the same, and `remote`
/// what is there: what is new or changed here goes in, what was removed here and is as it was goes out, everything else
/// stays as others left it.
///
/// Files that change as time goes by belong together (a reference names what a list counts), so if one of them was
/// changed in both places, none of them is sent. If others have changed one, nothing of the checkpoints goes out: what was
/// pruned here may be what they refer to.
///
/// What another one has removed and is here comes back. It may be needed: by references that are here, which were made
/// where it still was; and the copy may have been removed and made anew by somebody who has only a part of it.
pub(super) fn merged(base: &Tree, local: &Tree, remote: &Tree) -> Merged {
    let conflicts = conflicts(base, local, remote);
    let keeps =
        |path: &str| conflicts.iter().any(|conflict| conflict == path || is_changing(conflict) && is_changing(path));
    let has_moved = changing(base).ne(changing(remote));
    let stays = |path: &str| keeps(path) || has_moved && is_of_checkpoints(path);
    let mut tree = remote.clone();
    for (path, before) in base.0.iter().filter(|(path, _)| !local.0.contains_key(*path) && !stays(path)) {
        if remote.0.get(path) == Some(before) {
            tree.0.remove(path);
        }
    }
    for (path, entry) in local.0.iter().filter(|(path, _)| !keeps(path)) {
        if base.0.get(path) != Some(entry) || !remote.0.contains_key(path) {
            tree.0.insert(path.clone(), entry.clone());
        }
    }
    Merged { tree, conflicts }
}

/// The files that `local` and `remote` have both changed since `base`, each in another way.
pub(super) fn conflicts(base: &Tree, local: &Tree, remote: &Tree) -> Vec<String> {
    let differ = |(path, here): &(&String, &Entry)| {
        let (there, before) = (remote.0.get(*path), base.0.get(*path));
        there.is_some_and(|there| there != *here && before != Some(*here) && before != Some(there))
    };
    local.0.iter().filter(differ).map(|(path, _)| path.clone()).collect()
}

/// The files to bring in, and those that were changed in both places. What was removed here is not brought back, unless it
/// was changed there or references come in that may need it, and what is written once is never replaced.
pub(super) fn wanted(base: &Tree, local: &Tree, remote: &Tree) -> (Vec<(String, Entry)>, Vec<String>) {
    let mut conflicts = conflicts(base, local, remote);
    let is_stuck = conflicts.iter().any(|path| is_changing(path));
    let mut wanted = Vec::new();
    for (path, there) in &remote.0 {
        let is_wanted = match (kind(path), local.0.get(path), base.0.get(path)) {
            (Kind::Elsewhere, _, _) => false,
            (Kind::Changing, _, _) if is_stuck => false,
            (_, None, before) => before != Some(there),
            (_, Some(here), _) if here == there => false,
            (Kind::Changing, here, before) => here == before,
            (Kind::Fixed, here, before) => {
                if here == before {
                    conflicts.push(path.clone());
                }
                false
            }
        };
        if is_wanted {
            wanted.push((path.clone(), there.clone()));
        }
    }
    if wanted.iter().any(|(path, _)| is_changing(path)) {
        let is_pruned = |path: &str, there: &Entry| !local.0.contains_key(path) && base.0.get(path) == Some(there);
        let is_object = |path: &str| is_of_checkpoints(path) && kind(path) == Kind::Fixed;
        let needed = remote.0.iter().filter(|(path, there)| is_object(path) && is_pruned(path, there));
        wanted.extend(needed.map(|(path, there)| (path.clone(), there.clone())));
    }
    conflicts.sort();
    conflicts.dedup();
    // What names others is put in place after what it names.
    wanted.sort_by(|(a, _), (b, _)| (is_changing(a), a).cmp(&(is_changing(b), b)));
    (wanted, conflicts)
}

/// The files that change as time goes by.
fn changing(tree: &Tree) -> impl Iterator<Item = (&String, &Entry)> {
    tree.0.iter().filter(|(path, _)| is_changing(path))
}

fn is_of_checkpoints(path: &str) -> bool {
    path.split_once('/').is_some_and(|(first, _)| first == layout::CHECKPOINTS)
}

fn is_changing(path: &str) -> bool {
    kind(path) == Kind::Changing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, u64)]) -> Tree {
        let entry = |bytes: u64| Entry { bytes, parts: vec![Sha::of(&bytes.to_le_bytes())] };
        Tree(files.iter().map(|(path, bytes)| ((*path).to_owned(), entry(*bytes))).collect())
    }

    #[test]
    fn what_is_written_is_read_and_no_path_leads_out() {
        let whole = tree(&[("tmp/a b", 7), ("checkpoints/repo.git/HEAD", 23)]);
        assert_eq!(Tree::read("x", &whole.to_json()).expect("it is whole"), whole);
        for path in ["", "/etc/passwd", "../x", "tmp/../../x", "tmp//x", "tmp/", "./x", "a\0b"] {
            let error = Tree::read("x", &tree(&[(path, 1)]).to_json()).expect_err(path);
            assert!(matches!(error, RemoteError::Corrupt { .. }), "{path}: {error}");
        }
    }

    #[test]
    fn a_merge_keeps_what_others_did_and_what_was_done_here() {
        let base = tree(&[("same", 1), ("gone here", 1), ("gone there", 1), ("new here", 1), ("new there", 1)]);
        let local = tree(&[("same", 1), ("gone there", 1), ("new here", 2), ("new there", 1), ("made here", 5)]);
        let remote = tree(&[("same", 1), ("gone here", 1), ("new here", 1), ("new there", 3), ("made there", 6)]);
        let wanted =
            [("same", 1), ("gone there", 1), ("new here", 2), ("new there", 3), ("made here", 5), ("made there", 6)];
        assert_eq!(merged(&base, &local, &remote), Merged { tree: tree(&wanted), conflicts: Vec::new() });
    }

    #[test]
    fn what_was_changed_in_both_places_stays_as_it_is_in_each() {
        let (head, list) = ("checkpoints/repo.git/HEAD", "checkpoints/meta.json");
        let base = tree(&[("tmp/a", 1), (head, 1), (list, 1)]);
        let local = tree(&[("tmp/a", 2), ("tmp/b", 4), (head, 2), (list, 2)]);
        let remote = tree(&[("tmp/a", 3), ("tmp/b", 5), (head, 3), (list, 1)]);
        let merged = merged(&base, &local, &remote);
        assert_eq!(merged.conflicts, [head, "tmp/a", "tmp/b"]);
        assert_eq!(merged.tree, remote);
    }

    const HEAD: &str = "checkpoints/repo.git/HEAD";
    const PACK: &str = "checkpoints/repo.git/objects/pack/p.pack";

    #[test]
    fn what_references_need_that_others_have_moved_is_not_removed_with_what_was_pruned_here() {
        let base = tree(&[(HEAD, 1), (PACK, 9), ("tmp/a", 1)]);
        // Moved here too, which is a conflict; moved there only; moved here only.
        for (here, there, is_kept) in [(2, 3, true), (1, 3, true), (2, 1, false)] {
            let remote = tree(&[(HEAD, there), (PACK, 9), ("tmp/a", 1)]);
            let merged = merged(&base, &tree(&[(HEAD, here)]), &remote);
            assert_eq!(merged.tree.0.contains_key(PACK), is_kept, "{here} {there}");
            assert_eq!(merged.conflicts.is_empty(), here == 1 || there == 1, "{here} {there}");
            assert!(!merged.tree.0.contains_key("tmp/a"), "{here} {there}: nothing refers to it");
        }
    }

    #[test]
    fn what_was_removed_here_comes_back_only_with_references_that_may_need_it() {
        let base = tree(&[(HEAD, 1), (PACK, 9), ("tmp/a", 1)]);
        let local = tree(&[(HEAD, 1)]);
        let paths = |remote: &[(&str, u64)]| {
            let (files, conflicts) = wanted(&base, &local, &tree(remote));
            assert!(conflicts.is_empty());
            files.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
        };
        assert_eq!(paths(&[(HEAD, 1), (PACK, 9), ("tmp/a", 1)]), [""; 0]);
        assert_eq!(paths(&[(HEAD, 2), (PACK, 9), ("tmp/a", 1)]), [PACK, HEAD]);
    }

    #[test]
    fn what_was_removed_here_and_changed_there_is_kept() {
        let (base, local, remote) = (tree(&[(HEAD, 1), ("tmp/a", 1)]), tree(&[]), tree(&[(HEAD, 2), ("tmp/a", 2)]));
        assert_eq!(merged(&base, &local, &remote), Merged { tree: remote.clone(), conflicts: Vec::new() });
        let (files, conflicts) = wanted(&base, &local, &remote);
        let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!((paths, conflicts), (vec!["tmp/a", HEAD], Vec::new()));
    }

    #[test]
    fn what_comes_in_replaces_nothing_that_was_changed_here() {
        let (head, list, pack) =
            ("checkpoints/repo.git/HEAD", "checkpoints/meta.json", "checkpoints/repo.git/objects/pack/p.pack");
        let base = tree(&[(head, 1), (list, 1), ("tmp/gone", 1), ("tmp/a", 1)]);
        let local = tree(&[(head, 1), (list, 1), ("tmp/a", 1)]);
        let remote = tree(&[
            (head, 2),
            (list, 1),
            (pack, 9),
            ("tmp/gone", 1),
            ("tmp/a", 2),
            ("proc/elm/bg1.json", 3),
            ("tmp/n", 4),
        ]);
        let paths = |found: &[(String, Entry)]| found.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        let (files, conflicts) = wanted(&base, &local, &remote);
        assert_eq!((paths(&files), conflicts), (vec![pack.into(), "tmp/n".into(), head.into()], vec!["tmp/a".into()]));
        let local = tree(&[(head, 3), (list, 1), ("tmp/a", 1)]);
        let (files, conflicts) = wanted(&base, &local, &remote);
        assert_eq!(paths(&files), [pack, "tmp/n"], "a reference that was moved here keeps all of them back");
        assert_eq!(conflicts, [head, "tmp/a"]);
    }
}
