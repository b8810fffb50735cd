//! What stands against a restore: told before the first change, and decided by the caller.

use crate::support::{Lab, rel, state};
use session_checkpoint::Checkpoints;
use session_checkpoint::{
    Cancel, ConflictKind, ConflictPolicy, Error, KeepReason, Options, Request, Scope, SkipReason, TurnRef,
};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn ck15_c04_a_file_made_later_goes_and_comes_back_with_the_safety_snapshot() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    lab.write("d/b", "2");
    lab.snapshot();
    let after = lab.state();
    let restored = lab.restored(1);
    assert!(!lab.exists("d"));
    let back = lab.try_restore(TurnRef::Safety(restored.safety), ConflictPolicy::Stop).expect("a restore");
    assert!(back.is_exact());
    assert_eq!(lab.state(), after);
}

#[test]
fn c04_a_deleted_file_is_deleted_again_by_a_turn_that_lacks_it() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    lab.remove("a");
    lab.snapshot();
    lab.restore(1);
    assert!(lab.exists("a"));
    lab.restore(2);
    assert!(!lab.exists("a"));
}

#[test]
fn ck16_what_changes_between_plan_and_apply_is_a_conflict_and_not_overwritten() {
    let mut lab = Lab::new();
    for name in ["a", "b", "c"] {
        lab.write(name, "old");
    }
    lab.snapshot();
    for name in ["a", "b", "c"] {
        lab.write(name, "new");
    }
    lab.snapshot();
    let cancel = Cancel::new();
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &cancel).expect("a plan");
    assert_eq!((plan.summary().writes.len(), plan.summary().conflicts.len()), (3, 0));
    lab.write("b", "meanwhile");
    lab.write("z", "made meanwhile");
    let stopped = lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel);
    let Err(Error::Conflicts { plan: told, .. }) = stopped else { panic!("{stopped:?}") };
    let kinds: Vec<_> = told.conflicts.iter().map(|conflict| (conflict.path.to_string(), conflict.kind)).collect();
    assert_eq!(kinds, ["b", "z"].map(|path| (path.to_owned(), ConflictKind::ChangedSincePlan)));
    assert_eq!(["a", "b", "c"].map(|name| lab.read(name)), ["new", "meanwhile", "new"]);
    let kept = lab.checkpoints.apply_restore(&plan, ConflictPolicy::KeepMine, &cancel).expect("a restore");
    assert!(!kept.is_exact() && kept.failed.is_empty());
    assert_eq!(["a", "b", "c", "z"].map(|name| lab.read(name)), ["old", "meanwhile", "old", "made meanwhile"]);
}

#[test]
fn c08_an_edit_by_hand_since_the_last_turn_stops_it_and_is_in_the_safety_snapshot() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    lab.write("a", "2");
    lab.snapshot();
    lab.write("a", "by hand");
    lab.write("mine", "by hand");
    let stopped = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
    let Err(Error::Conflicts { plan, safety }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(plan.conflicts.iter().map(|conflict| conflict.kind).collect::<Vec<_>>(), [ConflictKind::EditedSince; 2]);
    let blob = lab.checkpoints.reader().expect("a store").read(TurnRef::Safety(safety), &rel("a"));
    assert_eq!(blob.expect("a snapshot").expect("it is there").bytes, b"by hand");
    let kept = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::KeepMine).expect("a restore");
    assert_eq!((lab.read("a"), lab.exists("mine"), kept.conflicts.len()), ("by hand".to_owned(), true, 2));
    // That restore recorded the workspace as it is: what was by hand is known now.
    lab.restore(1);
    assert_eq!((lab.read("a"), lab.exists("mine")), ("1".to_owned(), false));
    lab.undo();
    assert_eq!((lab.read("a"), lab.exists("mine")), ("by hand".to_owned(), true));
}

#[test]
fn c09_undo_returns_to_the_exact_state_before_also_where_no_turn_had_it() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    lab.write("a", "2");
    lab.snapshot();
    lab.write("never/snapshotted", "x");
    lab.write("a", "3");
    let before = lab.state();
    lab.restore(1);
    assert_ne!(lab.state(), before);
    lab.undo();
    assert_eq!(lab.state(), before);
    let nothing = Lab::new().checkpoints.undo(ConflictPolicy::Stop, &Cancel::new());
    assert!(matches!(nothing, Err(Error::NothingToUndo)), "{nothing:?}");
}

#[test]
fn c10_a_directory_with_unknown_things_where_a_file_belongs_is_told_and_only_moved_by_force() {
    let mut lab = directory_in_the_way();
    let stopped = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
    let Err(Error::Conflicts { plan, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(plan.conflicts[0].kind, ConflictKind::DirectoryInTheWay);
    assert_eq!((lab.read("q"), lab.read("p/tracked")), ("2".to_owned(), "x".to_owned()), "nothing was changed");
    let kept = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::KeepMine).expect("a restore");
    assert_eq!((lab.read("q"), lab.read("p/ignored.log"), kept.conflicts.len()), ("1".into(), "precious".into(), 1));
    assert_eq!(lab.read("p/tracked"), "x", "a directory that stays is not emptied");
    let mut lab = directory_in_the_way();
    let forced = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Force).expect("a restore");
    assert_eq!((lab.read("p"), forced.rescued.len()), ("a file".to_owned(), 1));
    assert_eq!(fs::read_to_string(forced.rescued[0].join("ignored.log")).expect("rescued"), "precious");
}

fn directory_in_the_way() -> Lab {
    let mut lab = Lab::new();
    lab.write("p", "a file");
    lab.write("q", "1");
    lab.snapshot();
    lab.remove("p");
    lab.write(".gitignore", "*.log\n");
    lab.write("p/tracked", "x");
    lab.write("p/ignored.log", "precious");
    lab.write("q", "2");
    lab.snapshot();
    lab
}

#[test]
fn an_ignored_file_where_a_directory_belongs_is_told_and_only_moved_by_force() {
    let mut lab = Lab::new();
    lab.write("d/in/f", "old");
    fs::create_dir(lab.path("e")).expect("scratch");
    lab.snapshot();
    lab.remove("d");
    lab.remove("e");
    lab.write(".gitignore", "/d\n/e\n");
    lab.write("d", "ignored, and precious");
    lab.write("e", "where an empty directory was");
    lab.snapshot();
    let stopped = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
    let Err(Error::Conflicts { plan, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(plan.conflicts.iter().map(|conflict| conflict.kind).collect::<Vec<_>>(), [ConflictKind::Blocked; 2]);
    let forced = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Force).expect("a restore");
    assert_eq!((lab.read("d/in/f"), forced.is_exact(), lab.path("e").is_dir()), ("old".to_owned(), true, true));
    let rescued = forced.rescued.iter().map(|path| fs::read_to_string(path).expect("rescued"));
    assert_eq!(rescued.collect::<Vec<_>>(), ["where an empty directory was", "ignored, and precious"]);
}

#[test]
fn a_special_file_where_a_file_belongs_is_kept_or_rescued() {
    let mut lab = Lab::new();
    lab.write("p", "a file");
    lab.snapshot();
    lab.remove("p");
    nix::unistd::mkfifo(&lab.path("p"), nix::sys::stat::Mode::S_IRWXU).expect("scratch");
    lab.snapshot();
    let stopped = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
    let Err(Error::Conflicts { plan, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(plan.conflicts[0].kind, ConflictKind::NotStorable(SkipReason::Special));
    let forced = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Force).expect("a restore");
    assert_eq!((lab.read("p"), forced.rescued.len(), forced.is_exact()), ("a file".to_owned(), 1, true));
}

#[test]
fn ck11_a_file_beyond_the_limit_is_never_written_or_deleted() {
    let mut lab = Lab::with(|options| options.max_file_bytes = 100);
    lab.write("grows", "small");
    lab.write("shrinks", "x".repeat(200));
    lab.write("always", "x".repeat(300));
    let first = lab.snapshot();
    assert_eq!(lab.paths(1), ["grows"]);
    assert!(first.skipped.iter().all(|skipped| skipped.reason == SkipReason::TooBig) && first.complete);
    lab.write("grows", "y".repeat(200));
    lab.write("shrinks", "small now");
    let second = lab.snapshot();
    assert_eq!(lab.paths(2), ["shrinks"]);
    assert_eq!(second.skipped.iter().map(|skipped| skipped.size).collect::<Vec<_>>(), [300, 200]);
    let stopped = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::KeepMine).expect("a restore");
    assert_eq!(stopped.conflicts[0].kind, ConflictKind::NotStorable(SkipReason::TooBig));
    assert_eq!(stopped.kept[0].reason, KeepReason::SkippedThen);
    assert_eq!((lab.read("grows").len(), lab.read("shrinks").len(), lab.read("always").len()), (200, 9, 300));
}

#[test]
fn paths_and_subtrees_are_restored_alone() {
    let mut lab = Lab::new();
    for name in ["a", "d/x", "d/y", "dd"] {
        lab.write(name, "old");
    }
    lab.snapshot();
    for name in ["a", "d/x", "d/y", "dd", "d/new"] {
        lab.write(name, "new");
    }
    lab.snapshot();
    let scope = Scope { paths: vec![rel("d")], ..Scope::default() };
    let cancel = Cancel::new();
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    let restored = lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).expect("a restore");
    assert_eq!(["a", "d/x", "d/y", "dd"].map(|name| lab.read(name)), ["new", "old", "old", "new"]);
    assert!(!lab.exists("d/new"));
    assert_eq!((restored.restored, restored.deleted), (2, 1));
}

#[test]
fn c05_a_workspace_that_is_another_directory_is_not_restored_into() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    lab.write("a", "2");
    lab.snapshot();
    fs::rename(&lab.workspace, lab.dir.path().join("moved")).expect("scratch");
    fs::create_dir(&lab.workspace).expect("scratch");
    lab.write("b", "someone else's");
    let report = lab.reopen();
    assert!(report.other_workspace);
    let before = state(&lab.workspace);
    let refused = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Force);
    assert!(matches!(refused, Err(Error::OtherWorkspace { .. })), "{refused:?}");
    assert_eq!(state(&lab.workspace), before);
    lab.checkpoints.adopt_workspace().expect("it is meant");
    lab.restore(1);
    assert_eq!(lab.read("a"), "1");
}

#[test]
fn c05_a_turn_that_is_none_and_a_turn_of_another_store_are_errors() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    let none = lab.try_restore(TurnRef::Turn(9), ConflictPolicy::Force);
    assert!(matches!(none, Err(Error::NoTurn { .. })), "{none:?}");
    let none = lab.try_restore(TurnRef::Safety(1), ConflictPolicy::Force);
    assert!(matches!(none, Err(Error::NoTurn { .. })), "{none:?}");
}

#[test]
fn c21_a_retry_of_a_turn_does_not_move_its_before() {
    let mut lab = Lab::new();
    lab.write("a", "before");
    let request = Request { turn: Some(1), ..Request::next("plant") };
    let cancel = Cancel::new();
    let first = lab.checkpoints.snapshot(&request, &cancel).expect("a snapshot");
    lab.write("a", "half done");
    lab.reopen();
    let again = lab.checkpoints.snapshot(&request, &cancel).expect("a retry");
    assert_eq!((again.commit, again.existed, first.existed), (first.commit, true, false));
    lab.write("b", "more");
    lab.reopen();
    assert_eq!(lab.snapshot().turn, 2);
    let passed = lab.checkpoints.snapshot(&Request { turn: Some(4), ..Request::next("") }, &cancel).expect("a gap");
    assert_eq!(passed.turn, 4);
    let gone = lab.checkpoints.snapshot(&Request { turn: Some(3), ..Request::next("") }, &cancel);
    assert!(matches!(gone, Err(Error::TurnPassed { turn: 3, latest: 4 })), "{gone:?}");
    lab.restore(1);
    assert_eq!((lab.read("a"), lab.exists("b")), ("before".to_owned(), false));
}

#[test]
fn a_workspace_reached_through_a_link_is_one_workspace() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    let link = lab.dir.path().join("link");
    symlink(&lab.workspace, &link).expect("scratch");
    let (mut other, report) = Checkpoints::open(Options::new(&link, &lab.store)).expect("the same store");
    assert!(!report.other_workspace);
    assert_eq!(other.snapshot(&Request::next(""), &Cancel::new()).expect("a snapshot").changed, []);
}
