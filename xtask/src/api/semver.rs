//! Whether the version says what has become of the API since the last release.
//!
//! A line of a record that is gone breaks who uses it, and so does a new variant of an enum that others may match
//! without a wildcard. Then the version has to say so: by its first number, or by the second while the first is 0.

use super::RECORDS;
use super::lines::Difference;
use crate::project::Project;
use crate::say;
use anyhow::{Context as _, Result, bail};
use cargo_metadata::semver::Version;
use std::fs;

pub(super) fn run(project: &Project) -> Result<()> {
    let Some((tag, released)) = last_release(project) else {
        say::note("there is no tag `v…` here: no release to compare with");
        return Ok(());
    };
    let now = project.version()?;
    let mut broken = String::new();
    for name in records_of(project, &tag)? {
        let path = format!("{RECORDS}/{name}");
        let old = git(project, &["show", &format!("{tag}:{path}")]).with_context(|| format!("{path} of {tag}"))?;
        let new = fs::read_to_string(project.root().join(&path)).unwrap_or_default();
        let breaks = breaks(&old, &new);
        if !breaks.is_empty() {
            broken.push_str(&format!("  {path}\n{}", breaks.concat()));
        }
    }
    if broken.is_empty() || may_break(&released, &now) {
        say::passed(&format!("{now} says what changed since {tag}"));
        return Ok(());
    }
    say::line(&broken);
    bail!("the version is {now}, and what {tag} promised is gone: it has to be {} at least", next(&released));
}

/// What breaks who uses the old one, as lines of a difference.
fn breaks(old: &str, new: &str) -> Vec<String> {
    let difference = Difference::between(old, new);
    let removed = difference.removed.iter().map(|line| format!("    - {line}\n"));
    let added = difference.added.iter().filter(|line| is_new_in_a_closed_enum(line, old));
    removed.chain(added.map(|line| format!("    + {line}\n"))).collect()
}

/// Whether a line is a variant of an enum that has promised to have no others.
fn is_new_in_a_closed_enum(line: &str, old: &str) -> bool {
    let Some(path) = line.strip_prefix("pub ") else { return false };
    let path = path.split(['(', ' ', '=']).next().unwrap_or_default();
    let Some((parent, _)) = path.rsplit_once("::") else { return false };
    old.lines().any(|line| line.strip_prefix("pub enum ") == Some(parent))
}

fn may_break(released: &Version, now: &Version) -> bool {
    *now >= next(released)
}

/// The first version that may break what `released` has promised.
fn next(released: &Version) -> Version {
    if released.major == 0 { Version::new(0, released.minor + 1, 0) } else { Version::new(released.major + 1, 0, 0) }
}

/// The newest tag of a release that this checkout comes from.
fn last_release(project: &Project) -> Option<(String, Version)> {
    let tags = git(project, &["tag", "--list", "v*", "--merged", "HEAD"]).ok()?;
    let version = |tag: &str| Some((tag.to_owned(), Version::parse(tag.strip_prefix('v')?).ok()?));
    tags.lines().filter_map(version).max_by(|a, b| a.1.cmp(&b.1))
}

/// The files of records that a release has.
fn records_of(project: &Project, tag: &str) -> Result<Vec<String>> {
    let listed = git(project, &["ls-tree", "--name-only", tag, &format!("{RECORDS}/")])?;
    Ok(listed.lines().filter_map(|path| path.rsplit('/').next()).map(str::to_owned).collect())
}

fn git(project: &Project, args: &[&str]) -> Result<String> {
    Ok(project.command("git").args(args).quiet().ignore_stderr().read()?)
}

#[cfg(test)]
mod tests {
    use super::{breaks, may_break, next};
    use cargo_metadata::semver::Version;

    const OLD: &str = "pub mod oak\npub enum oak::Tree\npub oak::Tree::Oak\n#[non_exhaustive] pub enum oak::Open\n\
                       pub fn oak::fell(u8)\n";

    #[test]
    fn what_is_gone_or_changed_breaks_and_what_is_new_does_not() {
        let new = OLD.replace("fell(u8)", "fell(u16)") + "pub fn oak::plant()\npub oak::Open::Gate\n";
        assert_eq!(breaks(OLD, &new), ["    - pub fn oak::fell(u8)\n"]);
        assert_eq!(breaks(OLD, OLD), Vec::<String>::new());
    }

    #[test]
    fn a_variant_more_breaks_who_matches_all_of_them() {
        let new = format!("{OLD}pub oak::Tree::Elm(u8)\n");
        assert_eq!(breaks(OLD, &new), ["    + pub oak::Tree::Elm(u8)\n"]);
    }

    #[test]
    fn the_number_that_has_to_rise_is_the_first_one_that_is_not_zero() {
        let version = |text: &str| Version::parse(text).expect("a version");
        assert_eq!(next(&version("0.3.4")), version("0.4.0"));
        assert_eq!(next(&version("1.3.4")), version("2.0.0"));
        assert!(!may_break(&version("0.3.4"), &version("0.3.5")) && may_break(&version("0.3.4"), &version("1.0.0")));
        assert!(!may_break(&version("1.0.0"), &version("1.9.0")));
    }
}
