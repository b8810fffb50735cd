//! Which file of a crate takes what from which other one.

use super::Arrows;
use super::paths::Paths;
use crate::tidy::Tree;
use std::collections::BTreeMap;

/// A module, by its path from the root of the crate.
type Module = Vec<String>;

/// The longest chain of files that hand a name on.
const MAX_HANDS: usize = 16;

/// The files of a crate.
pub(super) struct Crate<'a> {
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
    pub(super) fn all(tree: &'a Tree) -> Vec<Self> {
        let mut crates: BTreeMap<&str, Crate<'a>> = BTreeMap::new();
        for file in tree.files().iter().filter(|file| file.is_rust()) {
            let Some((root, path)) = file.path.split_once("/src/") else { continue };
            let of = crates.entry(root).or_insert_with(|| Crate { modules: BTreeMap::new() });
            of.modules.insert(module(path), (&file.path, Paths::of(file.tokens())));
        }
        crates.into_values().collect()
    }

    /// Who takes what from whom.
    pub(super) fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (from, (file, paths)) in &self.modules {
            let arrows = arrows.entry((*file).to_owned()).or_default();
            for path in &paths.used {
                if let Some(Target::Item(to, name)) = self.resolve(from, path, 0)
                    // What stands in the folder of a file is its house.
                    && !from.starts_with(&to)
                    // Everything fails with the errors, and they name the values of many.
                    && to.last().is_none_or(|last| last != "error")
                {
                    arrows.insert(self.modules[&to].0.to_owned(), name);
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
