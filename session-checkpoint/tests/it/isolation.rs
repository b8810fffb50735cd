//! The user's own repository and configuration: neither read nor touched.

use crate::child::{Act, spawn, text};
use crate::support::{Lab, State, fingerprint, git_command};
use std::fs;
use std::process::Command;

fn user_repository(lab: &Lab) {
    let run = |args: &[&str]| {
        let output = git_command(lab.dir.path()).current_dir(&lab.workspace).args(args).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init", "-q"]);
    lab.write(".gitattributes", "* text eol=crlf\n*.bin filter=lfs\n*.id ident\n");
    lab.write("crlf", "a\r\nb\r\n");
    lab.write("mixed", "a\r\nb\n");
    lab.write("lf", "a\nb\n");
    lab.write("utf16.txt", b"\xff\xfea\0\n\0");
    lab.write("x.bin", b"\0\x01binary\r\n");
    lab.write("x.id", "$Id$\n$Id: abc $\n");
    lab.write("run.txt", "x");
    lab.chmod("run.txt", 0o755);
    lab.link("lf", "link");
    run(&["add", "-A"]);
    run(&["commit", "-qm", "user's"]);
    lab.write("lf", "dirty\n");
    run(&["checkout", "-q", "--detach"]);
}

/// Everything that could make a git misbehave.
fn hostile(lab: &Lab, command: &mut Command) {
    let home = lab.dir.path().join("home");
    let hooks = home.join("hooks");
    fs::create_dir_all(hooks.join("template/hooks")).expect("scratch");
    for hook in
        ["pre-commit", "post-commit", "reference-transaction", "post-index-change", "template/hooks/post-commit"]
    {
        let path = hooks.join(hook);
        crate::support::write(&path, format!("#!/bin/sh\ntouch {}/hook-ran\n", home.display()));
        crate::support::chmod(&path, 0o755);
    }
    let config = format!(
        "[commit]\n gpgsign = true\n[tag]\n gpgsign = true\n[core]\n autocrlf = true\n hooksPath = {0}\n excludesFile = {1}/excludes\n \
         fsmonitor = {0}/pre-commit\n fileMode = false\n symlinks = false\n safecrlf = true\n[init]\n templateDir = {0}/template\n \
         defaultBranch = evil\n[safe]\n directory = /nowhere\n[extensions]\n broken\n",
        hooks.display(),
        home.display()
    );
    fs::write(home.join(".gitconfig"), config).expect("scratch");
    fs::write(home.join("excludes"), "*.txt\n").expect("scratch");
    let git = lab.path(".git");
    command
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", &home)
        .env("GIT_DIR", &git)
        .env("GIT_WORK_TREE", &lab.workspace)
        .env("GIT_INDEX_FILE", git.join("index"))
        .env("GIT_OBJECT_DIRECTORY", git.join("objects"))
        .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", git.join("objects"))
        .env("GIT_CONFIG_GLOBAL", home.join(".gitconfig"))
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "false")
        .env("GIT_CEILING_DIRECTORIES", "/")
        .env("GIT_TEMPLATE_DIR", hooks.join("template"))
        .env("PATH", "/nonexistent");
}

#[test]
fn ck21_c11_c12_nothing_of_the_users_git_is_read_or_touched() {
    let mut lab = Lab::new();
    user_repository(&lab);
    let users = fingerprint(&lab.path(".git"));
    let tree = lab.snapshot().tree;
    // The same work in a hostile environment, on the same store.
    let mut command = spawn(Act::Snapshot, &lab.workspace, &lab.store);
    hostile(&lab, &mut command);
    let output = command.output().expect("a child runs");
    assert!(output.status.success(), "{}", text(&output));
    let turns = lab.checkpoints.reader().expect("a store").turns().expect("a list");
    assert_eq!((turns.len(), turns[1].tree), (2, tree), "the same tree with and without");
    lab.write("crlf", "changed");
    lab.remove("x.id");
    lab.write("mixed", "\r\r\n");
    lab.write("utf16.txt", "y");
    lab.snapshot();
    let mut command = spawn(Act::Restore, &lab.workspace, &lab.store);
    hostile(&lab, &mut command);
    let output = command.output().expect("a child runs");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fingerprint(&lab.path(".git")), users);
    assert!(!lab.dir.path().join("home/hook-ran").exists(), "a hook ran");
    assert_eq!(lab.read("crlf"), "a\r\nb\r\n");
    assert_eq!(lab.read("mixed"), "a\r\nb\n");
    assert_eq!(lab.read("x.id"), "$Id$\n$Id: abc $\n");
    assert_eq!(fs::read(lab.path("utf16.txt")).expect("it is there"), b"\xff\xfea\0\n\0");
    lab.fsck();
}

#[test]
fn ck25_bytes_are_exact_whatever_attributes_say() {
    let mut lab = Lab::new();
    user_repository(&lab);
    lab.snapshot();
    let before: State = lab.state();
    for name in ["crlf", "mixed", "lf", "utf16.txt", "x.bin", "x.id"] {
        lab.write(name, "changed\n");
    }
    lab.remove(".gitattributes");
    lab.snapshot();
    lab.restore(1);
    assert_eq!(lab.state(), before);
}

#[test]
fn c19_the_state_of_the_users_repository_does_not_matter() {
    let states: [&[&str]; 3] =
        [&["init", "-q"], &["init", "-q", "--bare"], &["init", "-q", "--separate-git-dir=../elsewhere"]];
    for args in states {
        let mut lab = Lab::new();
        let output = git_command(lab.dir.path()).current_dir(&lab.workspace).args(args).output().expect("git runs");
        assert!(output.status.success());
        let before = fingerprint(&lab.workspace);
        lab.write("a", "1");
        lab.snapshot();
        lab.write("a", "2");
        lab.snapshot();
        lab.restore(1);
        lab.remove("a");
        assert_eq!(fingerprint(&lab.workspace), before);
    }
}

#[test]
fn stock_git_used_in_the_store_by_hand_does_no_harm() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    lab.git(&["gc", "-q"]);
    lab.git(&["pack-refs", "--all"]);
    assert_eq!(lab.git(&["symbolic-ref", "HEAD"]).trim(), "refs/heads/turns");
    lab.reopen();
    lab.write("a", "2");
    assert_eq!(lab.snapshot().turn, 2);
    lab.restore(1);
    assert_eq!(lab.read("a"), "1");
    lab.fsck();
}
