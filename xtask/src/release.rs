//! `cargo xtask release`: the checklist of a release, each point of which is looked at and not remembered.

use crate::project::Project;
use crate::steps::{self, Step};
use crate::{api, ci, powerset, say};
use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::Package;
use std::fs;

/// Go through the checklist of a release; then tag it.
///
/// Nothing is published: the last lines say how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only look: neither a tag, nor a refusal because of changes that are not committed
    #[arg(long)]
    dry_run: bool,
}

/// Looks at every point, and stops at the first that does not hold.
pub(crate) fn run(project: &Project, args: &Args) -> Result<()> {
    let published = project.published()?;
    let version = project.version()?.to_string();
    let tag = format!("v{version}");
    let mut list = vec![
        Step::new("clean", || clean(project, args.dry_run)),
        Step::new("changelog", || changelog(project, &version, args.dry_run)),
        Step::new("tag", || free(project, &tag)),
        Step::new("semver", || api::semver(project)),
        Step::new("powerset", || powerset::run(project, &powerset::Args::default())),
        Step::new("package", || package(project, &published, args.dry_run)),
    ];
    if !args.dry_run {
        list.push(Step::new("gate", || ci::run(project, &ci::Args::default())));
    }
    steps::run(list)?;
    if args.dry_run {
        say::passed(&format!("{tag} could be released, if `cargo xtask ci` says so too"));
        return Ok(());
    }
    project.command("git").args(["tag", "--annotate", &tag, "--message", &tag]).run()?;
    say::passed(&format!("{tag} is tagged; what is left:"));
    say::line(&format!("  git push origin {tag}"));
    say::line(&format!("  cargo publish {}", chosen(&published).join(" ")));
    Ok(())
}

fn clean(project: &Project, is_dry: bool) -> Result<()> {
    let changed = project.command("git").args(["status", "--porcelain"]).read()?;
    match changed.lines().count() {
        0 => {}
        n if is_dry => say::note(&format!("{n} files are not committed")),
        n => bail!("{n} files are not committed"),
    }
    Ok(())
}

fn changelog(project: &Project, version: &str, is_dry: bool) -> Result<()> {
    let text = fs::read_to_string(project.root().join("CHANGELOG.md")).context("cannot read CHANGELOG.md")?;
    if is_dry && tells_of(&text, "Unreleased") {
        say::note(&format!("what is under [Unreleased] gets the heading `## [{version}]` with the date"));
        return Ok(());
    }
    ensure!(tells_of(&text, version), "CHANGELOG.md has no section `## [{version}]` with something in it");
    Ok(())
}

/// Whether the section of a version has an entry.
fn tells_of(changelog: &str, version: &str) -> bool {
    let head = format!("## [{version}]");
    let mut section = changelog
        .lines()
        .skip_while(|line| !line.starts_with(&head))
        .skip(1)
        .take_while(|line| !line.starts_with("## "));
    section.any(|line| line.starts_with("- "))
}

fn free(project: &Project, tag: &str) -> Result<()> {
    let tags = project.command("git").args(["tag", "--list", tag]).read()?;
    ensure!(tags.trim().is_empty(), "the tag {tag} exists: the version must be raised first");
    Ok(())
}

fn package(project: &Project, packages: &[Package], is_dry: bool) -> Result<()> {
    let dirty: &[&str] = if is_dry { &["--allow-dirty"] } else { &[] };
    project.cargo(["package"]).args(chosen(packages)).args(dirty).run()?;
    Ok(())
}

fn chosen(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(|package| ["--package".to_owned(), package.name.to_string()]).collect()
}

#[cfg(test)]
mod tests {
    use super::tells_of;

    #[test]
    fn a_version_without_an_entry_is_not_told_of() {
        let changelog = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.2.0] - 2026-01-02\n\n## [0.1.0]\n\n- first\n";
        assert!(tells_of(changelog, "0.1.0") && tells_of(changelog, "Unreleased"));
        assert!(!tells_of(changelog, "0.2.0") && !tells_of(changelog, "0.3.0"));
    }
}
