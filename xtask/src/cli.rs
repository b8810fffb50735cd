//! What can be typed after `cargo xtask`.

use crate::{api, bench, bless, ci, fuzz, powerset, release, test};
use clap::{Parser, Subcommand};

/// The project's own tasks.
///
/// `cargo xtask ci` is the whole gate; the other tasks are its parts, and what a developer needs beside it.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// One task each.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run every check that a change has to pass, the cheap ones first, and stop at the first that fails
    Ci(ci::Args),
    /// Run the tests of all crates, then their doctests
    Test(test::Args),
    /// Check the rules of the house that no compiler knows: sizes, names, docs, invariants, decisions
    Tidy,
    /// Draw the crates and their modules, the lowest first, with their lines and what they use
    Picture,
    /// Check which crate uses which, and that session-core is pure
    Deps,
    /// Compare what the libraries show to others with its record in docs/api
    Api(api::Args),
    /// Check that the version says what has become of the API since the last release
    Semver,
    /// Check every combination of features of every published crate, each crate alone
    Powerset(powerset::Args),
    /// Record golden files and documented output anew; look at the difference before you commit it
    Bless(bless::Args),
    /// Run the fuzz targets of session-core (needs a nightly toolchain)
    Fuzz(fuzz::Args),
    /// Run the benchmarks of one crate, or of all
    Bench(bench::Args),
    /// Go through the checklist of a release, and tag it
    Release(release::Args),
    /// Install the pinned tools that `ci` uses, where they are missing
    Tools,
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
