//! `cargo xtask picture`: the crates and their modules, from the lowest up, with their lines and what they use.
//!
//! Modules are those of a crate's root: a module that is a folder counts with all that is in it, unit tests too. Each
//! stands one storey above the highest that it uses. Those that use each other, which `tidy` forbids, would stand
//! together at the top with all above them.

use crate::imports::Crate;
use crate::project::Project;
use crate::say;
use crate::tree::Tree;
use anyhow::Result;
use cargo_metadata::{DependencyKind, Metadata};
use std::collections::{BTreeMap, BTreeSet};

/// A crate, or a module of its root.
#[derive(Debug, Default)]
struct Part {
    files: usize,
    lines: usize,
    /// The others that it uses.
    uses: BTreeSet<String>,
}

/// Those that stand beside each other, by name.
type Parts = BTreeMap<String, Part>;

/// Prints the picture.
pub(crate) fn run(project: &Project) -> Result<()> {
    let tree = Tree::read(project)?;
    let crates = Crate::all(&tree);
    draw("the crates: storey, name, files, lines, what it uses", &of_workspace(&crates, &project.members()?, &tree));
    for of in &crates {
        draw(of.root, &of_crate(of, &tree));
    }
    Ok(())
}

fn draw(head: &str, parts: &Parts) {
    say::step(head);
    drawn(parts).iter().for_each(|line| say::line(line));
}

/// A line for each part.
fn drawn(parts: &Parts) -> Vec<String> {
    let width = parts.keys().map(String::len).max().unwrap_or_default();
    let line = |storey: usize, name: &str| {
        let Part { files, lines, uses } = &parts[name];
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        let arrow = if uses.is_empty() { String::new() } else { format!("  -> {}", uses.join(", ")) };
        format!("{storey:>3}  {name:width$} {files:>4} {lines:>6}{arrow}")
    };
    let storeys = storeys(parts);
    let names = storeys.iter().enumerate().flat_map(|(storey, names)| names.iter().map(move |name| (storey, *name)));
    names.map(|(storey, name)| line(storey, name)).collect()
}

/// The crates of the workspace, and what each uses outside its tests.
fn of_workspace(crates: &[Crate<'_>], members: &Metadata, tree: &Tree) -> Parts {
    let mut parts = Parts::new();
    let ours: Vec<&str> = members.packages.iter().map(|package| package.name.as_str()).collect();
    for package in &members.packages {
        let root = package.manifest_path.parent().and_then(|at| at.strip_prefix(&members.workspace_root).ok());
        let Some(of) = crates.iter().find(|of| root.is_some_and(|root| root == of.root)) else { continue };
        let mut part = Part::default();
        of.files().for_each(|(path, _)| part.add(tree, path));
        let used = package.dependencies.iter().filter(|used| used.kind == DependencyKind::Normal);
        part.uses = used.map(|used| used.name.clone()).filter(|name| ours.contains(&name.as_str())).collect();
        parts.insert(package.name.to_string(), part);
    }
    parts
}

/// The modules of a crate's root.
fn of_crate(of: &Crate<'_>, tree: &Tree) -> Parts {
    let mut parts = Parts::new();
    for (path, name) in of.files().filter_map(|(path, name)| Some((path, name?))) {
        parts.entry(name.to_owned()).or_default().add(tree, path);
    }
    for (name, taken) in of.arrows().remove(&Vec::new()).unwrap_or_default() {
        parts.entry(name).or_default().uses = taken.into_keys().collect();
    }
    parts
}

impl Part {
    fn add(&mut self, tree: &Tree, path: &str) {
        self.files += 1;
        self.lines += tree.text(path).map_or(0, |text| text.lines().count());
    }
}

/// The parts by their height.
fn storeys(parts: &Parts) -> Vec<Vec<&str>> {
    let mut storeys = Vec::new();
    let mut below: BTreeSet<&str> = BTreeSet::new();
    while below.len() < parts.len() {
        let left = || parts.iter().filter(|(name, _)| !below.contains(name.as_str()));
        let stands = |part: &Part| part.uses.iter().all(|used| below.contains(used.as_str()));
        let mut storey: Vec<&str> = left().filter(|(_, part)| stands(part)).map(|(name, _)| name.as_str()).collect();
        if storey.is_empty() {
            storey = left().map(|(name, _)| name.as_str()).collect();
        }
        below.extend(&storey);
        storeys.push(storey);
    }
    storeys
}

#[cfg(test)]
mod tests {
    use super::{drawn, of_crate};
    use crate::imports::Crate;
    use crate::tree::Tree;

    fn picture(files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::of(files);
        drawn(&of_crate(&Crate::all(&tree)[0], &tree))
    }

    #[test]
    fn a_module_stands_above_all_that_it_uses() {
        let files = [
            ("a/src/lib.rs", "mod crown; mod leaf; mod soil;"),
            ("a/src/crown/mod.rs", "mod twig;\nuse crate::soil::Soil;\nuse twig::Twig;\n"),
            ("a/src/crown/twig.rs", "use crate::leaf::Leaf;\npub(super) struct Twig(Leaf);\n"),
            ("a/src/leaf.rs", "use crate::soil::Soil;\npub(crate) struct Leaf(Soil);\n"),
            ("a/src/soil.rs", "pub(crate) struct Soil;\n"),
        ];
        assert_eq!(
            picture(&files),
            ["  0  soil     1      1", "  1  leaf     1      2  -> soil", "  2  crown    2      5  -> leaf, soil"]
        );
    }

    #[test]
    fn those_that_use_each_other_stand_together() {
        let files = [
            ("a/src/leaf.rs", "use crate::twig::Twig; pub(crate) struct Leaf;"),
            ("a/src/twig.rs", "use crate::leaf::Leaf; pub(crate) struct Twig;"),
        ];
        assert_eq!(picture(&files), ["  0  leaf    1      1  -> twig", "  0  twig    1      1  -> leaf"]);
    }
}
