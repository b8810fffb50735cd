//! What `session-core` brings into a build that depends on it alone.

use crate::project::Project;
use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// How many crates a user of the core alone may have to build, besides the core and the derive macros.
const AT_MOST: usize = 20;

/// The pure crates that may stand in the core's tree.
const ALLOWED: [&str; 20] = [
    // What pictures are written in, where other agents' formats are read.
    "base64",
    // Times, without a clock.
    "chrono",
    "num-traits",
    // JSON.
    "itoa",
    "memchr",
    "serde",
    "serde_core",
    "serde_json",
    "zmij",
    // Digests. cpufeatures asks the processor what it can do; libc is how it asks on some of them.
    "block-buffer",
    "cfg-if",
    "cpufeatures",
    "crypto-common",
    "digest",
    "hybrid-array",
    "libc",
    "sha2",
    "typenum",
    // Errors and text.
    "thiserror",
    "unicode-segmentation",
];

/// Judges the tree for all platforms; returns its size and the violations.
///
/// Asked for this crate alone, because a feature that another member switches on (a clock for chrono) is no
/// fault of the core.
pub(super) fn check(project: &Project) -> Result<(usize, Vec<String>)> {
    let listed = project
        .cargo(["tree", "--package", "session-core", "--all-features", "--target", "all"])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe", "--format", "{p}"])
        .quiet()
        .read()?;
    let crates = crates_in(&listed);
    if !listed.starts_with("session-core ") {
        bail!("`cargo tree` did not list session-core first: {listed}");
    }
    Ok((crates.len(), judge(&crates)))
}

fn crates_in(listed: &str) -> BTreeSet<&str> {
    listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "session-core").collect()
}

fn judge(crates: &BTreeSet<&str>) -> Vec<String> {
    let strangers = crates.iter().filter(|name| !ALLOWED.contains(name));
    let mut violations: Vec<String> =
        strangers.map(|name| format!("session-core brings in {name}, which is not on its list")).collect();
    if crates.len() > AT_MOST {
        violations.push(format!("session-core brings in {} crates, more than {AT_MOST}", crates.len()));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, AT_MOST, crates_in, judge};
    use std::collections::BTreeSet;

    #[test]
    fn the_listing_is_read_without_the_core_and_without_repetitions() {
        let listed = "session-core v0.1.0 (/somewhere)\nchrono v0.4.45\nnum-traits v0.2.19\nchrono v0.4.45\n";
        assert_eq!(crates_in(listed), BTreeSet::from(["chrono", "num-traits"]));
    }

    #[test]
    fn a_crate_that_is_not_on_the_list_is_a_violation() {
        let violations = judge(&BTreeSet::from(["chrono", "iana-time-zone"]));
        assert_eq!(violations, ["session-core brings in iana-time-zone, which is not on its list"]);
    }

    #[test]
    fn too_many_crates_are_a_violation_even_when_each_is_harmless() {
        let names: Vec<String> = (0..=AT_MOST).map(|n| format!("crate{n}")).collect();
        let violations = judge(&names.iter().map(String::as_str).collect());
        assert_eq!(violations.last().map(String::as_str), Some("session-core brings in 21 crates, more than 20"));
    }

    #[test]
    fn the_list_itself_is_within_the_bound() {
        assert!(ALLOWED.len() <= AT_MOST);
    }
}
