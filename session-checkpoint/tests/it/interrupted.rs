//! A restore that was interrupted, and what happens to the store before somebody ends it.

use crate::support::Lab;
use session_checkpoint::{Cancel, ConflictPolicy, Error, Retention, Scope, TurnRef};
use session_disk::faults::{self, Fault};
use std::fs;
use std::num::NonZeroUsize;

/// Three turns of an oak, restored to each of the first ones, of which the last is interrupted.
fn interrupted(restored: &[TurnRef], last: TurnRef) -> Lab {
    for at in 0.. {
        let mut lab = Lab::with(|options| options.threads = NonZeroUsize::new(1));
        for text in ["planted", "watered", "felled"] {
            lab.write("oak", text);
            lab.snapshot();
        }
        for target in restored {
            lab.try_restore(*target, ConflictPolicy::Stop).map(drop).expect("a restore");
        }
        let run = faults::with(Fault::Stop { at }, || lab.try_restore(last, ConflictPolicy::Stop).map(drop));
        assert!(run.hit, "no operation interrupts it");
        if lab.reopen().interrupted.is_some() {
            return lab;
        }
    }
    unreachable!("one operation follows the other")
}

/// Drops all that nothing protects.
fn all() -> Retention {
    Retention { not_before_ms: Some(i64::MAX), ..Retention::default() }
}

#[test]
fn c23_prune_keeps_both_ends_of_an_interrupted_restore() {
    for resumed in [true, false] {
        let mut lab = interrupted(&[], TurnRef::Turn(1));
        let pruned = lab.checkpoints.prune(all(), &Cancel::new()).expect("a prune");
        assert_eq!((pruned.turns, pruned.safeties, pruned.protected), (vec![2], vec![], vec![1, 3]));
        let cancel = Cancel::new();
        let ended = if resumed {
            lab.checkpoints.resume_interrupted(&cancel)
        } else {
            lab.checkpoints.undo_interrupted(ConflictPolicy::Stop, &cancel)
        };
        assert!(ended.expect("both ends are there").is_exact());
        assert_eq!(lab.read("oak"), if resumed { "planted" } else { "felled" });
        lab.fsck();
    }
}

#[test]
fn c23_prune_keeps_the_safety_snapshot_that_an_interrupted_restore_is_for() {
    let mut lab = interrupted(&[TurnRef::Turn(1), TurnRef::Turn(2)], TurnRef::Safety(1));
    let pruned = lab.checkpoints.prune(all(), &Cancel::new()).expect("a prune");
    // The last restore that ended was to turn 2, and made the second one.
    assert_eq!((pruned.turns, pruned.safeties, pruned.protected), (vec![1, 3, 4], vec![], vec![2, 5]));
    assert!(lab.checkpoints.resume_interrupted(&Cancel::new()).expect("its target is there").is_exact());
    assert_eq!(lab.read("oak"), "felled");
    // Now the target and the way back of this one are kept: nothing needs what the earlier ones and the going on made.
    let pruned = lab.checkpoints.prune(all(), &Cancel::new()).expect("a prune");
    assert_eq!((pruned.turns, pruned.safeties), (vec![2, 5], vec![2, 4]));
    lab.fsck();
}

#[test]
fn a_journal_that_does_not_read_is_kept_aside_and_the_store_opens() {
    let mut lab = interrupted(&[], TurnRef::Turn(1));
    let journal = lab.store.join("restore.journal");
    fs::write(&journal, "{\"target\":\"tu").expect("scratch");
    let told = lab.checkpoints.reader().expect("the rest can be read").interrupted();
    assert!(matches!(&told, Err(Error::Damaged { path }) if *path == journal), "{told:?}");
    assert_eq!(lab.reopen().interrupted, None);
    assert!(!journal.exists());
    let aside = fs::read_to_string(lab.store.join("restore.journal.bad")).expect("it is kept");
    assert_eq!(aside, "{\"target\":\"tu");
    // The way back that it named is there all the same.
    lab.try_restore(TurnRef::Safety(1), ConflictPolicy::Force).map(drop).expect("a restore");
    assert_eq!(lab.read("oak"), "felled");
    assert!(matches!(lab.checkpoints.resume_interrupted(&Cancel::new()), Err(Error::NothingToUndo)));
}

#[test]
fn c08_what_a_restore_left_because_it_was_in_conflict_is_left_when_it_is_resumed() {
    for at in 0.. {
        let mut lab = Lab::with(|options| options.threads = NonZeroUsize::new(1));
        for text in ["old", "agent"] {
            for name in ["a", "b", "c", "d"] {
                lab.write(name, text);
            }
            lab.snapshot();
        }
        let cancel = Cancel::new();
        lab.write("a", "by hand");
        let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &cancel).expect("a plan");
        lab.write("b", "by hand since the plan");
        let apply = || lab.checkpoints.apply_restore(&plan, ConflictPolicy::KeepMine, &cancel).map(drop);
        let run = faults::with(Fault::Stop { at }, apply);
        if !run.hit {
            assert!(at > 20, "{at} operations were tried");
            break;
        }
        if lab.reopen().interrupted.is_none() {
            continue;
        }
        // Going on is interrupted too.
        drop(faults::with(Fault::Stop { at }, || lab.checkpoints.resume_interrupted(&cancel).map(drop)));
        if lab.reopen().interrupted.is_some() {
            let resumed = lab.checkpoints.resume_interrupted(&cancel).expect("a restore");
            assert_eq!(resumed.conflicts.len(), 2, "{at}: {resumed:?}");
        }
        let now = ["a", "b", "c", "d"].map(|name| lab.read(name));
        assert_eq!(now, ["by hand", "by hand since the plan", "old", "old"], "{at}");
    }
}

#[test]
fn a_safety_snapshot_is_restored_although_the_turn_that_it_looked_for_was_dropped() {
    let mut lab = Lab::new();
    lab.write("oak", "planted");
    lab.snapshot();
    lab.write("oak", "watered");
    lab.write("ash", "new");
    lab.snapshot();
    let safety = lab.restored(1).safety;
    lab.restore(2);
    let pruned = lab.checkpoints.prune(Retention { keep_last: Some(3), ..Retention::default() }, &Cancel::new());
    let pruned = pruned.expect("a prune");
    assert_eq!((pruned.turns, pruned.safeties), (vec![1], vec![]));
    lab.write("birch", "by hand");
    let restored = lab.try_restore(TurnRef::Safety(safety), ConflictPolicy::Force).expect("a restore");
    assert!(restored.is_exact(), "{restored:?}");
    assert_eq!((lab.read("oak"), lab.read("ash"), lab.exists("birch")), ("watered".into(), "new".into(), false));
}
