//! `cargo xtask bench`: the benchmarks, which record and never gate.

use crate::project::Project;
use crate::say;
use anyhow::{Result, bail};
use cargo_metadata::{Metadata, TargetKind};

/// Run the benchmarks of one crate, or of all.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The crate, with or without `session-`; without one, every crate that has benchmarks
    name: Option<String>,
}

/// Runs each chosen crate's benchmarks, one crate after the other so that they do not disturb each other.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let with_benches = crates_with_benches(&project.members()?);
    let chosen = match &args.name {
        None => with_benches,
        Some(name) => vec![find(&with_benches, name)?],
    };
    if chosen.is_empty() {
        say::note("no crate has benchmarks yet");
    }
    for package in chosen {
        say::step(&format!("bench {package}"));
        project.cargo(["bench", "--package", &package, "--benches", "--all-features"]).run()?;
    }
    Ok(())
}

fn crates_with_benches(metadata: &Metadata) -> Vec<String> {
    let has_bench = |package: &&cargo_metadata::Package| {
        package.targets.iter().any(|target| target.kind.contains(&TargetKind::Bench))
    };
    metadata.packages.iter().filter(has_bench).map(|package| package.name.to_string()).collect()
}

fn find(crates: &[String], name: &str) -> Result<String> {
    let full = format!("session-{name}");
    match crates.iter().find(|package| *package == name || **package == full) {
        Some(package) => Ok(package.clone()),
        None => bail!("no crate `{name}` or `{full}` has benchmarks; with benchmarks: {}", crates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn a_crate_is_found_by_its_short_and_by_its_full_name() {
        let crates = ["session-core".to_owned(), "session-checkpoint".to_owned()];
        assert_eq!(find(&crates, "core").expect("it is there"), "session-core");
        assert_eq!(find(&crates, "session-checkpoint").expect("it is there"), "session-checkpoint");
        assert!(find(&crates, "cli").is_err());
    }
}
