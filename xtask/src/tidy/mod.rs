//! `cargo xtask tidy`: the rules of the house that no compiler knows.
//!
//! A rule about one file looks at a [`TextFile`] and returns its findings; a rule about the whole looks at the
//! [`Tree`]. Each has a file of its own, with the tests that show what it catches.

mod bans;
mod changelog;
mod circles;
mod code_map;
mod decisions;
mod errors;
mod functions;
mod invariants;
mod links;
mod module_docs;
mod names;
mod paths;
mod size;
mod whitespace;

use crate::project::Project;
use crate::say;
use crate::tree::{TextFile, Tree};
use anyhow::{Result, bail};
use std::fmt;

/// The rules about one file.
const FILE_RULES: [fn(&TextFile) -> Vec<Finding>; 7] =
    [size::check, functions::check, module_docs::check, names::check, bans::check, paths::check, whitespace::check];

/// The rules about the tree as a whole.
const TREE_RULES: [fn(&Tree) -> Vec<Finding>; 7] = [
    circles::check,
    code_map::check,
    invariants::check,
    errors::check,
    decisions::check,
    changelog::check,
    links::check,
];

/// Checks every rule and prints every finding before it fails.
pub(crate) fn run(project: &Project) -> Result<()> {
    let tree = Tree::read(project)?;
    let mut findings: Vec<Finding> =
        tree.files().iter().flat_map(|file| FILE_RULES.iter().flat_map(|rule| rule(file))).collect();
    findings.extend(TREE_RULES.iter().flat_map(|rule| rule(&tree)));
    for finding in &findings {
        say::line(&format!("  {finding}"));
    }
    let stops = findings.iter().filter(|finding| finding.weight == Weight::Stop).count();
    if stops > 0 {
        bail!("findings to mend: {stops} (CONTRIBUTING.md explains the rules)");
    }
    say::passed(&format!("{} files are tidy", tree.files().len()));
    Ok(())
}

/// Whether a finding fails the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    Hint,
    Stop,
}

/// Something that a rule does not like.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    path: String,
    /// The 1-based line; `None` where the file as a whole is meant.
    line: Option<usize>,
    weight: Weight,
    text: String,
}

impl Finding {
    fn stop(path: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Finding { path: path.to_owned(), line: line.into(), weight: Weight::Stop, text: text.into() }
    }

    fn hint(path: &str, line: impl Into<Option<usize>>, text: impl Into<String>) -> Self {
        Finding { weight: Weight::Hint, ..Finding::stop(path, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        let hint = if self.weight == Weight::Hint { "hint: " } else { "" };
        write!(f, ": {hint}{}", self.text)
    }
}

/// The findings of one rule on an invented file, as printed.
#[cfg(test)]
fn printed(rule: fn(&TextFile) -> Vec<Finding>, path: &str, text: &str) -> Vec<String> {
    rule(&TextFile::new(path, text)).iter().map(ToString::to_string).collect()
}
