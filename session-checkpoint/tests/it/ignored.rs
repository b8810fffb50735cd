//! What rules leave out: never written, never deleted, whatever becomes of the rules.

use crate::support::{Lab, git_command, rel};
use session_checkpoint::{
    Cancel, ConflictKind, ConflictPolicy, Error, KeepReason, Options, Scope, Secrets, SkipReason, TurnRef,
};
use std::fs;

#[test]
fn ck13_c03_what_was_ignored_then_is_not_deleted_although_it_was_captured_later() {
    let mut lab = Lab::with(|options| options.secrets = Secrets::Capture);
    lab.write(".gitignore", ".env\nbuild/\n");
    lab.write(".env", "KEY=1");
    lab.write("build/out", "artefact");
    lab.write("src", "1");
    lab.snapshot();
    assert_eq!(lab.paths(1), [".gitignore", "src"]);
    lab.remove(".gitignore");
    lab.write("src", "2");
    lab.snapshot();
    assert_eq!(lab.paths(2), [".env", "build/out", "src"]);
    let restored = lab.restored(1);
    assert_eq!(
        (lab.read(".env"), lab.read("build/out"), lab.read("src")),
        ("KEY=1".into(), "artefact".into(), "1".into())
    );
    let kept: Vec<_> = restored.kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [".env", "build/out"].map(|path| (path.to_owned(), KeepReason::ExcludedThen)));
    // And again, now that the old rules are back: the second restore is where others deleted it.
    lab.restore(1);
    assert!(lab.exists(".env") && lab.exists("build/out"));
    lab.undo();
    lab.restore(2);
    assert!(lab.exists(".env") && lab.exists("build/out") && !lab.exists(".gitignore"));
}

#[test]
fn ck14_c03_what_is_ignored_now_and_was_captured_then_is_in_the_safety_snapshot() {
    let mut lab = Lab::with(|options| options.secrets = Secrets::Capture);
    lab.write("conf", "then");
    lab.write("gone", "then");
    lab.snapshot();
    lab.write(".gitignore", "conf\ngone\n");
    lab.write("conf", "now, and captured by nobody");
    lab.remove("gone");
    lab.snapshot();
    assert_eq!(lab.paths(2), [".gitignore"]);
    let before = lab.state();
    let stopped = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
    let Err(Error::Conflicts { plan, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(plan.conflicts.len(), 1);
    assert_eq!(
        (plan.conflicts[0].path.to_string(), plan.conflicts[0].kind),
        ("conf".into(), ConflictKind::EditedSince)
    );
    lab.restore(1);
    assert_eq!((lab.read("conf"), lab.read("gone")), ("then".to_owned(), "then".to_owned()));
    assert!(!lab.exists(".gitignore"));
    lab.undo();
    assert_eq!(lab.state(), before, "undo brings the ignored file back and takes away what was restored");
}

#[test]
fn ignored_and_excluded_things_survive_every_restore() {
    let mut lab = Lab::with(|options| options.excludes = vec!["/mine".to_owned(), "*.big".to_owned()]);
    lab.write(".gitignore", "node_modules\n*.log\n!keep.log\n");
    lab.write("a", "1");
    lab.snapshot();
    lab.write("node_modules/x/y", "dep");
    lab.write("d/e.log", "log");
    lab.write("d/keep.log", "kept");
    lab.write("mine/f", "mine");
    lab.write("x.big", "big");
    lab.write("a", "2");
    lab.snapshot();
    assert_eq!(lab.paths(2), [".gitignore", "a", "d/keep.log"]);
    lab.restore(1);
    for path in ["node_modules/x/y", "d/e.log", "mine/f", "x.big"] {
        assert!(lab.exists(path), "{path}");
    }
    assert!(!lab.exists("d/keep.log"));
}

#[test]
fn a_rule_file_that_ignores_itself_is_captured_so_that_its_rules_are_known_later() {
    let mut lab = Lab::new();
    lab.write("venv/.gitignore", "*\n");
    lab.write("venv/lib/x", "installed");
    lab.write("a", "1");
    lab.snapshot();
    assert_eq!(lab.paths(1), ["a", "venv/.gitignore"]);
    lab.remove("venv/.gitignore");
    lab.snapshot();
    assert_eq!(lab.paths(2), ["a", "venv/lib/x"]);
    lab.restore(1);
    assert_eq!(lab.read("venv/lib/x"), "installed");
}

#[test]
fn c03_rules_that_the_caller_excludes_or_that_are_too_large_keep_what_they_left_out() {
    type Change = fn(&mut Options);
    let changes: [Change; 2] =
        [|options| options.excludes = vec![".*".to_owned()], |options| options.max_file_bytes = 8];
    for change in changes {
        let mut lab = Lab::with(change);
        lab.write("sub/.gitignore", "# generated\nout/\n");
        lab.write("sub/out/data", "made");
        lab.write("a", "1");
        lab.snapshot();
        lab.remove("sub/.gitignore");
        lab.write("a", "2");
        lab.snapshot();
        assert_eq!(lab.paths(2), ["a", "sub/out/data"]);
        lab.restore(1);
        assert_eq!((lab.read("a"), lab.read("sub/out/data")), ("1".to_owned(), "made".to_owned()));
    }
}

#[test]
fn c04_a_directory_that_held_only_ignored_files_stays_when_it_is_empty_by_now() {
    let mut lab = Lab::new();
    lab.write(".gitignore", "*.log\n");
    for log in ["logs/x.log", "deep/er/x.log", "mixed/x.log"] {
        lab.write(log, "x");
    }
    lab.write("a", "1");
    lab.snapshot();
    // A look at what has not changed tells of them too.
    lab.snapshot();
    for log in ["logs/x.log", "deep/er/x.log", "mixed/x.log"] {
        lab.remove(log);
    }
    lab.write("mixed/made-later", "2");
    lab.write("new/empty/made-later", "2");
    lab.remove("new/empty/made-later");
    lab.write("a", "2");
    lab.snapshot();
    for turn in [1, 2] {
        lab.restore(turn);
        let there = ["logs", "deep/er", "mixed", "mixed/made-later", "new"].map(|dir| lab.exists(dir));
        assert_eq!(there, [true, true, true, false, false], "turn {turn}");
        lab.undo();
        assert!(lab.exists("mixed/made-later") && lab.exists("new/empty") && lab.exists("logs"));
    }
}

#[test]
fn a_rule_file_is_captured_although_the_caller_excludes_it() {
    let mut lab = Lab::with(|options| options.excludes = vec![".*".to_owned()]);
    lab.write(".gitignore", "out/\n");
    lab.write(".hidden", "x");
    lab.write("out/data", "made");
    lab.snapshot();
    assert_eq!(lab.paths(1), [".gitignore"]);
}

#[test]
fn c27_secrets_stay_out_of_the_store_are_told_and_are_never_touched() {
    let mut lab = Lab::new();
    lab.write(".env", "KEY=1");
    lab.write("deep/id_ed25519", "key");
    lab.write(".env.example", "KEY=");
    lab.write("a", "1");
    let turn = lab.snapshot();
    assert_eq!(lab.paths(1), [".env.example", "a"]);
    let told: Vec<_> = turn.skipped.iter().map(|skipped| (skipped.path.to_string(), skipped.reason)).collect();
    assert_eq!(told, [".env", "deep/id_ed25519"].map(|path| (path.to_owned(), SkipReason::Secret)));
    lab.write(".env", "KEY=2");
    lab.write("a", "2");
    lab.snapshot();
    lab.restore(1);
    assert_eq!((lab.read(".env"), lab.read("a")), ("KEY=2".to_owned(), "1".to_owned()));
    for path in walk(&lab.store) {
        use std::os::unix::fs::PermissionsExt as _;
        let meta = fs::symlink_metadata(&path).expect("it was listed");
        assert_eq!(meta.permissions().mode() & 0o077, 0, "{}", path.display());
    }
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut all = vec![dir.to_owned()];
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() { all.extend(walk(&path)) } else { all.push(path) }
    }
    all
}

#[test]
fn what_is_captured_is_what_git_would_not_ignore() {
    let mut lab = Lab::with(|options| options.secrets = Secrets::Capture);
    let rules = "# comment\n\\#real\n*.o\n!important.o\n/top\nfoo/*\n!foo/bar\ndoc/**/*.txt\na/**/z\n**/any\ntrail \nsp\\ \n[ab]c\n\
                 dir/\n?x\n*.{js,ts}\n\\!bang\nunclosed[\nx/y/\n";
    lab.write(".gitignore", rules);
    lab.write("sub/.gitignore", "!keep.o\n/local\n");
    let files = [
        "#real",
        "a.o",
        "important.o",
        "sub/keep.o",
        "sub/a.o",
        "top",
        "sub/top",
        "foo/x",
        "foo/bar",
        "foo/baz/q",
        "doc/a.txt",
        "doc/x/y/b.txt",
        "doc/x.md",
        "a/z",
        "a/b/c/z",
        "q/any",
        "any",
        "trail",
        "sp ",
        "ac",
        "bc",
        "cc",
        "dir/f",
        "sub/dir/g",
        "notdir",
        "zx",
        "zzx",
        "k.{js,ts}",
        "k.js",
        "!bang",
        "unclosed[",
        "x/y/f",
        "sub/x/y/f",
        "sub/local",
        "sub/deep/local",
    ];
    for file in files {
        lab.write(file, "x");
    }
    let run = |args: &[&str]| {
        let output = git_command(lab.dir.path()).current_dir(&lab.workspace).args(args).output().expect("git runs");
        String::from_utf8(output.stdout).expect("text")
    };
    run(&["init", "-q"]);
    let listed = run(&["ls-files", "-z", "--others", "--exclude-standard"]);
    let mut expected: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
    expected.sort_unstable();
    lab.snapshot();
    assert_eq!(lab.paths(1), expected);
}

#[test]
fn changed_rules_are_followed_below_them_without_touching_a_file() {
    let mut lab = Lab::new();
    lab.write("d/e/x.log", "x");
    lab.write("d/e/y", "y");
    lab.snapshot();
    assert_eq!(lab.paths(1), ["d/e/x.log", "d/e/y"]);
    lab.write(".gitignore", "*.log\n");
    lab.snapshot();
    assert_eq!(lab.paths(2), [".gitignore", "d/e/y"]);
    lab.write(".gitignore", "");
    lab.snapshot();
    assert_eq!(lab.paths(3), [".gitignore", "d/e/x.log", "d/e/y"]);
    let reader = lab.checkpoints.reader().expect("a store");
    assert!(reader.read(TurnRef::Turn(2), &rel("d/e/x.log")).expect("a turn").is_none());
}

#[test]
fn c03_a_rule_file_that_cannot_be_read_ends_the_restore_before_its_first_write() {
    let mut lab = Lab::new();
    let rules: String = (0..200).map(|n| format!("*.{}\n", n * 7919)).collect();
    lab.write(".gitignore", &rules);
    lab.write("a", "1");
    let turn = lab.snapshot();
    lab.write("a", "2");
    lab.write("made-later", "2");
    lab.snapshot();
    let before = lab.state();
    let oid = lab.git(&["rev-parse", &format!("{}:.gitignore", turn.commit)]);
    damage_in_place(&lab, oid.trim());
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &Cancel::new());
    assert!(matches!(plan, Err(Error::DamagedObject { .. })), "{plan:?}");
    assert_eq!(lab.state(), before);
    assert!(lab.checkpoints.reader().expect("a store").safeties().expect("a list").is_empty());
}

/// Spoils the bytes of one object in its pack, and leaves the pack's length and times as they were.
fn damage_in_place(lab: &Lab, oid: &str) {
    use std::os::unix::fs::FileExt as _;
    let dir = lab.repo().join("objects/pack");
    for entry in fs::read_dir(dir).expect("readable") {
        let index = entry.expect("readable").path();
        if index.extension().is_none_or(|ending| ending != "idx") {
            continue;
        }
        let listed = lab.git(&["verify-pack", "-v", index.to_str().expect("scratch paths are text")]);
        let Some(line) = listed.lines().find(|line| line.starts_with(oid)) else { continue };
        let offset: u64 = line.split_whitespace().nth(4).and_then(|n| n.parse().ok()).expect("an offset");
        let file = fs::OpenOptions::new().write(true).open(index.with_extension("pack")).expect("it is ours");
        let modified = file.metadata().and_then(|meta| meta.modified()).expect("it is there");
        file.write_all_at(&[0; 40], offset + 40).expect("scratch");
        file.set_modified(modified).expect("scratch");
        return;
    }
    panic!("no pack holds {oid}");
}
