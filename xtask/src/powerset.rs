//! `cargo xtask powerset`: every combination of features of every published crate compiles without a warning.
//!
//! Cargo unites the features of whatever is built together, so a crate that forgets a feature of its own compiles beside
//! the others all the same. Here each is compiled alone.

use crate::project::Project;
use crate::say;
use anyhow::{Context as _, Result};

/// Check every combination of features of every published crate, each crate alone.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Only this crate; may be repeated
    #[arg(short, long = "package", value_name = "CRATE")]
    packages: Vec<String>,
}

/// Checks them one after the other, and stops at the first that fails.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let mut count = 0;
    for package in project.published()? {
        if !args.packages.is_empty() && !args.packages.contains(&package.name.to_string()) {
            continue;
        }
        let names: Vec<&str> = package.features.keys().map(String::as_str).filter(|name| *name != "default").collect();
        for features in combinations(&names) {
            let features = features.join(",");
            project
                .cargo(["clippy", "--quiet", "--package", &package.name, "--no-default-features"])
                .args(["--features", &features, "--", "-D", "warnings"])
                .run()
                .with_context(|| format!("{} with the features [{features}]", package.name))?;
            count += 1;
        }
    }
    say::passed(&format!("{count} combinations of features compile without a warning"));
    Ok(())
}

/// Every subset, the empty one first.
fn combinations<'a>(names: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut all = vec![Vec::new()];
    for name in names {
        let with: Vec<Vec<&str>> = all.iter().map(|one| [one.as_slice(), &[*name]].concat()).collect();
        all.extend(with);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::combinations;

    #[test]
    fn every_subset_comes_once() {
        assert_eq!(combinations(&[]), [Vec::<&str>::new()]);
        assert_eq!(combinations(&["a", "b"]), [vec![], vec!["a"], vec!["b"], vec!["a", "b"]]);
    }
}
