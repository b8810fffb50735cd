//! Two sessions in one workspace: each restores its own.

use crate::support::{Lab, rel};
use session_checkpoint::{
    Cancel, ChangedBy, Checkpoints, ConflictKind, ConflictPolicy, Error, KeepReason, Options, Request, Scope, TurnRef,
};

/// A turn in which both files say 0.
fn two_files() -> Lab {
    let mut lab = Lab::new();
    for name in ["mine", "users"] {
        lab.write(name, "0");
    }
    lab.snapshot();
    lab
}

#[test]
fn c30_only_mine_touches_what_this_session_changed_and_names_what_another_changed_too() {
    let mut a = Lab::new();
    for name in ["a", "b", "only-a"] {
        a.write(name, "0");
    }
    a.snapshot();
    let other = a.dir.path().join("other/checkpoints");
    let (mut b, _) = Checkpoints::open(Options::new(&a.workspace, &other)).expect("a store");
    let cancel = Cancel::new();
    let by = |by| Request { by, ..Request::next("") };
    a.write("a", "A");
    a.write("only-a", "A");
    a.write("made-by-a", "A");
    a.snapshot();
    b.snapshot(&by(ChangedBy::Others), &cancel).expect("a snapshot");
    a.write("b", "B");
    a.write("a", "A and B");
    b.snapshot(&Request::next("b's turn"), &cancel).expect("a snapshot");
    let scope = Scope { only_mine: true, other_stores: vec![other.clone()], ..Scope::default() };
    let plan = a.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    let conflicts: Vec<_> = plan.summary().conflicts.iter().map(|c| (c.path.clone(), c.kind)).collect();
    assert_eq!(conflicts, [(rel("a"), ConflictKind::EditedSince)]);
    let shared: Vec<_> = plan.summary().also_changed_by.iter().map(|shared| shared.path.to_string()).collect();
    assert_eq!(shared, ["a", "b"]);
    let stopped = a.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel);
    assert!(matches!(stopped, Err(Error::Conflicts { .. })), "{stopped:?}");
    let restored = a.checkpoints.apply_restore(&plan, ConflictPolicy::KeepMine, &cancel).expect("a restore");
    assert_eq!((a.read("a"), a.read("b"), a.read("only-a")), ("A and B".into(), "B".into(), "0".into()));
    assert!(!a.exists("made-by-a"));
    assert_eq!(
        restored.kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect::<Vec<_>>(),
        [("b".to_owned(), KeepReason::NotMine)]
    );
}

#[test]
fn what_others_changed_between_two_turns_is_not_mine() {
    let mut lab = Lab::new();
    lab.write("mine", "0");
    lab.write("users", "0");
    lab.snapshot();
    lab.write("mine", "1");
    lab.snapshot();
    lab.write("users", "1");
    let cancel = Cancel::new();
    let request = Request { by: ChangedBy::Others, ..Request::next("between turns") };
    lab.checkpoints.snapshot(&request, &cancel).expect("a snapshot");
    let scope = Scope { only_mine: true, ..Scope::default() };
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).map(drop).expect("a restore");
    assert_eq!((lab.read("mine"), lab.read("users")), ("0".to_owned(), "1".to_owned()));
}

#[test]
fn c30_what_a_first_snapshot_found_is_nobodys_change() {
    let mut a = Lab::new();
    a.write("a", "0");
    a.snapshot();
    let other = a.dir.path().join("other/checkpoints");
    let (mut b, _) = Checkpoints::open(Options::new(&a.workspace, &other)).expect("a store");
    let cancel = Cancel::new();
    b.snapshot(&Request::next("b's first"), &cancel).expect("a snapshot");
    a.write("a", "1");
    a.snapshot();
    let scope = Scope { other_stores: vec![other], ..Scope::default() };
    let plan = a.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    assert_eq!((plan.summary().writes.len(), &plan.summary().also_changed_by[..]), (1, &[][..]));
}

#[test]
fn c30_only_mine_is_read_from_the_commits_where_the_list_of_turns_is_gone() {
    let mut lab = two_files();
    lab.write("mine", "1");
    lab.snapshot();
    lab.write("users", "1");
    let cancel = Cancel::new();
    let request = Request { by: ChangedBy::Others, ..Request::next("between turns") };
    lab.checkpoints.snapshot(&request, &cancel).expect("a snapshot");
    std::fs::remove_file(lab.store.join("turns.jsonl")).expect("it is there");
    let scope = Scope { only_mine: true, ..Scope::default() };
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    let kept: Vec<_> = plan.summary().kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("users".to_owned(), KeepReason::NotMine)]);
    lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).map(drop).expect("a restore");
    assert_eq!((lab.read("mine"), lab.read("users")), ("0".to_owned(), "1".to_owned()));
}

#[test]
fn c30_only_mine_of_a_safety_snapshot_is_what_the_turns_after_it_changed() {
    let mut lab = two_files();
    // Both are this session's change, before the safety snapshot.
    for name in ["mine", "users"] {
        lab.write(name, "1");
    }
    lab.snapshot();
    let scope = Scope { paths: vec![rel("mine")], ..Scope::default() };
    let cancel = Cancel::new();
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &cancel).expect("a plan");
    let safety = lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).expect("a restore").safety;
    lab.write("users", "2");
    let request = Request { by: ChangedBy::Others, ..Request::next("between turns") };
    lab.checkpoints.snapshot(&request, &cancel).expect("a snapshot");
    lab.write("made", "later");
    lab.snapshot();
    let scope = Scope { only_mine: true, ..Scope::default() };
    let plan = lab.checkpoints.plan_restore(TurnRef::Safety(safety), &scope, &cancel).expect("a plan");
    let kept: Vec<_> = plan.summary().kept.iter().map(|kept| (kept.path.to_string(), kept.reason)).collect();
    assert_eq!(kept, [("users".to_owned(), KeepReason::NotMine)]);
    lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).map(drop).expect("a restore");
    assert_eq!((lab.read("mine"), lab.read("users"), lab.exists("made")), ("1".to_owned(), "2".to_owned(), false));
}
