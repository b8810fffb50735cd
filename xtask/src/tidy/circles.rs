//! No two modules that stand beside each other import each other, straight or through others; nor do two files.
//!
//! A module that is a folder takes what any file in it takes. A name that a module only hands on counts for the file
//! that defines it. A file may use what the modules above it define, as a room does its house, and what an `error`
//! module defines: those are no arrows.

use super::Finding;
use crate::imports::{Arrows, Crate};
use crate::tree::Tree;
use std::collections::BTreeSet;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    Crate::all(tree).iter().flat_map(|of| of.arrows().into_values().flat_map(|beside| circles(&beside))).collect()
}

/// A finding for each group of modules that reach each other.
fn circles(arrows: &Arrows<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for module in arrows.keys().map(String::as_str) {
        let reached = from_here(arrows, module);
        if !reached.contains(module) || !seen.insert(module) {
            continue;
        }
        let group: BTreeSet<&str> =
            reached.into_iter().filter(|other| from_here(arrows, other).contains(module)).collect();
        seen.extend(&group);
        let taken = group.iter().flat_map(|from| &arrows[*from]).filter(|(to, _)| group.contains(to.as_str()));
        let taken: Vec<_> = taken.map(|(_, taken)| taken).collect();
        let ties: Vec<String> =
            taken.iter().map(|taken| format!("{} takes {} from {}", taken.by, taken.name, taken.from)).collect();
        findings.push(Finding::stop(taken[0].by, None, format!("imports run in a circle: {}", ties.join(", "))));
    }
    findings
}

/// All that a module reaches.
fn from_here<'a>(arrows: &'a Arrows<'_>, module: &str) -> BTreeSet<&'a str> {
    let next = |module: &str| arrows.get(module).into_iter().flat_map(|taken| taken.keys().map(String::as_str));
    let mut reached = BTreeSet::new();
    let mut ahead: Vec<&str> = next(module).collect();
    while let Some(module) = ahead.pop() {
        if reached.insert(module) {
            ahead.extend(next(module));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

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
            ("a/src/tree/mod.rs", "mod leaf; mod crown; pub use leaf::Leaf;"),
            ("a/src/tree/leaf.rs", "pub struct Leaf;"),
            ("a/src/tree/crown.rs", "use super::leaf; use crate::Leaf as L; fn f(_: leaf::Leaf, _: L) {}"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
        let mut circle = files;
        circle[3].1 = "pub struct Leaf; fn f(_: crate::oak::Oak) {}";
        assert_eq!(found(&circle).len(), 1, "{:?}", found(&circle));
        let mut inside = files;
        inside[3].1 = "use crate::tree; pub struct Leaf; fn f(_: tree::crown::X) {}";
        assert_eq!(found(&inside).len(), 1, "{:?}", found(&inside));
    }

    #[test]
    fn folders_that_take_from_each_other_are_found_even_if_no_two_of_their_files_do() {
        let mut files = [
            ("a/src/lib.rs", "mod oak; mod elm;"),
            ("a/src/oak/mod.rs", "mod leaf; mod bark;"),
            ("a/src/oak/leaf.rs", "use crate::elm::Twig; pub struct Leaf(Twig);"),
            ("a/src/oak/bark.rs", "pub struct Bark;"),
            ("a/src/elm/mod.rs", "mod twig; mod root; pub(crate) use twig::Twig;"),
            ("a/src/elm/twig.rs", "pub struct Twig;"),
            ("a/src/elm/root.rs", "use crate::oak::bark::Bark; struct Root(Bark);"),
        ];
        assert_eq!(
            found(&files),
            ["a/src/elm/root.rs: imports run in a circle: a/src/elm/root.rs takes Bark from a/src/oak/bark.rs, \
              a/src/oak/leaf.rs takes Twig from a/src/elm/twig.rs"]
        );
        files[2].1 = "pub struct Leaf;";
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_file_uses_what_its_folder_defines_and_tests_use_what_they_want() {
        let files = [
            ("a/src/lib.rs", "mod oak; use oak::Oak; pub const RINGS: u8 = 3; fn f(_: Oak) {}"),
            ("a/src/oak.rs", "use super::RINGS; pub struct Oak([u8; RINGS as usize]);"),
            ("a/src/leaf.rs", "pub struct Leaf; #[cfg(test)] mod tests { use crate::twig::Twig; }"),
            ("a/src/leaf/tests.rs", "use crate::twig::Twig; fn f(_: Twig) {}"),
            ("a/src/twig.rs", "use crate::leaf::Leaf; pub struct Twig(Leaf);"),
            ("b/src/main.rs", "mod leaf; mod twig;"),
            ("b/src/leaf.rs", "use crate::twig::Twig;"),
            ("b/src/twig.rs", "//! Not of this crate: `leaf`."),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
