//! No two files of a crate import each other, straight or through others.
//!
//! A name that a module only hands on counts for the file that defines it. A file may use what the modules above it
//! define, as a room does its house, and what an `error` module defines: those are no arrows.

mod arrows;
mod paths;

use super::{Finding, Tree};
use arrows::Crate;
use std::collections::{BTreeMap, BTreeSet};

/// Which file imports which, and a name that it takes from there.
type Arrows = BTreeMap<String, BTreeMap<String, String>>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    Crate::all(tree).iter().flat_map(|of| circles(&of.arrows())).collect()
}

/// A finding for each group of files that reach each other.
fn circles(arrows: &Arrows) -> Vec<Finding> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|from| (from.as_str(), from_here(arrows, from))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|reached| reached.contains(to));
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for file in arrows.keys().map(String::as_str) {
        if !reaches(file, file) || !seen.insert(file) {
            continue;
        }
        let group: BTreeSet<&str> = reached[file].iter().copied().filter(|other| reaches(other, file)).collect();
        seen.extend(&group);
        let ties = group.iter().flat_map(|from| arrows[*from].iter().map(move |(to, name)| (*from, to, name)));
        let ties: Vec<String> = ties
            .filter(|(_, to, _)| group.contains(to.as_str()))
            .map(|(from, to, name)| format!("{from} takes {name} from {to}"))
            .collect();
        findings.push(Finding::stop(file, None, format!("imports run in a circle: {}", ties.join(", "))));
    }
    findings
}

/// All that a file reaches.
fn from_here<'a>(arrows: &'a Arrows, file: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<&str> = arrows.get(file).into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect();
    while let Some(next) = ahead.pop() {
        if reached.insert(next) {
            ahead.extend(arrows.get(next).into_iter().flat_map(BTreeMap::keys).map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::tree::Tree;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_files_that_import_each_other_are_found_with_what_ties_them() {
        let files = [
            ("a/src/lib.rs", "mod oak; mod leaf;"),
            ("a/src/oak.rs", "use crate::leaf::{self, Leaf}; pub(crate) const RINGS: u8 = 3; fn f(_: Leaf) {}"),
            ("a/src/leaf.rs", "pub(crate) struct Leaf; fn g() -> u8 { crate::oak::RINGS }"),
        ];
        assert_eq!(
            found(&files),
            ["a/src/leaf.rs: imports run in a circle: a/src/leaf.rs takes RINGS from a/src/oak.rs, \
              a/src/oak.rs takes Leaf from a/src/leaf.rs"]
        );
    }

    #[test]
    fn a_name_counts_for_the_file_that_defines_it() {
        // The root and the folder only hand it on.
        let files = [
            ("a/src/lib.rs", "mod oak; mod tree; pub use tree::Leaf;"),
            ("a/src/oak.rs", "use crate::Leaf; pub(crate) struct Oak; fn f(_: Leaf) {}"),
            ("a/src/tree/mod.rs", "mod leaf; mod crown; pub use leaf::Leaf; use crate::oak::Oak; fn f(_: Oak) {}"),
            ("a/src/tree/leaf.rs", "pub struct Leaf;"),
            ("a/src/tree/crown.rs", "use super::leaf; use crate::oak; fn f(_: leaf::Leaf, _: oak::Oak) {}"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
        let mut circle = files;
        circle[3].1 = "pub struct Leaf; fn f(_: crate::oak::Oak) {}";
        assert_eq!(found(&circle).len(), 1, "{:?}", found(&circle));
        let mut by_module = files;
        by_module[1].1 = "use crate::tree; pub(crate) struct Oak; fn f(_: tree::crown::X) {}";
        assert_eq!(found(&by_module).len(), 1, "{:?}", found(&by_module));
    }

    #[test]
    fn a_file_uses_what_its_folder_defines_and_tests_use_what_they_want() {
        let files = [
            ("a/src/lib.rs", "mod oak; use oak::Oak; pub const RINGS: u8 = 3; fn f(_: Oak) {}"),
            ("a/src/oak.rs", "use super::RINGS; pub struct Oak([u8; RINGS as usize]);"),
            ("a/src/leaf.rs", "pub struct Leaf; #[cfg(test)] mod tests { use crate::twig::Twig; }"),
            ("a/src/twig.rs", "use crate::leaf::Leaf; pub struct Twig(Leaf);"),
            ("b/src/main.rs", "mod leaf; mod twig;"),
            ("b/src/leaf.rs", "use crate::twig::Twig;"),
            ("b/src/twig.rs", "//! Not of this crate: `leaf`."),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
