//! A rewind, and the undoing of one, that fail or die at every step.

use crate::garden::{FAIL, Garden, STOP, at_every_step_of};
use crate::process::command;
use session_core::checkpoint::{CheckpointRef, Checkpointer, OnConflict};
use session_core::{Message, Point};
use session_disk::faults::{Fault, with};
use session_store::{Checkup, FindingCode, Rewind, RewindForce, RewindParts, Rewound, StoreError};
use std::os::unix::process::ExitStatusExt as _;

const BACK: Rewind = Rewind { to: Point::Turn(1), parts: RewindParts::Both, force: RewindForce::Careful };

fn rewind(garden: &Garden) -> session_store::Result<Rewound> {
    let session = garden.open("demo");
    let lock = session.lock()?;
    session.rewind(Some(&lock), &BACK, Some(&mut garden.checkpoints("demo")))
}

fn undo(garden: &Garden) -> session_store::Result<Rewound> {
    let session = garden.open("demo");
    let lock = session.lock()?;
    session.undo_rewind(Some(&lock), RewindForce::Careful, Some(&mut garden.checkpoints("demo")))
}

fn state(garden: &Garden) -> (String, usize) {
    (garden.oaks(), garden.said("demo").len())
}

fn is_recorded(garden: &Garden) -> bool {
    garden.scratch.path("demo/.rewind").exists()
}

/// Whether the doctor tells of a rewind that was interrupted.
fn is_told(garden: &Garden) -> bool {
    let found = garden.store().examine(&Checkup::default()).expect("it can be read").findings;
    found.iter().any(|finding| finding.code == FindingCode::RewindInterrupted)
}

/// What holds of whatever a fault left: nothing is in between without a record that says so.
fn assert_before_or_after(garden: &Garden, fault: Fault, before: &str, after: &str) {
    let (oaks, said) = state(garden);
    assert!(oaks == before || oaks == after, "{fault:?}: {oaks}");
    assert!(said == 2 || said == 4, "{fault:?}: {said}");
    let is_whole = matches!((oaks.as_str(), said), ("2", 2) | ("3", 4));
    assert!(is_whole || is_recorded(garden), "{fault:?}: {oaks} {said}");
    assert_eq!(is_told(garden), is_recorded(garden), "{fault:?}");
    if is_recorded(garden) {
        let session = garden.open("demo");
        let lock = session.lock().expect("it is free");
        let refused = session.begin_turn(&lock, "t").expect_err("nobody works in between");
        assert!(matches!(refused, StoreError::RewindInterrupted { .. }), "{fault:?}: {refused}");
    }
}

#[test]
fn i33_h18_a_rewind_that_fails_or_dies_at_any_step_is_ended_by_repeating_it() {
    at_every_step_of(&[FAIL, STOP], 20, |fault| {
        let garden = Garden::of_two_turns();
        let run = with(fault, || rewind(&garden));
        assert_before_or_after(&garden, fault, "3", "2");
        if run.result.is_ok() {
            assert_eq!(state(&garden), ("2".into(), 2), "{fault:?}");
        }
        drop(rewind(&garden).unwrap_or_else(|error| panic!("{fault:?}: {error}")));
        assert_eq!((state(&garden), is_recorded(&garden)), (("2".into(), 2), false), "{fault:?}");
        drop(undo(&garden).unwrap_or_else(|error| panic!("{fault:?}: {error}")));
        assert_eq!((state(&garden), is_recorded(&garden)), (("3".into(), 4), false), "{fault:?}");
        run.hit
    });
}

#[test]
fn i33_a_rewind_that_fails_or_dies_at_any_step_can_be_taken_back() {
    at_every_step_of(&[STOP], 20, |fault| {
        let garden = Garden::of_two_turns();
        let run = with(fault, || rewind(&garden));
        match undo(&garden) {
            Ok(_) => {}
            // It had not begun.
            Err(StoreError::NothingToUndo { .. }) => assert!(run.result.is_err(), "{fault:?}"),
            Err(error) => panic!("{fault:?}: {error}"),
        }
        if is_recorded(&garden) {
            panic!("{fault:?}: it was taken back");
        }
        // The history told of it, and only the removal of the record was missing: then it counts as done.
        if state(&garden) == ("2".into(), 2) {
            drop(undo(&garden).unwrap_or_else(|error| panic!("{fault:?}: {error}")));
        }
        assert_eq!(state(&garden), ("3".into(), 4), "{fault:?}");
        run.hit
    });
}

#[test]
fn i33_an_undo_that_fails_or_dies_at_any_step_is_ended_by_repeating_it() {
    at_every_step_of(&[FAIL, STOP], 20, |fault| {
        let garden = Garden::of_two_turns();
        rewind(&garden).map(drop).expect("nothing forbids it");
        let run = with(fault, || undo(&garden));
        assert_before_or_after(&garden, fault, "2", "3");
        match undo(&garden) {
            Ok(_) => {}
            Err(StoreError::NothingToUndo { .. }) => {}
            Err(error) => panic!("{fault:?}: {error}"),
        }
        assert_eq!((state(&garden), is_recorded(&garden)), (("3".into(), 4), false), "{fault:?}");
        run.hit
    });
}

#[test]
fn a_conversation_that_went_on_over_an_interrupted_rewind_is_only_taken_back() {
    // Dies when the files have changed and the history has not been told.
    let garden = (0..2_000)
        .map(|at| {
            let garden = Garden::of_two_turns();
            drop(with(Fault::Stop { at }, || rewind(&garden)));
            garden
        })
        .find(|garden| is_recorded(garden) && state(garden) == ("2".into(), 4))
        .expect("there is such a step");
    garden.open("demo").append_messages([Message::user("late")]).expect("a child needs no lock");
    assert!(matches!(rewind(&garden), Err(StoreError::RewindInterrupted { .. })));
    undo(&garden).map(drop).expect("the files come back");
    assert_eq!((state(&garden), is_recorded(&garden)), (("3".into(), 5), false));
}

/// Takes the newest restore back, or one that was interrupted, as a person does who knows nothing of the rewind. False
/// where there is none.
fn undo_restore(garden: &Garden) -> bool {
    let mut own = garden.checkpoints("demo");
    if own.interrupted().expect("it can be read").is_some() {
        own.go_back(OnConflict::Stop).map(drop).expect("nothing forbids it");
        return true;
    }
    let Some(last) = own.last_restore().expect("it can be read") else { return false };
    own.restore(CheckpointRef::Guard(last.guard), OnConflict::Stop).map(drop).expect("nothing forbids it");
    true
}

#[test]
fn i33_c29_a_restore_that_came_since_is_not_taken_for_that_of_an_interrupted_rewind() {
    let mut tried = 0;
    for at in 0..2_000 {
        let interrupted = || {
            let garden = Garden::of_two_turns();
            let run = with(Fault::Stop { at }, || rewind(&garden));
            (garden, run.hit)
        };
        let (garden, hit) = interrupted();
        if !hit {
            break;
        }
        // Where the history tells of it, the rewind has ended.
        let is_open = |garden: &Garden| is_recorded(garden) && garden.said("demo").len() == 4;
        if !is_open(&garden) || !undo_restore(&garden) {
            continue;
        }
        tried += 1;
        assert_eq!(state(&garden), ("3".into(), 4), "{at}");
        drop(rewind(&garden).unwrap_or_else(|error| panic!("{at}: {error}")));
        assert_eq!((state(&garden), is_recorded(&garden)), (("2".into(), 2), false), "{at}");

        let (garden, _) = interrupted();
        if !is_open(&garden) || !undo_restore(&garden) {
            continue;
        }
        drop(undo(&garden).unwrap_or_else(|error| panic!("{at}: {error}")));
        assert_eq!((state(&garden), is_recorded(&garden)), (("3".into(), 4), false), "{at}");
    }
    assert!(tried > 5, "{tried} steps leave a restore and a record");
}

#[test]
fn i33_another_restore_that_was_interrupted_comes_first() {
    let garden = (0..2_000).find_map(|at| {
        let garden = Garden::of_two_turns();
        drop(with(Fault::Stop { at }, || rewind(&garden)));
        let own = garden.checkpoints("demo");
        let has_ended = own.last_restore().expect("it can be read").is_some()
            && own.interrupted().expect("it can be read").is_none();
        (has_ended && is_recorded(&garden) && garden.said("demo").len() == 4).then_some(garden)
    });
    let garden = garden.expect("there is such a step");
    let mut own = garden.checkpoints("demo");
    for at in 0..2_000 {
        drop(with(Fault::Stop { at }, || own.restore(CheckpointRef::Taken(1), OnConflict::Stop)));
        if own.interrupted().expect("it can be read").is_some() {
            break;
        }
    }
    for refused in [rewind(&garden), undo(&garden)] {
        assert!(matches!(refused, Err(StoreError::RestoreInterrupted { .. })), "{refused:?}");
    }
    assert!(is_recorded(&garden) && garden.said("demo").len() == 4);
    own.resume().map(drop).expect("nothing forbids it");
    assert_eq!(garden.oaks(), "1");
    rewind(&garden).map(drop).expect("nothing forbids it");
    assert_eq!((state(&garden), is_recorded(&garden)), (("2".into(), 2), false));
}

#[test]
fn i33_what_was_interrupted_is_ended_without_knowing_what_was_asked_for() {
    for undone in [false, true] {
        for at in 0..2_000 {
            let garden = Garden::of_two_turns();
            if undone {
                rewind(&garden).map(drop).expect("nothing forbids it");
            }
            let run = with(Fault::Stop { at }, || if undone { undo(&garden) } else { rewind(&garden) });
            let session = garden.open("demo");
            let lock = session.lock().expect("it is free");
            let recorded = is_recorded(&garden);
            let ended = session.finish_rewind(Some(&lock), Some(&mut garden.checkpoints("demo")));
            let ended = ended.unwrap_or_else(|error| panic!("{at}: {error}"));
            assert_eq!((ended.is_some(), is_recorded(&garden)), (recorded, false), "{at}");
            if recorded {
                let after = if undone { ("3".into(), 4) } else { ("2".into(), 2) };
                assert_eq!(state(&garden), after, "{at}");
            }
            if !run.hit {
                break;
            }
            assert!(at < 1_999, "it has an end");
        }
    }
}

#[test]
fn i33_h18_a_process_that_is_killed_in_a_rewind_leaves_no_lock_and_what_the_next_one_ends() {
    // Every operation is tried on a disk that stops; of real deaths a sample is enough.
    let step = session_testing::usually(7, 1);
    for at in (0..2_000).step_by(step) {
        let garden = Garden::of_two_turns();
        let output = command("rewinds and is killed", garden.scratch.outside(), &at.to_string()).output();
        let output = output.expect("this program can be started again");
        let survived = String::from_utf8_lossy(&output.stdout).contains("# survived");
        assert_eq!(output.status.signal().is_none(), survived, "{at}: {output:?}");
        assert_before_or_after(&garden, Fault::Kill { at }, "3", "2");
        drop(rewind(&garden).unwrap_or_else(|error| panic!("{at}: {error}")));
        assert_eq!((state(&garden), is_recorded(&garden)), (("2".into(), 2), false), "{at}");
        if survived {
            break;
        }
    }
}
