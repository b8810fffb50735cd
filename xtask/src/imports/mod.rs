//! Which module of a crate takes what from which other one.

mod paths;

use crate::tree::Tree;
use paths::Paths;
use std::collections::BTreeMap;

/// Which module takes from which other one beside it, and an example of what.
pub(crate) type Arrows<'a> = BTreeMap<String, BTreeMap<String, Taken<'a>>>;

/// A module, by its path from the root of the crate.
pub(crate) type Module = Vec<String>;

/// A name that a file takes from another one.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    pub(crate) by: &'a str,
    pub(crate) from: &'a str,
    pub(crate) name: String,
}

/// The longest chain of files that hand a name on.
const MAX_HANDS: usize = 16;

/// The files of a crate.
pub(crate) struct Crate<'a> {
    /// Where it stands, from the root of the checkout.
    pub(crate) root: &'a str,
    modules: BTreeMap<Module, (&'a str, Paths)>,
}

/// What a path leads to.
enum Target {
    Module(Module),
    /// Something that this module defines.
    Item(Module, String),
}

impl<'a> Crate<'a> {
    /// Those of a tree.
    pub(crate) fn all(tree: &'a Tree) -> Vec<Self> {
        let mut crates: BTreeMap<&str, Crate<'a>> = BTreeMap::new();
        for file in tree.files().iter().filter(|file| file.is_rust()) {
            let Some((root, path)) = file.path.split_once("/src/") else { continue };
            let of = crates.entry(root).or_insert_with(|| Crate { root, modules: BTreeMap::new() });
            of.modules.insert(module(path), (&file.path, Paths::of(file.tokens())));
        }
        crates.into_values().collect()
    }

    /// Each file's path, and the module of the root that it belongs to; `None` for the root itself.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'a str, Option<&str>)> {
        self.modules.iter().map(|(module, (path, _))| (*path, module.first().map(String::as_str)))
    }

    /// Who takes from whom, among the modules that stand beside each other; by the module in which they stand, the
    /// root's first. An arrow between two files is one between the modules of theirs that stand side by side.
    pub(crate) fn arrows(&self) -> BTreeMap<Module, Arrows<'a>> {
        let mut arrows: BTreeMap<Module, Arrows<'a>> = BTreeMap::new();
        // Unit tests use what they want, also those that stand in a file of their own.
        let sources = self.modules.iter().filter(|(module, _)| module.last().is_none_or(|last| last != "tests"));
        for (from, (file, paths)) in sources {
            for path in &paths.used {
                let Some(Target::Item(to, name)) = self.resolve(from, path, 0) else { continue };
                // Everything fails with the errors, and they name the values of many.
                if to.last().is_some_and(|last| last == "error") {
                    continue;
                }
                let shared = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
                // One of two that stand in each other is the house of the other one.
                if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
                    let taken = Taken { by: file, from: self.modules[&to].0, name };
                    let beside = arrows.entry(from[..shared].to_vec()).or_default();
                    beside.entry(one.clone()).or_default().insert(other.clone(), taken);
                }
            }
        }
        arrows
    }

    /// What a path that stands in a module leads to. `None` for what is none of the crate's.
    fn resolve(&self, at: &Module, path: &[String], hands: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let child = joined(at, first);
        let (mut here, mut rest) = match first.as_str() {
            "crate" => (Module::new(), rest),
            "self" => (at.clone(), rest),
            "super" => (at.split_last()?.1.to_vec(), rest),
            _ if self.modules.contains_key(&child) => (child, rest),
            _ => match self.named(at, first, hands)? {
                Target::Module(module) => (module, rest),
                item @ Target::Item(..) => return Some(item),
            },
        };
        while let Some((next, behind)) = rest.split_first() {
            let child = joined(&here, next);
            here = match next.as_str() {
                "super" => here.split_last()?.1.to_vec(),
                _ if self.modules.contains_key(&child) => child,
                _ => match self.named(&here, next, hands) {
                    Some(Target::Module(module)) => module,
                    Some(item) => return Some(item),
                    None => return self.modules.contains_key(&here).then(|| Target::Item(here, next.clone())),
                },
            };
            rest = behind;
        }
        Some(Target::Module(here))
    }

    /// What a name stands for that a module has from elsewhere.
    fn named(&self, module: &Module, name: &str, hands: usize) -> Option<Target> {
        let path = self.modules.get(module)?.1.names.get(name).filter(|_| hands < MAX_HANDS)?;
        self.resolve(module, path, hands + 1)
    }
}

fn joined(module: &Module, name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The module of a file, by its path behind `src/`.
fn module(path: &str) -> Module {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
    module
}
