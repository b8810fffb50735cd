//! Where the project is, and how a task starts a command in it.

use anyhow::{Context as _, Result};
use cargo_metadata::{Metadata, MetadataCommand, TargetKind};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use xshell::{Cmd, Shell};

/// The checkout, with a shell that stands in its root.
pub(crate) struct Project {
    root: PathBuf,
    shell: Shell,
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

    /// A cargo command that runs in the root.
    pub(crate) fn cargo<I>(&self, args: I) -> Cmd<'_>
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.command("cargo").args(args)
    }

    /// What cargo knows about the crates of the workspace, without their dependencies.
    pub(crate) fn members(&self) -> Result<Metadata> {
        MetadataCommand::new()
            .manifest_path(self.root.join("Cargo.toml"))
            .no_deps()
            .exec()
            .context("cannot read the workspace's metadata")
    }
}

/// The names of the crates that have a target of this kind.
pub(crate) fn crates_with(members: &Metadata, kind: &TargetKind) -> Vec<String> {
    let has_it = |package: &&cargo_metadata::Package| package.targets.iter().any(|target| target.kind.contains(kind));
    members.packages.iter().filter(has_it).map(|package| package.name.to_string()).collect()
}
