//! Every disk operation failing in turn: an error, no reference moved, and a right next attempt.

use crate::child::options;
use crate::support::{Lab, Node, State, rel};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Durability, Error, Level, Request, Scope, TurnRef, fork,
};
use session_disk::Op;
use session_disk::faults::{self, Fault};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

fn lab() -> Lab {
    let mut lab = Lab::new();
    let (checkpoints, _) = Checkpoints::open(options(&lab.workspace, &lab.store)).expect("the same store");
    lab.checkpoints = checkpoints;
    lab
}

fn refs(lab: &Lab) -> BTreeMap<String, String> {
    let text = lab.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    text.lines().filter_map(|line| line.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
}

#[test]
fn c22_the_references_of_a_fork_are_on_the_disk_when_it_stands_and_cost_the_same_however_many_they_are() {
    let syncs = [0, 1, 9].map(|turns| {
        let mut lab = Lab::new();
        for n in 0..turns {
            lab.write("a", n.to_string());
            lab.snapshot();
        }
        let to = lab.dir.path().join("fork");
        let run = faults::with(Fault::None, || fork(&lab.store, &to, None, Duration::from_secs(1)));
        assert_eq!(run.result.expect("a fork").turns, turns);
        let first = refs(&lab);
        lab.store = to;
        assert_eq!(refs(&lab), first);
        lab.fsck();
        run.ops.iter().filter(|op| matches!(op, Op::Sync | Op::SyncDir)).count()
    });
    // One file and its directory, where there is a turn.
    assert_eq!([syncs[1] - syncs[0], syncs[2] - syncs[1]], [2, 0]);
}

#[test]
fn a_turn_that_may_be_told_of_has_a_reference_on_the_disk() {
    // What is synced after the packs: nothing; the reference and its directory; the head and its directory too.
    let syncs = [Durability::Packs, Durability::Turns, Durability::Disk].map(|durability| {
        let mut lab = Lab::with(|options| options.durability = durability);
        lab.write("a", "1");
        lab.snapshot();
        lab.write("a", "2");
        let run = faults::with(Fault::Stop { at: u64::MAX }, || {
            lab.checkpoints.snapshot(&Request::next("x"), &Cancel::new())
        });
        run.result.expect("nothing fails");
        run.ops.iter().filter(|op| matches!(op, Op::Sync | Op::SyncDir)).count()
    });
    assert_eq!([syncs[1] - syncs[0], syncs[2] - syncs[1]], [2, 2]);
}

#[test]
fn ck18_a_snapshot_whose_nth_operation_fails_is_an_error_without_a_turn() {
    let kinds: [fn(u64) -> Fault; 3] = [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }];
    for kind in kinds {
        for at in 0.. {
            let mut lab = lab();
            lab.write("a", "1");
            lab.snapshot();
            lab.write("a", "2");
            lab.write("d/b", "x");
            let before = refs(&lab);
            let run = faults::with(kind(at), || lab.checkpoints.snapshot(&Request::next("x"), &Cancel::new()));
            // A process that stops may leave the turn: its reference was written, and nobody could take it back.
            let stopped = matches!(kind(at), Fault::Stop { .. });
            match &run.result {
                Err(_) if !stopped => assert_eq!(refs(&lab), before, "{:?}: {:?}", kind(at), run.result),
                // What is derived may fail: the turn stands.
                _ => {}
            }
            lab.fsck();
            lab.reopen();
            let state = lab.state();
            let next = lab.snapshot();
            lab.restore(1);
            lab.restore(next.turn);
            assert_eq!(lab.state(), state, "{:?}", kind(at));
            if !run.hit {
                break;
            }
        }
    }
}

#[test]
fn c10_a_restore_whose_nth_operation_fails_tears_nothing_and_ends_when_it_is_resumed() {
    for at in 0.. {
        let mut lab = lab();
        lab.write("a", "1");
        lab.write("d/b", "1");
        lab.write("gone/x", "1");
        lab.link("a", "l");
        lab.snapshot();
        let target = lab.state();
        lab.write("a", "2");
        lab.write("d/b", "2");
        lab.write("new/y", "2");
        lab.remove("gone");
        lab.remove("l");
        lab.snapshot();
        let before = lab.state();
        let cancel = Cancel::new();
        let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &cancel).expect("a plan");
        let run = faults::with(Fault::Full { at }, || {
            lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel).map(|restored| restored.is_exact())
        });
        let whole = |state: &State| {
            // A directory whose file is still to come is empty for a moment.
            let old_or_new = |path, node| before.get(path) == Some(node) || target.get(path) == Some(node);
            state.iter().all(|(path, node)| *node == Node::Dir || old_or_new(path, node))
        };
        assert!(whole(&lab.state()), "at {at}: {:?}", lab.state());
        let report = lab.reopen();
        match (&run.result, report.interrupted) {
            (_, Some(_)) => drop(lab.checkpoints.resume_interrupted(&cancel).expect("a restore")),
            (Err(Error::Disk(_)), None) => lab.restore(1),
            (result, None) => assert!(matches!(result, Ok(true)), "at {at}: {result:?}"),
        }
        assert_eq!(lab.state(), target, "at {at}");
        lab.fsck();
        if !run.hit {
            break;
        }
    }
}

#[test]
fn c28_a_failure_is_kept_for_the_status_until_a_snapshot_succeeds() {
    let mut lab = Lab::with(|options| options.max_files = 2);
    for name in ["a", "b", "c"] {
        lab.write(name, "x");
    }
    assert!(matches!(lab.try_snapshot(), Err(Error::TooBroad { files: 3, max_files: 2, .. })));
    let status = |lab: &Lab| lab.checkpoints.reader().expect("a store").status().expect("readable");
    assert!(status(&lab).failure.expect("kept").error.contains("too broad"));
    lab.remove("c");
    lab.snapshot();
    assert_eq!(status(&lab).failure, None);
}

#[test]
fn a_turn_stands_although_packs_could_not_become_one_after_it_and_the_failure_is_told() {
    let mut told = 0;
    for at in 0.. {
        let mut lab = Lab::with(|options| {
            (options.threads, options.level, options.max_packs) = (NonZeroUsize::new(1), Level::Fast, 2);
        });
        for n in 0..2 {
            lab.write("oak", format!("{n}"));
            lab.snapshot();
        }
        lab.write("oak", "new");
        let run = faults::with(Fault::Fail { at }, || lab.try_snapshot().map(|taken| taken.turn));
        let failure = lab.checkpoints.reader().expect("a store").status().expect("readable").failure;
        if failure.is_some_and(|failure| failure.during == "consolidation") {
            told += 1;
            assert_eq!(run.result.expect("the turn stands"), 3, "operation {at}");
            // What the removal of old packs was cut short at is put right.
            lab.reopen();
            lab.write("oak", "newer");
            assert_eq!(lab.snapshot().turn, 4, "operation {at}");
            let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
            assert!(usage.packs <= 2, "operation {at}");
            assert_eq!(lab.checkpoints.reader().expect("a store").status().expect("readable").failure, None);
            lab.restore(1);
            lab.fsck();
        }
        if !run.hit {
            break;
        }
    }
    assert!(told > 0, "some operation is one of consolidation");
}

#[test]
fn a_restore_that_stops_leaves_nothing_that_is_open_to_more_people_than_the_file() {
    for at in 0.. {
        let mut lab = lab();
        lab.write("key", "1");
        fs::set_permissions(lab.path("key"), Permissions::from_mode(0o600)).expect("it is ours");
        lab.snapshot();
        lab.write("key", "2");
        lab.snapshot();
        let run = faults::with(Fault::Stop { at }, || lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Force));
        for entry in fs::read_dir(&lab.workspace).expect("it is there") {
            let entry = entry.expect("it can be read");
            let mode = entry.metadata().expect("it is there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "operation {at}: {:?}", entry.file_name());
        }
        if !run.hit {
            break;
        }
    }
}

#[test]
fn a_restore_that_is_resumed_keeps_to_the_paths_that_it_was_asked_for() {
    let mut resumed = 0;
    for at in 0.. {
        let mut lab = lab();
        lab.write("a", "1");
        lab.write("b", "1");
        lab.snapshot();
        lab.write("a", "2");
        lab.write("b", "2");
        lab.snapshot();
        let scope = Scope { paths: vec![rel("a")], ..Scope::default() };
        let run = faults::with(Fault::Stop { at }, || {
            let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &Cancel::new())?;
            assert!(!plan.summary().is_empty());
            lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &Cancel::new())
        });
        if lab.reopen().interrupted.is_some() {
            lab.checkpoints.resume_interrupted(&Cancel::new()).map(drop).expect("the disk works again");
            resumed += 1;
            assert_eq!(lab.read("a"), "1", "operation {at}");
        }
        assert_eq!(lab.read("b"), "2", "operation {at}");
        if !run.hit {
            let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &Cancel::new()).expect("a plan");
            assert!(plan.summary().is_empty());
            break;
        }
    }
    assert!(resumed > 0, "it was interrupted at some operation");
}
