//! `cargo xtask bless`: records golden files and documented output anew.

use crate::project::Project;
use crate::say;
use anyhow::Result;

/// What trycmd and snapbox read to write what they found instead of comparing it.
const OVERWRITE: [(&str, &str); 2] = [("TRYCMD", "overwrite"), ("SNAPSHOTS", "overwrite")];
/// The modules of `tests/it` that compare with recorded files; see CONTRIBUTING.md.
const RECORDED: [&str; 2] = ["pages::", "snapshots::"];

/// Record golden files and documented output anew; look at the difference before you commit it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only tests whose names contain one of these [default: the modules `pages` and `snapshots`]
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
}

/// Runs the tests that compare with recorded files, in the mode that rewrites these, and shows what changed.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let filters = if args.filters.is_empty() { RECORDED.map(str::to_owned).to_vec() } else { args.filters.clone() };
    project.cargo(["test", "--workspace", "--all-features", "--tests", "--"]).args(&filters).envs(OVERWRITE).run()?;
    say::step("what changed against the index");
    if project.command("git").args(["diff", "--stat"]).run().is_err() {
        say::note("git could not tell what changed; look at the recorded files yourself");
    }
    Ok(())
}
