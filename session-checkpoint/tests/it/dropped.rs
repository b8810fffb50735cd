//! After checkpoints were dropped: what a later one counts on is there.

use crate::housekeeping::{noise, whole};
use crate::support::{Lab, rel, write};
use crate::upkeep::{damage, entries, middle, packs};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Error, Level, Options, Retention, TurnRef, VerifyDepth, fork,
};
use std::time::Duration;

/// Only the newest turn and what is protected.
const NEWEST: Retention = Retention { keep_last: Some(1), not_before_ms: None, max_bytes: None };

fn prune(lab: &mut Lab, retention: Retention) -> Vec<u32> {
    lab.checkpoints.prune(retention, &Cancel::new()).expect("a prune").turns
}

/// A fork at the second of three turns, of which the workspace is as in the third.
fn fork_in_the_past() -> Lab {
    let mut lab = Lab::new();
    for text in ["1", "2", "3"] {
        lab.write("oak", text);
        lab.snapshot();
    }
    let to = lab.dir.path().join("fork/checkpoints");
    fork(&lab.store, &to, Some(2), Duration::from_secs(1)).expect("a fork");
    (lab.checkpoints, _) = Checkpoints::open(Options::new(&lab.workspace, &to)).expect("a store");
    lab.store = to;
    lab
}

#[test]
fn c01_what_a_fork_knows_of_its_parents_later_turns_is_stored_again_after_a_prune() {
    let mut lab = fork_in_the_past();
    assert_eq!(prune(&mut lab, NEWEST), [1]);
    lab.write("ash", "new");
    let taken = lab.snapshot();
    whole(&lab);
    let now = lab.state();
    lab.restore(2);
    lab.restore(taken.turn);
    assert_eq!(lab.state(), now);
}

#[test]
fn c01_a_fork_goes_on_after_a_prune_although_nothing_changed() {
    let mut lab = fork_in_the_past();
    prune(&mut lab, NEWEST);
    lab.snapshot();
    whole(&lab);
}

#[test]
fn c01_a_prune_by_other_rules_leaves_nothing_to_be_believed_that_is_gone() {
    let mut lab = fork_in_the_past();
    let mut options = lab.checkpoints.options().clone();
    options.excludes.push("elm".to_owned());
    let (mut other, _) = Checkpoints::open(options).expect("the same store");
    other.prune(NEWEST, &Cancel::new()).expect("a prune");
    lab.snapshot();
    whole(&lab);
}

#[test]
fn c01_a_tree_of_the_workspace_that_no_turn_holds_as_it_is_outlives_a_prune_with_the_cache() {
    let mut lab = Lab::new();
    let outside = lab.dir.path().join("outside");
    write(&outside, "well");
    lab.checkpoints.track_external(&outside).expect("a file");
    for text in ["1", "2", "3", "4"] {
        lab.write("oak/leaf", text);
        lab.snapshot();
    }
    assert_eq!(prune(&mut lab, NEWEST), [1, 2, 3]);
    assert!(lab.store.join("statcache").exists(), "all that it names is there");
    assert_eq!(lab.snapshot().changed, []);
    lab.reopen();
    lab.snapshot();
    whole(&lab);
}

#[test]
fn c01_what_only_a_dropped_safety_snapshot_held_is_stored_again() {
    let mut lab = Lab::new();
    for text in ["1", "2"] {
        lab.write("oak", text);
        lab.snapshot();
    }
    lab.write("oak", "by hand");
    let refused = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
    assert!(matches!(refused, Err(Error::Conflicts { safety: 1, .. })), "{refused:?}");
    prune(&mut lab, Retention { not_before_ms: Some(i64::MAX), ..Retention::default() });
    assert!(lab.checkpoints.reader().expect("a store").safeties().expect("a list").is_empty());
    let taken = lab.snapshot();
    whole(&lab);
    lab.restore(2);
    lab.restore(taken.turn);
    assert_eq!(lab.read("oak"), "by hand");
}

/// A content whose first copy, of a pinned turn, was damaged, and that the third turn stored again.
fn stored_again() -> Lab {
    let mut lab = Lab::with(|options| options.level = Level::Fast);
    let content = noise(7, 5_000);
    lab.write("oak", &content);
    lab.snapshot();
    lab.checkpoints.pin(1).expect("it exists");
    let first = packs(&lab).remove(0);
    let lines = entries(&lab, &first);
    damage(&first, middle(lines.iter().find(|line| line[1] == "blob").expect("it is listed")));
    lab.remove("oak");
    lab.write("ash", "2");
    lab.snapshot();
    lab.write("oak", &content);
    lab.snapshot();
    lab.write("ash", "4");
    lab.snapshot();
    lab
}

#[test]
fn c18_a_good_copy_of_a_damaged_content_outlives_a_prune() {
    let mut lab = stored_again();
    let now = lab.state();
    assert_eq!(prune(&mut lab, NEWEST), [2, 3]);
    for path in ["oak", "ash"] {
        lab.remove(path);
    }
    lab.restore(4);
    assert_eq!(lab.state(), now);
}

#[test]
fn c18_a_content_that_stands_twice_reads_as_long_as_one_copy_is_good() {
    let lab = stored_again();
    let reader = lab.checkpoints.reader().expect("a store");
    for turn in [1, 3, 4] {
        let blob = reader.read(TurnRef::Turn(turn), &rel("oak")).expect("it reads").expect("it is there");
        assert_eq!(blob.bytes, noise(7, 5_000), "turn {turn}");
    }
    for depth in [VerifyDepth::Packs, VerifyDepth::Contents] {
        let verified = reader.verify(depth).expect("an answer");
        assert!(verified.turns.iter().all(|turn| turn.bad_n == 0), "{verified:?}");
        assert_eq!(verified.packs.iter().map(|pack| pack.objects).collect::<Vec<_>>(), [1], "the copy is told of");
    }
}
