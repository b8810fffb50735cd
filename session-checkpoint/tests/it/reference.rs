//! The reference's repository: listed, compared, restorable, never written.

use crate::support::{Lab, fingerprint, git_command, write};
use session_checkpoint::{
    Cancel, ChangedBy, Checkpoints, ConflictKind, ConflictPolicy, Error, KeepReason, Options, Reader, Request, Scope,
    TurnRef,
};
use std::fs;
use std::path::{Path, PathBuf};

/// A repository as the reference keeps one, with the workspace as its work tree.
fn reference(lab: &Lab) -> PathBuf {
    let dir = lab.dir.path().join("reference");
    fs::create_dir_all(&dir).expect("scratch");
    let run = |args: &[&str]| git(lab, &dir, args);
    run(&["init", "-q"]);
    lab.write("a", "1");
    lab.write("d/b", "1");
    lab.chmod("d/b", 0o755);
    run(&["add", "-A"]);
    run(&["commit", "-qm", "first"]);
    run(&["tag", "turn-1"]);
    lab.write("a", "2");
    lab.write("c", "2");
    lab.remove("d");
    run(&["add", "-A"]);
    run(&["commit", "-qm", "second"]);
    run(&["tag", "-a", "-m", "annotated", "turn-2"]);
    fs::write(dir.join("external-files.json"), r#"{"/etc/a": "x", "files": ["/etc/b", "not absolute"]}"#)
        .expect("scratch");
    dir
}

/// The reference's map and copies of external files, which it keeps beside its repository and adds to each commit.
fn add_externals(lab: &Lab, dir: &Path, files: &[(&str, &Path, &str)]) {
    let map: serde_json::Map<String, serde_json::Value> = files
        .iter()
        .map(|(key, path, _)| ((*key).to_owned(), serde_json::json!({"original_path": path, "first_tracked_turn": 1})))
        .collect();
    write(&dir.join("external-files.json"), serde_json::to_vec(&map).expect("strings and numbers"));
    for (key, _, content) in files {
        write(&dir.join("external-files").join(key), content);
    }
    let output = git_command(lab.dir.path())
        .current_dir(dir)
        .env("GIT_DIR", dir.join(".git"))
        .env("GIT_WORK_TREE", dir)
        .args(["add", "-Af", "external-files", "external-files.json"])
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn git(lab: &Lab, dir: &Path, args: &[&str]) {
    let output = git_command(lab.dir.path())
        .current_dir(&lab.workspace)
        .env("GIT_DIR", dir.join(".git"))
        .env("GIT_WORK_TREE", &lab.workspace)
        .args(args)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn turns_of_the_reference_are_listed_compared_and_restored_and_its_repository_is_untouched() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    let before = fingerprint(&dir);
    let reader = Reader::open_reference(&dir).expect("a repository");
    let turns = reader.turns().expect("a list");
    let told: Vec<_> = turns.iter().map(|turn| (turn.turn, turn.label.as_str(), turn.changed_n)).collect();
    assert_eq!(told, [(1, "first", 2), (2, "second", 3)]);
    assert_eq!(reader.changes(TurnRef::Turn(1), TurnRef::Turn(2)).expect("two turns").len(), 3);
    assert_eq!(reader.reference_externals().expect("JSON"), [PathBuf::from("/etc/a"), PathBuf::from("/etc/b")]);
    lab.snapshot();
    let now = lab.state();
    let cancel = Cancel::new();
    let imported = lab.checkpoints.import_reference(&dir, 1, &cancel).expect("an import");
    let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
    let restored = lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).expect("a restore");
    assert_eq!((restored.restored, restored.deleted), (2, 1));
    assert_eq!((lab.read("a"), lab.mode("d/b") & 0o100, lab.exists("c")), ("1".to_owned(), 0o100, false));
    lab.undo();
    assert_eq!(lab.state(), now);
    assert_eq!(fingerprint(&dir), before);
    lab.fsck();
    assert!(matches!(Reader::open_reference(&lab.store), Err(Error::NoStore { .. })));
    assert!(matches!(lab.checkpoints.import_reference(&dir, 9, &cancel), Err(Error::NoTurn { .. })));
}

#[test]
fn ck29_external_files_of_the_reference_are_restored_but_for_an_empty_copy_which_may_mean_none() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    let (conf, empty, inside) = (lab.dir.path().join("conf"), lab.dir.path().join("empty"), lab.path("a"));
    for path in [&conf, &empty] {
        write(path, "now");
    }
    let files = [("1-conf", &*conf, "then"), ("2-empty", &*empty, ""), ("3-inside", &*inside, "no external file")];
    add_externals(&lab, &dir, &files);
    git(&lab, &dir, &["commit", "-qm", "third"]);
    git(&lab, &dir, &["tag", "turn-3"]);
    lab.write("external-files/mine", "the workspace's own");
    lab.snapshot();
    let (before, repository) = (lab.state(), fingerprint(&dir));
    let cancel = Cancel::new();
    let imported = lab.checkpoints.import_reference(&dir, 3, &cancel).expect("an import");
    let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
    let writes: Vec<_> = plan.summary().writes.iter().map(|one| one.path.to_string()).collect();
    let external = conf.canonicalize().expect("it is there");
    assert_eq!(
        plan.summary().conflicts.iter().map(|one| one.path.to_string()).collect::<Vec<_>>(),
        [format!(".session-external{}", external.display())]
    );
    assert_eq!(writes, Vec::<String>::new());
    lab.checkpoints.apply_restore(&plan, ConflictPolicy::Force, &cancel).map(drop).expect("a restore");
    assert_eq!(fs::read_to_string(&conf).expect("it is there"), "then");
    assert_eq!(fs::read_to_string(&empty).expect("it is there"), "now");
    assert_eq!(lab.state(), before, "the reference's own names are none of the workspace's");
    lab.undo();
    assert_eq!(fs::read_to_string(&conf).expect("it is there"), "now");
    assert_eq!(fingerprint(&dir), repository);
    lab.fsck();
}

#[test]
fn c03_what_no_turn_of_the_reference_ever_held_is_left_alone() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    lab.write("vendor/lib", "what its rules left out");
    lab.write(".gitignore", "nothing\n");
    let cancel = Cancel::new();
    let imported = lab.checkpoints.import_reference(&dir, 1, &cancel).expect("an import");
    let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
    let kept: Vec<_> = plan.summary().kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [".gitignore", "vendor/lib"].map(|path| (path.to_owned(), KeepReason::ExcludedThen)));
    let deleted: Vec<_> = plan.summary().deletes.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(deleted, ["c"], "turn 2 had it, so turn 1 is known to have lacked it");
    assert!(plan.summary().conflicts.is_empty(), "what the newest turn there has was edited by nobody");
    lab.write("a", "by hand");
    let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
    let conflicts: Vec<_> = plan.summary().conflicts.iter().map(|one| (one.path.to_string(), one.kind)).collect();
    assert_eq!(conflicts, [("a".to_owned(), ConflictKind::EditedSince)]);
    lab.fsck();
}

/// Takes away the tree of a turn of the reference, with all that it leads to.
fn break_turn(lab: &Lab, dir: &Path, turn: &str) {
    let name = format!("{turn}^{{tree}}");
    let output = git_command(lab.dir.path()).arg("--git-dir").arg(dir.join(".git")).args(["rev-parse", &name]).output();
    let tree = String::from_utf8(output.expect("git runs").stdout).expect("an id");
    let (start, rest) = tree.trim().split_at(2);
    fs::remove_file(dir.join(".git/objects").join(start).join(rest)).expect("it is a loose object");
}

#[test]
fn c18_a_turn_of_the_reference_is_taken_although_another_one_there_is_damaged() {
    for (broken, wanted, content, kept) in [("turn-1", 2, "2", ["mine"]), ("turn-2", 1, "1", ["mine"])] {
        let mut lab = Lab::new();
        let dir = reference(&lab);
        break_turn(&lab, &dir, broken);
        lab.write("a", "by hand");
        lab.write("mine", "x");
        lab.snapshot();
        let cancel = Cancel::new();
        let imported = lab.checkpoints.import_reference(&dir, wanted, &cancel).expect("an import");
        let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
        let left: Vec<_> = plan.summary().kept.iter().map(|one| one.path.to_string()).collect();
        // Of what a turn held that cannot be read nothing is known: it may have been there.
        let left: Vec<_> = left.iter().filter(|path| *path != "c").collect();
        assert_eq!(left, kept, "{broken}");
        lab.checkpoints.apply_restore(&plan, ConflictPolicy::Force, &cancel).map(drop).expect("a restore");
        assert_eq!((lab.read("a").as_str(), lab.read("mine").as_str(), lab.exists("c")), (content, "x", true));
        lab.fsck();
    }
}

#[test]
fn c18_a_damaged_turn_of_the_reference_is_not_taken_and_leaves_nothing() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    break_turn(&lab, &dir, "turn-1");
    let told = lab.checkpoints.import_reference(&dir, 1, &Cancel::new());
    assert!(matches!(told, Err(Error::MissingObject { .. })), "{told:?}");
    assert!(lab.checkpoints.reader().expect("a store").safeties().expect("a list").is_empty());
    lab.fsck();
}

#[test]
fn c13_what_a_submodule_of_the_reference_holds_is_left_alone() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    let link = format!("160000,{},vendor/lib", "1".repeat(40));
    git(&lab, &dir, &["update-index", "--add", "--cacheinfo", &link]);
    git(&lab, &dir, &["commit", "-qm", "third"]);
    git(&lab, &dir, &["tag", "turn-3"]);
    lab.write("vendor/lib/x", "its own");
    lab.snapshot();
    let reader = Reader::open_reference(&dir).expect("a repository");
    let changes = reader.changes(TurnRef::Turn(2), TurnRef::Turn(3)).expect("two turns");
    assert_eq!(changes.iter().map(|one| one.path.to_string()).collect::<Vec<_>>(), ["vendor/lib"]);
    let cancel = Cancel::new();
    let imported = lab.checkpoints.import_reference(&dir, 3, &cancel).expect("an import");
    assert_eq!(lab.checkpoints.reader().expect("a store").files(imported).expect("it is taken").len(), 2);
    let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
    let kept: Vec<_> = plan.summary().kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("vendor/lib/x".to_owned(), KeepReason::SkippedThen)]);
    assert!(plan.summary().writes.is_empty() && plan.summary().deletes.is_empty());
    lab.fsck();
}

#[test]
fn c30_only_mine_of_a_turn_of_the_reference_is_what_all_turns_here_changed() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    lab.snapshot();
    lab.write("a", "mine");
    lab.snapshot();
    lab.write("d/b", "theirs");
    lab.remove("c");
    let cancel = Cancel::new();
    lab.checkpoints
        .snapshot(&Request { by: ChangedBy::Others, ..Request::next("between turns") }, &cancel)
        .expect("a snapshot");
    let imported = lab.checkpoints.import_reference(&dir, 1, &cancel).expect("an import");
    let scope = Scope { only_mine: true, ..Scope::default() };
    let plan = lab.checkpoints.plan_restore(imported, &scope, &cancel).expect("a plan");
    let kept: Vec<_> = plan.summary().kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("d/b".to_owned(), KeepReason::NotMine)]);
    lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).map(drop).expect("a restore");
    assert_eq!((lab.read("a"), lab.read("d/b")), ("1".to_owned(), "theirs".to_owned()));
}

#[test]
fn a_dry_run_of_a_turn_of_the_reference_is_what_the_restore_then_does() {
    let mut lab = Lab::new();
    let dir = reference(&lab);
    lab.write(".gitignore", "vendor\n");
    lab.write("vendor/lib", "what its rules left out");
    lab.snapshot();
    lab.write("c", "by hand");
    let scratch = lab.dir.path().join("scratch/checkpoints");
    let cancel = Cancel::new();
    let options = Options { store: scratch, ..lab.checkpoints.options().clone() };
    let (mut thrown_away, _) = Checkpoints::open(options).expect("a store");
    let there = thrown_away.import_reference(&dir, 1, &cancel).expect("an import");
    let (ours, options) = (lab.checkpoints.reader().expect("a store"), lab.checkpoints.options().clone());
    let before = (fingerprint(&lab.store), fingerprint(&dir));
    let other = thrown_away.reader().expect("a store");
    let dry = ours.plan_restore_of(&other, there, &options, &Scope::default(), &cancel).expect("a plan");
    assert_eq!((fingerprint(&lab.store), fingerprint(&dir)), before);
    let imported = lab.checkpoints.import_reference(&dir, 1, &cancel).expect("an import");
    let plan = lab.checkpoints.plan_restore(imported, &Scope::default(), &cancel).expect("a plan");
    assert_eq!(&dry, plan.summary());
    assert_eq!((dry.writes.len(), dry.conflicts.len(), dry.kept.len()), (2, 1, 1));
    let restored = lab.checkpoints.apply_restore(&plan, ConflictPolicy::Force, &cancel).expect("a restore");
    assert_eq!((restored.restored, restored.deleted), (2, 1));
}
