//! The tools that the tasks use beside cargo itself: their pinned versions, and how they are installed.

use crate::project::Project;
use crate::say;
use anyhow::{Context as _, Result};
use cargo_metadata::semver::Version;

/// Runs the tests, each in a process of its own and with a time limit.
pub(crate) const NEXTEST: Tool = Tool {
    name: "nextest",
    pinned: "0.9.143",
    oldest: "0.9.100",
    // Without the part that updates itself, and the network stack that this brings.
    features: Some("default-no-update"),
};
/// Checks licences, sources, bans and advisories.
pub(crate) const DENY: Tool = Tool { name: "deny", pinned: "0.20.2", oldest: "0.20.0", features: None };
/// Builds and runs fuzz targets. Only `cargo xtask fuzz` needs it.
pub(crate) const FUZZ: Tool = Tool { name: "fuzz", pinned: "0.13.2", oldest: "0.12.0", features: None };

/// A cargo subcommand that comes as a crate `cargo-NAME`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    name: &'static str,
    /// What is installed when there is nothing, or something older than `oldest`.
    pinned: &'static str,
    /// Any version from here on is taken as it is: what is installed belongs to the user.
    oldest: &'static str,
    /// The features to build it with, where the default ones are too many.
    features: Option<&'static str>,
}

impl Tool {
    /// Whether the installed version, if there is one, is new enough.
    pub(crate) fn is_installed(&self, project: &Project) -> bool {
        let Ok(output) = project.cargo([self.name, "--version"]).quiet().ignore_stderr().read() else { return false };
        version_in(&output).is_some_and(|found| self.accepts(&found))
    }

    /// Installs the pinned version unless a good one is there.
    ///
    /// Built without optimisation: these tools run for seconds, and would compile for many minutes more.
    pub(crate) fn ensure(&self, project: &Project) -> Result<()> {
        if self.is_installed(project) {
            return Ok(());
        }
        let Tool { name, pinned, features, .. } = self;
        say::note(&format!("cargo-{name} is missing or too old: installing {pinned}, which takes some minutes, once"));
        project
            .cargo(["install", "--locked", "--debug", &format!("cargo-{name}"), "--version", pinned])
            .args(features.iter().flat_map(|features| ["--no-default-features", "--features", features]))
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .run()
            .with_context(|| {
                format!("cannot install cargo-{name}; `cargo install --locked cargo-{name}` is the way by hand")
            })
    }

    fn accepts(&self, found: &Version) -> bool {
        let oldest = Version::parse(self.oldest).expect("the constants above are versions");
        *found >= oldest
    }
}

/// Installs every tool that `ci` uses and that is missing.
pub(crate) fn install_missing(project: &Project) -> Result<()> {
    for tool in [NEXTEST, DENY] {
        tool.ensure(project)?;
        say::passed(&format!("cargo-{} is installed", tool.name));
    }
    Ok(())
}

/// The version in a line such as `cargo-deny 0.20.2`.
fn version_in(output: &str) -> Option<Version> {
    output.split_whitespace().find_map(|word| Version::parse(word).ok())
}

#[cfg(test)]
mod tests {
    use super::{DENY, FUZZ, NEXTEST, Tool, version_in};
    use cargo_metadata::semver::Version;

    #[test]
    fn the_version_is_found_in_what_tools_print() {
        let printed = "cargo-nextest 0.9.143 (60fa45f63 2026-08-04)\nrelease: 0.9.143\n";
        assert_eq!(version_in(printed), Some(Version::new(0, 9, 143)));
        assert_eq!(version_in("error: no such command: `deny`"), None);
    }

    #[test]
    fn a_newer_version_is_left_alone_and_an_older_one_replaced() {
        let tool = Tool { name: "x", pinned: "1.4.2", oldest: "1.4.0", features: None };
        assert!(tool.accepts(&Version::new(2, 0, 0)));
        assert!(tool.accepts(&Version::new(1, 4, 0)));
        assert!(!tool.accepts(&Version::new(1, 3, 9)));
    }

    #[test]
    fn every_pinned_version_is_accepted() {
        for tool in [NEXTEST, DENY, FUZZ] {
            assert!(tool.accepts(&Version::parse(tool.pinned).expect("a pinned version is a version")), "{tool:?}");
        }
    }
}
