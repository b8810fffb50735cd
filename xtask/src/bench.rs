//! `cargo xtask bench`: the benchmarks, which record and never gate.

use crate::project::{Project, crates_with};
use crate::say;
use anyhow::{Result, bail};
use cargo_metadata::TargetKind;

/// Run the benchmarks of one crate, or of all.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The crate, with or without `session-`; without one, every crate that has benchmarks
    name: Option<String>,
    /// What the benchmarks themselves are given: for `checkpoint` the sizes S, M and L
    #[arg(last = true, requires = "name")]
    args: Vec<String>,
}

/// Runs each chosen crate's benchmarks, one crate after the other so that they do not disturb each other.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let with_benches = crates_with(&project.members()?, &TargetKind::Bench);
    let chosen = match &args.name {
        None => with_benches,
        Some(name) => vec![find(&with_benches, name)?],
    };
    if chosen.is_empty() {
        say::note("no crate has benchmarks yet");
    }
    for package in chosen {
        say::step(&format!("bench {package}"));
        let cargo = project.cargo(["bench", "--package", &package, "--benches", "--all-features", "--"]);
        cargo.args(&args.args).run()?;
    }
    Ok(())
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
