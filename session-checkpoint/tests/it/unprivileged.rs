//! As a user who may not read everything: dropped privileges where the tests run as root.

use crate::child::{Act, run_unprivileged};
use crate::support::{chmod, is_root, scratch, write};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictKind, ConflictPolicy, Error, KeepReason, Options, Request, Scope, SkipReason, TurnRef,
};
use std::fs;
use std::path::Path;

#[test]
fn ck10_unreadable_things_are_told_and_never_deleted() {
    let dir = scratch();
    chmod(dir.path(), 0o777);
    run_unprivileged(Act::Unprivileged, &dir.path().join("w"), &dir.path().join("s"));
}

/// The child's part of the test above.
pub(crate) fn unreadable_things(workspace: &Path, store: &Path) {
    assert!(!nix::unistd::geteuid().is_root(), "this must run without privileges");
    write(&workspace.join("a"), "1");
    write(&workspace.join("locked-file"), "x");
    write(&workspace.join("locked-dir/in/f"), "x");
    chmod(&workspace.join("locked-file"), 0o000);
    chmod(&workspace.join("locked-dir"), 0o000);
    let (mut checkpoints, _) = Checkpoints::open(Options::new(workspace, store)).expect("a store");
    let cancel = Cancel::new();
    for _ in 0..2 {
        let turn = checkpoints.snapshot(&Request::next(""), &cancel).expect("a snapshot");
        let told: Vec<_> = turn.skipped.iter().map(|skipped| (skipped.path.to_string(), skipped.reason)).collect();
        let expected = ["locked-dir", "locked-file"].map(|path| (path.to_owned(), SkipReason::Unreadable));
        assert_eq!((told, turn.complete), (expected.to_vec(), false));
    }
    // Readable now, and captured; then back to a turn that could not see them.
    chmod(&workspace.join("locked-file"), 0o644);
    chmod(&workspace.join("locked-dir"), 0o755);
    write(&workspace.join("a"), "2");
    let turn = checkpoints.snapshot(&Request::next(""), &cancel).expect("a snapshot");
    assert!(turn.complete && turn.files == 3);
    let plan = checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &cancel).expect("a plan");
    let restored = checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).expect("a restore");
    assert_eq!(restored.kept.iter().map(|kept| kept.reason).collect::<Vec<_>>(), [KeepReason::IncompleteThen; 2]);
    assert!(workspace.join("locked-file").exists() && workspace.join("locked-dir/in/f").exists());
    assert_eq!(fs::read(workspace.join("a")).expect("it is there"), b"1");
    read_only_directory(workspace, &mut checkpoints, &cancel);
}

/// A directory that may not be written to is told before the first change.
fn read_only_directory(workspace: &Path, checkpoints: &mut Checkpoints, cancel: &Cancel) {
    write(&workspace.join("ro/f"), "1");
    let then = checkpoints.snapshot(&Request::next(""), cancel).expect("a snapshot").turn;
    write(&workspace.join("ro/f"), "2");
    write(&workspace.join("a"), "3");
    checkpoints.snapshot(&Request::next(""), cancel).expect("a snapshot");
    chmod(&workspace.join("ro"), 0o555);
    let plan = checkpoints.plan_restore(TurnRef::Turn(then), &Scope::default(), cancel).expect("a plan");
    assert_eq!(plan.summary().conflicts.iter().map(|c| c.kind).collect::<Vec<_>>(), [ConflictKind::NotWritable]);
    let stopped = checkpoints.apply_restore(&plan, ConflictPolicy::Stop, cancel);
    assert!(matches!(stopped, Err(Error::Conflicts { .. })), "{stopped:?}");
    assert_eq!(fs::read(workspace.join("a")).expect("it is there"), b"3");
    let forced = checkpoints.apply_restore(&plan, ConflictPolicy::Force, cancel).expect("a restore in part");
    assert_eq!((forced.failed.len(), forced.is_exact()), (1, false));
    assert_eq!(fs::read(workspace.join("a")).expect("it is there"), b"1");
    chmod(&workspace.join("ro"), 0o755);
}

#[test]
fn c25_a_workspace_of_another_user_is_captured_and_a_store_of_another_user_is_told_apart_from_none() {
    let dir = scratch();
    chmod(dir.path(), 0o777);
    let (workspace, store) = (dir.path().join("theirs"), dir.path().join("s"));
    write(&workspace.join("f"), "theirs");
    chmod(&workspace, 0o755);
    if is_root() {
        fs::create_dir(dir.path().join("rootstore")).expect("scratch");
        chmod(&dir.path().join("rootstore"), 0o777);
    }
    run_unprivileged(Act::ForeignOwner, &workspace, &store);
}

/// The child's part of the test above.
pub(crate) fn foreign_owner(workspace: &Path, store: &Path) {
    let (mut checkpoints, _) = Checkpoints::open(Options::new(workspace, store)).expect("a store of our own");
    let turn = checkpoints.snapshot(&Request::next(""), &Cancel::new()).expect("a snapshot");
    assert!(turn.complete && turn.files == 1);
    let foreign = store.with_file_name("rootstore");
    if foreign.exists() {
        let refused = Checkpoints::open(Options::new(workspace, &foreign));
        assert!(matches!(refused, Err(Error::ForeignStore { owner: 0, .. })), "{refused:?}");
    }
    let none = session_checkpoint::Reader::open(&store.with_file_name("nothing"));
    assert!(matches!(none, Err(Error::NoStore { .. })), "{none:?}");
}
