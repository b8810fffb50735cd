//! `cargo xtask ci`: the whole gate.

use crate::project::Project;
use crate::steps::{self, Step};
use crate::{api, deny, deps, fuzz, say, test, tidy, tools};
use anyhow::Result;

/// Run every check that a change has to pass, the cheap ones first, and stop at the first that fails.
///
/// Pinned tools that are missing are installed. A table of the steps and their durations ends the run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Leave out the tests and doctests, because they ran already
    #[arg(long)]
    no_test: bool,
}

/// Runs the steps; the error names the one that failed.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let mut list = vec![
        Step::new("fmt", || format_check(project)),
        Step::new("tidy", || tidy::run(project)),
        Step::new("deps", || deps::run(project)),
        Step::new("clippy", || clippy(project)),
        Step::new("doc", || documentation(project)),
        Step::new("api", || api::run(project, &api::Args::default())),
        Step::new("semver", || api::semver(project)),
        Step::new("fuzz", || fuzz::check(project)),
    ];
    if !args.no_test {
        list.push(Step::new("nextest", || tools::NEXTEST.ensure(project)));
        list.push(Step::new("test", || test::run(project, &test::Args::default())));
    }
    list.push(Step::new("deny", || deny::run(project)));
    steps::run(list)?;
    say::passed("every step passed");
    Ok(())
}

fn format_check(project: &Project) -> Result<()> {
    project.cargo(["fmt", "--all", "--check"]).run()?;
    if fuzz::is_present(project) {
        project.cargo(["fmt", "--check", "--manifest-path", fuzz::MANIFEST]).run()?;
    }
    Ok(())
}

fn clippy(project: &Project) -> Result<()> {
    project.cargo(["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]).run()?;
    Ok(())
}

fn documentation(project: &Project) -> Result<()> {
    project.cargo(["doc", "--no-deps", "--workspace", "--all-features"]).env("RUSTDOCFLAGS", "-D warnings").run()?;
    Ok(())
}
