//! What a fork has of its parent's restores: the turns, and not what undoes them.

use crate::support::Lab;
use session_checkpoint::{Attached, Cancel, Checkpoints, ConflictPolicy, Error, Options, RestorePlan, TurnRef, fork};
use session_core::checkpoint::Checkpointer as _;
use std::fs;
use std::time::Duration;

/// A fork whose newest turn is a restore of its parent, and whether its parent's safety numbers are known to it.
fn fork_of_a_restore(knows: bool) -> Lab {
    let mut lab = Lab::new();
    for text in ["1", "2"] {
        lab.write("oak", text);
        lab.snapshot();
    }
    assert_eq!((lab.restored(1).safety, lab.undone().safety), (1, 2));
    let to = lab.dir.path().join("fork/checkpoints");
    assert_eq!(fork(&lab.store, &to, None, Duration::from_secs(1)).expect("a fork").turn, 4);
    if !knows {
        // As forks were made once.
        let meta = fs::read_to_string(to.join("meta.json")).expect("it is there");
        assert!(meta.contains("\"last_safety\": 2"), "{meta}");
        fs::write(to.join("meta.json"), meta.replace("\"last_safety\": 2", "\"last_safety\": 0")).expect("scratch");
    }
    (lab.checkpoints, _) = Checkpoints::open(Options::new(&lab.workspace, &to)).expect("a store");
    lab.store = to;
    lab
}

fn nothing_to_undo(lab: &mut Lab) {
    let planned = lab.checkpoints.plan_undo(&Cancel::new()).map(RestorePlan::into_summary);
    assert!(matches!(planned, Err(Error::NothingToUndo)), "{planned:?}");
    let options = lab.checkpoints.options().clone();
    let looked = lab.checkpoints.reader().expect("a store").plan_undo(&options, &Cancel::new());
    assert!(matches!(looked, Err(Error::NothingToUndo)), "{looked:?}");
    let attached = Attached::new(options, Vec::new(), Cancel::new());
    assert_eq!(attached.last_restore().expect("readable"), None);
}

#[test]
fn c22_a_fork_has_no_restore_to_undo_until_it_made_one_and_gives_it_a_number_of_its_own() {
    let mut lab = fork_of_a_restore(true);
    nothing_to_undo(&mut lab);
    assert_eq!(lab.restored(1).safety, 3);
    assert_eq!(lab.read("oak"), "1");
    assert_eq!(lab.undone().safety, 4);
    assert_eq!(lab.read("oak"), "2");
}

#[test]
fn c22_a_fork_does_not_take_a_safety_snapshot_of_its_own_for_its_parents() {
    let mut lab = fork_of_a_restore(false);
    for n in 1..=2 {
        lab.write("oak", format!("by hand {n}"));
        let refused = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
        assert!(matches!(&refused, Err(Error::Conflicts { safety, .. }) if *safety == n), "{refused:?}");
    }
    nothing_to_undo(&mut lab);
}
