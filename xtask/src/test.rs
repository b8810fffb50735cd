//! `cargo xtask test`: the tests of all crates, then their doctests.

use crate::project::{Project, crates_with};
use crate::say;
use crate::tools::NEXTEST;
use anyhow::Result;
use cargo_metadata::TargetKind;

/// The variable that switches the slow families on; the tests of the crates read it.
const LONG_TESTS: &str = "SESSION_LONG_TESTS";

/// Run the tests of all crates, then their doctests.
///
/// Everything is built first, the program `session` included, because the tests of several crates start it.
/// The tests run under cargo-nextest, or under `cargo test` where that is not installed.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Args {
    /// Also run the slow families (sets SESSION_LONG_TESTS=1)
    #[arg(long)]
    long: bool,
    /// Only the tests of this crate; may be repeated
    #[arg(short, long = "package", value_name = "CRATE")]
    packages: Vec<String>,
    /// Only tests whose names contain one of these; doctests are then left out
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
}

/// Builds and runs what the arguments select.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    build(project, args)?;
    unit_and_integration(project, args)?;
    if args.filters.is_empty() {
        doctests(project, args)?;
    } else {
        say::note("doctests were left out, because tests were selected by name");
    }
    say::passed("the tests passed");
    Ok(())
}

/// Builds the programs of the whole workspace first, because a test of one crate may start the program of
/// another, and looks for it beside its own directory: `target/debug/session`.
///
/// Where everything is tested the tests are built in the same go, which leaves the commands below nothing to
/// compile; a selection of crates is left to them.
fn build(project: &Project, args: &Args) -> Result<()> {
    let what: &[&str] = if args.packages.is_empty() { &["--bins", "--tests", "--examples"] } else { &["--bins"] };
    say::step("build the tests and the programs that they start");
    project.cargo(["build", "--workspace", "--all-features"]).args(what).run()?;
    Ok(())
}

fn unit_and_integration(project: &Project, args: &Args) -> Result<()> {
    let command = if NEXTEST.is_installed(project) {
        say::step("tests, under cargo-nextest");
        let profile = if args.long { "long" } else { "ci" };
        project.cargo(["nextest", "run", "--profile", profile]).args(args.selection()).args(&args.filters)
    } else {
        say::step("tests, under cargo test");
        say::note("cargo-nextest is not installed, so no test has a time limit; `cargo xtask tools` installs it");
        // Several filters are an affair of the test programs: cargo itself takes one.
        let separator = (!args.filters.is_empty()).then_some("--");
        project.cargo(["test", "--no-fail-fast", "--tests"]).args(args.selection()).args(separator).args(&args.filters)
    };
    args.with_environment(command).run()?;
    Ok(())
}

/// Only a library has doctests; asked for those of a selected program, cargo fails.
fn doctests(project: &Project, args: &Args) -> Result<()> {
    let mut args = args.clone();
    if !args.packages.is_empty() {
        let libraries = crates_with(&project.members()?, &TargetKind::Lib);
        args.packages.retain(|package| libraries.contains(package));
        if args.packages.is_empty() {
            return Ok(());
        }
    }
    say::step("doctests");
    args.with_environment(project.cargo(["test", "--doc"]).args(args.selection())).run()?;
    Ok(())
}

impl Args {
    /// The crates to test, as cargo's arguments.
    fn selection(&self) -> Vec<String> {
        let mut arguments: Vec<String> =
            self.packages.iter().flat_map(|package| ["--package".to_owned(), package.clone()]).collect();
        if arguments.is_empty() {
            arguments.push("--workspace".to_owned());
        }
        arguments.push("--all-features".to_owned());
        arguments
    }

    fn with_environment<'a>(&self, command: xshell::Cmd<'a>) -> xshell::Cmd<'a> {
        if self.long {
            say::note(&format!("{LONG_TESTS}=1: the slow families run too"));
            command.env(LONG_TESTS, "1")
        } else {
            command
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Args;

    #[test]
    fn without_a_selection_the_whole_workspace_is_tested() {
        assert_eq!(Args::default().selection(), ["--workspace", "--all-features"]);
    }

    #[test]
    fn selected_crates_replace_the_workspace() {
        let args = Args { packages: vec!["session-core".to_owned(), "xtask".to_owned()], ..Args::default() };
        assert_eq!(args.selection(), ["--package", "session-core", "--package", "xtask", "--all-features"]);
    }
}
