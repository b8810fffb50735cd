//! Which crate of the workspace may use which other, and which foreign crates are some crate's affair alone.

use cargo_metadata::{DependencyKind, Metadata};

/// A crate, and the crates of this workspace that it may use.
struct Rule {
    name: &'static str,
    may_use: &'static [&'static str],
}

/// Judgement in the core, effects at the rim; the two specialists never use each other.
const RULES: [Rule; 10] = [
    Rule { name: "session-core", may_use: &[] },
    Rule { name: "session-disk", may_use: &[] },
    Rule { name: "session-secrets", may_use: &["session-core"] },
    Rule { name: "session-proc", may_use: &["session-core", "session-disk"] },
    Rule { name: "session-checkpoint", may_use: &["session-core", "session-disk"] },
    Rule { name: "session-store", may_use: &["session-core", "session-disk", "session-proc", "session-secrets"] },
    Rule {
        name: "session-cli",
        may_use: &[
            "session-checkpoint",
            "session-core",
            "session-disk",
            "session-proc",
            "session-secrets",
            "session-store",
        ],
    },
    // Benchmarks, and what else only they need.
    Rule { name: "session-bench", may_use: &["session-core", "session-store", "session-testing"] },
    // Only tests and benchmarks use it, and it knows none of what they test.
    Rule { name: "session-testing", may_use: &[] },
    Rule { name: "xtask", may_use: &[] },
];

/// Foreign crates that only one crate may name: `(foreign, ours)`.
const RESERVED: [(&str, &str); 5] = [
    ("git2", "session-checkpoint"),
    ("libgit2-sys", "session-checkpoint"),
    ("object_store", "session-store"),
    ("rusqlite", "session-bench"),
    ("tokio", "session-store"),
];

/// Judges the normal dependencies of every member; what only tests use is free.
pub(super) fn check(metadata: &Metadata) -> Vec<String> {
    let members: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut violations = Vec::new();
    for package in &metadata.packages {
        let uses: Vec<&str> = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal)
            .map(|dependency| dependency.name.as_str())
            .collect();
        violations.extend(judge(&package.name, &uses, &members));
    }
    violations
}

fn judge(name: &str, uses: &[&str], members: &[&str]) -> Vec<String> {
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        return vec![format!("{name}: no rule says what it may use; add one")];
    };
    let mut violations = Vec::new();
    for used in uses {
        if members.contains(used) && !rule.may_use.contains(used) {
            violations.push(format!("{name} may not use {used}"));
        }
        for (foreign, owner) in RESERVED {
            if *used == foreign && name != owner {
                violations.push(format!("{name} may not use {foreign}: only {owner} may"));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::{RULES, judge};

    const MEMBERS: [&str; 8] = [
        "session-core",
        "session-disk",
        "session-secrets",
        "session-proc",
        "session-checkpoint",
        "session-store",
        "session-cli",
        "xtask",
    ];

    #[test]
    fn what_the_rules_allow_passes() {
        for rule in &RULES {
            assert_eq!(judge(rule.name, rule.may_use, &MEMBERS), Vec::<String>::new());
        }
        assert_eq!(judge("session-checkpoint", &["git2", "serde"], &MEMBERS), Vec::<String>::new());
    }

    #[test]
    fn the_two_specialists_may_not_use_each_other() {
        assert_eq!(
            judge("session-proc", &["session-checkpoint"], &MEMBERS),
            ["session-proc may not use session-checkpoint"]
        );
        assert_eq!(
            judge("session-checkpoint", &["session-proc"], &MEMBERS),
            ["session-checkpoint may not use session-proc"]
        );
    }

    #[test]
    fn nothing_may_use_the_command_line_or_the_tasks() {
        for rule in &RULES {
            assert!(!rule.may_use.contains(&"session-cli"), "{}", rule.name);
            assert!(!rule.may_use.contains(&"xtask"), "{}", rule.name);
        }
    }

    #[test]
    fn git2_is_for_the_checkpoints_alone() {
        assert_eq!(
            judge("session-store", &["git2"], &MEMBERS),
            ["session-store may not use git2: only session-checkpoint may"]
        );
    }

    #[test]
    fn a_crate_without_a_rule_is_a_violation() {
        assert_eq!(judge("session-web", &[], &MEMBERS), ["session-web: no rule says what it may use; add one"]);
    }
}
