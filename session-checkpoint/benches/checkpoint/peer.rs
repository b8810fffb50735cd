//! The git program doing the same, one process per step, its housekeeping off.

use std::path::Path;
use std::process::{Command, Stdio};

fn git(repo: &Path, work: &Path, args: &[&str]) {
    let status = Command::new("git")
        .env("GIT_DIR", repo)
        .env("GIT_WORK_TREE", work)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", repo.parent().expect("it has one"))
        .args(args)
        .current_dir(work)
        .stdout(Stdio::null())
        .status()
        .expect("git runs");
    assert!(status.success(), "git {args:?}");
}

pub(crate) fn init(repo: &Path, work: &Path) {
    git(repo, work, &["init", "-q"]);
    for (key, value) in
        [("gc.auto", "0"), ("maintenance.auto", "false"), ("user.name", "a"), ("user.email", "a@b.invalid")]
    {
        git(repo, work, &["config", key, value]);
    }
}

/// A copy of a tree, by the program that everybody has.
pub(crate) fn copy(flags: &str, from: &Path, to: &Path) {
    let status = Command::new("cp").arg(flags).arg(from).arg(to).status().expect("cp runs");
    assert!(status.success(), "cp {flags}");
}

/// What others do each turn.
pub(crate) fn turn(repo: &Path, work: &Path, n: u32) {
    git(repo, work, &["add", "-A"]);
    git(repo, work, &["commit", "-q", "--allow-empty", "-m", "turn"]);
    git(repo, work, &["tag", &format!("turn-{n}")]);
}

/// A restore that can be undone: a safety commit, the tree put back, a commit of the result.
pub(crate) fn safe_restore(repo: &Path, work: &Path, to: u32) {
    git(repo, work, &["add", "-A"]);
    git(repo, work, &["commit", "-q", "--allow-empty", "-m", "safety"]);
    git(repo, work, &["tag", "-f", "safety"]);
    git(repo, work, &["read-tree", "--reset", "-u", &format!("turn-{to}")]);
    git(repo, work, &["commit", "-q", "--allow-empty", "-m", "restored"]);
    git(repo, work, &["tag", "-f", "restored"]);
}

/// One `git diff` for each turn, as a list without a record must do it.
pub(crate) fn diff_each(repo: &Path, turns: &[u32]) {
    for pair in turns.windows(2) {
        let (from, to) = (format!("turn-{}", pair[0]), format!("turn-{}", pair[1]));
        git(repo, repo, &["diff", "--name-status", &from, &to]);
    }
}
