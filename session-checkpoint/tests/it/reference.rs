//! The reference's repository: listed, compared, restorable, never written.

use crate::support::{Lab, fingerprint, git_command};
use session_checkpoint::{Cancel, ConflictPolicy, Error, Reader, Scope, TurnRef};
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
