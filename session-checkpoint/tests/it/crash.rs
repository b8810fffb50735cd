//! Death by SIGKILL at every disk operation of a snapshot, a restore, a consolidation, a prune.

use crate::child::{Act, options, run};
use crate::support::{Lab, Node, State};
use session_checkpoint::{Checkpoints, ConflictPolicy, Options, TurnRef, VerifyDepth};
use std::cell::RefCell;
use std::path::PathBuf;

fn lab() -> Lab {
    let mut lab = Lab::new();
    // Housekeeping is the children's.
    let options = Options { max_packs: usize::MAX, ..options(&lab.workspace, &lab.store) };
    (lab.checkpoints, _) = Checkpoints::open(options).expect("the same store");
    lab
}

fn first_files(lab: &mut Lab) {
    for n in 0..4 {
        lab.write(format!("d{n}/f"), format!("old {n}"));
    }
    lab.write("swap", "a file");
    lab.write("gone/deep/f", "x");
    lab.link("swap", "link");
    lab.chmod("d1/f", 0o755);
    lab.snapshot();
}

fn edits(lab: &Lab) {
    for n in 0..3 {
        lab.write(format!("d{n}/f"), format!("new {n}"));
    }
    lab.remove("swap");
    lab.write("swap/inner", "now a directory");
    lab.remove("gone");
    lab.remove("link");
    lab.write("made/f", "made");
}

/// Runs `act` with a death at each operation until a run reaches its end, and judges what each death left.
fn at_each_operation(least: u64, act: Act, mut make: impl FnMut() -> Lab, mut judge: impl FnMut(&mut Lab, u64)) {
    let mut deaths = 0;
    for at in 0.. {
        let mut lab = make();
        let survived = run(act, &lab, at).success();
        judge(&mut lab, at);
        if survived {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= least, "only {deaths} deaths");
}

fn no_temps_in_the_store(lab: &Lab) {
    let mut todo = vec![lab.store.clone()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).expect("readable") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(!name.starts_with("tmp_") && !name.starts_with(".tmp-"), "{} was not swept", path.display());
            if path.is_dir() {
                todo.push(path);
            }
        }
    }
}

#[test]
fn ck17_a_snapshot_that_dies_anywhere_leaves_a_clean_store_and_the_next_one_is_right() {
    let make = || {
        let mut lab = lab();
        first_files(&mut lab);
        edits(&lab);
        lab
    };
    at_each_operation(12, Act::Snapshot, make, |lab, at| {
        lab.fsck();
        lab.reopen();
        no_temps_in_the_store(lab);
        let turns = lab.checkpoints.reader().expect("a store").turns().expect("a list").len();
        assert!((1..=2).contains(&turns), "at {at}");
        let state = lab.state();
        let next = lab.snapshot();
        assert_eq!(next.turn as usize, turns + 1, "at {at}");
        assert_eq!(next.changed.is_empty(), turns == 2, "at {at}");
        lab.restore(1);
        lab.restore(next.turn);
        assert_eq!(lab.state(), state, "at {at}");
        lab.fsck();
    });
}

fn is_temp(path: &std::path::Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".ckpt-"))
}

/// Every path is as it was before or as it is to be after.
fn nothing_is_torn(now: &State, before: &State, after: &State, at: u64) {
    let file = |state: &State, path: &PathBuf| state.get(path).filter(|node| **node != Node::Dir).cloned();
    for path in now.keys().filter(|path| !is_temp(path)) {
        let here = file(now, path);
        let good = here.is_none() || here == file(before, path) || here == file(after, path);
        assert!(good, "{} is torn at {at}", path.display());
    }
}

#[test]
fn ck17_c10_a_restore_that_dies_anywhere_tears_nothing_and_is_resumed_or_undone() {
    let before = RefCell::new(State::new());
    let make = || {
        let mut lab = lab();
        first_files(&mut lab);
        edits(&lab);
        lab.snapshot();
        before.replace(lab.state());
        lab
    };
    let after = target_state();
    at_each_operation(12, Act::Restore, make, |lab, at| {
        let before = before.borrow().clone();
        nothing_is_torn(&lab.state(), &before, &after, at);
        lab.fsck();
        let report = lab.reopen();
        no_temps_in_the_store(lab);
        let cancel = session_checkpoint::Cancel::new();
        let expected = match (report.interrupted.is_some(), at % 2) {
            (true, 0) => {
                let refused = lab.try_restore(TurnRef::Turn(1), ConflictPolicy::Stop);
                assert!(matches!(refused, Err(session_checkpoint::Error::Interrupted { .. })), "{refused:?}");
                assert!(lab.checkpoints.resume_interrupted(&cancel).expect("a restore").is_exact(), "at {at}");
                after.clone()
            }
            (true, _) => {
                let undone = lab.checkpoints.undo_interrupted(ConflictPolicy::Stop, &cancel).expect("a restore");
                assert!(undone.is_exact(), "at {at}: {undone:?}");
                before.clone()
            }
            (false, _) => {
                lab.restore(1);
                after.clone()
            }
        };
        assert_eq!(lab.state(), expected, "at {at}");
        lab.fsck();
        if report.interrupted.is_some() && at % 2 == 0 {
            lab.undo();
            assert_eq!(lab.state(), before, "undo after a resumed restore, at {at}");
        }
    });
}

/// What `first_files` makes.
fn target_state() -> State {
    let mut lab = lab();
    first_files(&mut lab);
    lab.state()
}

fn six_turns() -> Lab {
    let mut lab = lab();
    for n in 0..6 {
        lab.write("f", format!("{n}"));
        lab.write(format!("d/{n}"), format!("{n}"));
        lab.snapshot();
        if n == 3 {
            // A turn without changes is a loose commit, to be folded in.
            lab.snapshot();
        }
    }
    lab
}

fn every_turn_is_whole(lab: &Lab, turns: &[u32], at: u64) {
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole(), "at {at}: {verified:?}");
    let reader = lab.checkpoints.reader().expect("a store");
    for turn in turns {
        assert!(!reader.files(TurnRef::Turn(*turn)).expect("a turn").is_empty(), "turn {turn} at {at}");
    }
}

#[test]
fn ck17_a_consolidation_that_dies_anywhere_loses_nothing() {
    at_each_operation(12, Act::Maintain, six_turns, |lab, at| {
        lab.fsck();
        every_turn_is_whole(lab, &[1, 2, 3, 4, 5, 6, 7], at);
        lab.reopen();
        no_temps_in_the_store(lab);
        let options = Options { max_packs: 2, ..lab.checkpoints.options().clone() };
        (lab.checkpoints, _) = Checkpoints::open(options).expect("the same store");
        let budget = std::time::Duration::from_secs(60);
        lab.checkpoints.maintain(budget, &session_checkpoint::Cancel::new()).expect("maintenance");
        every_turn_is_whole(lab, &[1, 2, 3, 4, 5, 6, 7], at);
        let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
        assert!(usage.packs <= 3, "at {at}: {usage:?}");
        assert!(lab.snapshot().changed.is_empty(), "at {at}");
        lab.fsck();
    });
}

#[test]
fn ck17_a_consolidation_after_a_snapshot_that_dies_anywhere_loses_nothing() {
    let make = || {
        let lab = six_turns();
        lab.write("f", "after");
        lab
    };
    at_each_operation(20, Act::Snapshot, make, |lab, at| {
        lab.fsck();
        let turns: Vec<u32> =
            lab.checkpoints.reader().expect("a store").turns().expect("a list").iter().map(|turn| turn.turn).collect();
        assert!([7, 8].contains(&turns.len()), "{turns:?} at {at}");
        every_turn_is_whole(lab, &turns, at);
        lab.reopen();
        no_temps_in_the_store(lab);
        assert_eq!(lab.snapshot().changed.is_empty(), turns.len() == 8, "at {at}");
        every_turn_is_whole(lab, &turns, at);
        lab.fsck();
    });
}

#[test]
fn ck17_c23_a_prune_that_dies_anywhere_keeps_what_it_keeps_and_ends_when_it_is_run_again() {
    at_each_operation(12, Act::Prune, six_turns, |lab, at| {
        lab.fsck();
        every_turn_is_whole(lab, &[6, 7], at);
        lab.reopen();
        let retention = session_checkpoint::Retention { keep_last: Some(2), ..Default::default() };
        lab.checkpoints.prune(retention, &session_checkpoint::Cancel::new()).expect("a prune");
        every_turn_is_whole(lab, &[6, 7], at);
        let turns = lab.checkpoints.reader().expect("a store").turns().expect("a list");
        assert_eq!(turns.iter().map(|turn| turn.turn).collect::<Vec<_>>(), [6, 7], "at {at}");
        assert_eq!(lab.snapshot().turn, 8, "at {at}");
        lab.fsck();
    });
}

#[test]
fn c01_what_twenty_killed_snapshots_leave_is_swept() {
    let mut lab = lab();
    first_files(&mut lab);
    for at in 0..20 {
        lab.write("big", vec![u8::try_from(at).expect("small"); 300_000]);
        run(Act::Snapshot, &lab, 8 + at % 6);
    }
    lab.reopen();
    no_temps_in_the_store(&lab);
    lab.fsck();
}
