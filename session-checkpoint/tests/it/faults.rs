//! Every disk operation failing in turn: an error, no reference moved, and a right next attempt.

use crate::child::options;
use crate::support::{Lab, Node, State};
use session_checkpoint::{Cancel, Checkpoints, ConflictPolicy, Durability, Error, Request, Scope, TurnRef};
use session_disk::Op;
use session_disk::faults::{self, Fault};
use std::collections::BTreeMap;

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
            (Err(Error::Disk(_)), None) => drop(lab.restore(1)),
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
