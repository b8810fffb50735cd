//! `cargo xtask deps`: which crate may use which, and what the core may not touch.

mod core_tree;
mod purity;
mod rules;

use crate::project::Project;
use crate::say;
use anyhow::{Result, bail};

/// Checks the rules and prints every violation before it fails.
pub(crate) fn run(project: &Project) -> Result<()> {
    let mut violations = rules::check(&project.members()?);
    let (crates, tree_violations) = core_tree::check(project)?;
    violations.extend(tree_violations);
    violations.extend(purity::check(&project.root().join("session-core/src"))?);
    for violation in &violations {
        say::line(&format!("  {violation}"));
    }
    if !violations.is_empty() {
        bail!("violations of the dependency rules: {} (xtask/src/deps holds them)", violations.len());
    }
    say::passed(&format!("each crate uses what it may; session-core is pure and needs {crates} crates"));
    Ok(())
}
