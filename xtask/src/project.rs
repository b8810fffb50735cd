//! Where the project is, and how a task starts a command in it.

use anyhow::{Context as _, Result, ensure};
use cargo_metadata::semver::Version;
use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use xshell::{Cmd, Shell};

/// The checkout, with a shell that stands in its root.
pub(crate) struct Project {
    root: PathBuf,
    shell: Shell,
}

/// Whether cargo sets a variable for the program that it runs, about that program.
fn is_own(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

impl Project {
    /// The project that this program was built from, whatever the current directory is.
    pub(crate) fn find() -> Result<Self> {
        // Cargo sets the variable when it runs us; the built-in path serves whoever starts the binary by hand.
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_dir.parent().context("xtask has no parent directory")?.to_owned();
        let shell = Shell::new()?;
        shell.change_dir(&root);
        Ok(Project { root, shell })
    }

    /// The root of the checkout.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A command that runs in the root.
    pub(crate) fn command(&self, program: &str) -> Cmd<'_> {
        self.shell.cmd(program)
    }

    /// A cargo command that runs in the root. What `cargo run` tells this program of itself is not passed on: some build
    /// scripts look at it, and would run again, with all that stands on them, whenever somebody calls cargo directly.
    pub(crate) fn cargo<I>(&self, args: I) -> Cmd<'_>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let own = std::env::vars_os().map(|(name, _)| name).filter(|name| is_own(name));
        own.fold(self.command("cargo").args(args), Cmd::env_remove)
    }

    /// What cargo knows about the crates of the workspace, without their dependencies.
    pub(crate) fn members(&self) -> Result<Metadata> {
        MetadataCommand::new()
            .manifest_path(self.root.join("Cargo.toml"))
            .no_deps()
            .exec()
            .context("cannot read the workspace's metadata")
    }

    /// The crates that others may use, in the order of the workspace.
    pub(crate) fn published(&self) -> Result<Vec<Package>> {
        let is_published = |package: &Package| package.publish.as_ref().is_none_or(|registries| !registries.is_empty());
        Ok(self.members()?.packages.into_iter().filter(is_published).collect())
    }

    /// The names of those of them that are libraries.
    pub(crate) fn libraries(&self) -> Result<Vec<String>> {
        Ok(named(&self.published()?, &TargetKind::Lib))
    }

    /// The version that the crates have together.
    pub(crate) fn version(&self) -> Result<Version> {
        let published = self.published()?;
        let first = published.first().context("no crate is published")?;
        for package in &published {
            let (name, version) = (&package.name, &package.version);
            ensure!(*version == first.version, "{} is {}, {name} is {version}", first.name, first.version);
        }
        Ok(first.version.clone())
    }
}

/// The names of the crates that have a target of this kind.
pub(crate) fn crates_with(members: &Metadata, kind: &TargetKind) -> Vec<String> {
    named(&members.packages, kind)
}

fn named(packages: &[Package], kind: &TargetKind) -> Vec<String> {
    let has_it = |package: &&Package| package.targets.iter().any(|target| target.kind.contains(kind));
    packages.iter().filter(has_it).map(|package| package.name.to_string()).collect()
}
