//! Packs, turns and bytes: fewer of them, and never one that is needed.

use crate::support::{Lab, git_at, state};
use session_checkpoint::{Cancel, Checkpoints, Error, Level, Options, Request, Retention, TurnRef, VerifyDepth, fork};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

const BUDGET: Duration = Duration::from_secs(60);

pub(crate) fn whole(lab: &Lab) {
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole(), "{verified:?}");
    lab.fsck();
}

/// Bytes that no compressor makes smaller.
pub(crate) fn noise(seed: u32, len: usize) -> Vec<u8> {
    let mut x = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x.to_le_bytes()[3]
        })
        .collect()
}

#[test]
fn ck30_a_hundred_turns_with_consolidations_are_all_readable_and_compare_as_git_compares_them() {
    let mut lab = Lab::with(|options| options.max_packs = 16);
    for n in 0..100_u32 {
        lab.write(format!("f{}", n % 13), format!("{n}"));
        if n % 7 == 0 {
            lab.write(format!("d{n}/x"), "x");
        }
        if n % 11 == 10 {
            lab.remove(&format!("f{}", n % 13));
        }
        lab.snapshot();
        if n % 20 == 19 {
            lab.checkpoints.maintain(BUDGET, &Cancel::new()).expect("maintenance");
        }
    }
    let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
    assert!(usage.packs < 30, "{usage:?}");
    whole(&lab);
    let reader = lab.checkpoints.reader().expect("a store");
    for (from, to) in [(1, 2), (1, 100), (50, 49), (33, 77), (99, 3)] {
        let told: String = reader
            .changes(TurnRef::Turn(from), TurnRef::Turn(to))
            .expect("two turns")
            .iter()
            .map(|change| {
                let kind = serde_json::to_value(change.kind).expect("JSON");
                format!("{}\t{}\n", kind.as_str().expect("a letter"), change.path)
            })
            .collect();
        let args = ["diff", "--no-renames", "--name-status", &format!("turn-{from}"), &format!("turn-{to}")];
        assert_eq!(told, lab.git(&args));
    }
    for turn in reader.turns().expect("a list") {
        let parent = format!("turn-{}^", turn.turn);
        let args = ["diff", "--no-renames", "--name-only", &parent, &format!("turn-{}", turn.turn)];
        if turn.turn > 1 {
            assert_eq!(lab.git(&args).lines().count() as u64, turn.changed_n, "turn {}", turn.turn);
        }
    }
    indexes_are_gits(&lab);
}

/// The index that git makes of each pack is ours, byte for byte.
fn indexes_are_gits(lab: &Lab) {
    for entry in fs::read_dir(lab.repo().join("objects/pack")).expect("readable") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "pack") {
            let theirs = lab.dir.path().join("theirs.idx");
            lab.git(&["index-pack", "-o", theirs.to_str().expect("text"), path.to_str().expect("text")]);
            assert_eq!(fs::read(&theirs).expect("made"), fs::read(path.with_extension("idx")).expect("ours"));
            fs::remove_file(theirs).expect("scratch");
        }
    }
}

#[test]
fn c01_turns_leave_few_packs_and_loose_objects_although_nobody_asks_for_housekeeping() {
    let mut lab = Lab::with(|options| (options.max_packs, options.level) = (4, Level::Fast));
    lab.write("data", noise(1, 10_000));
    for n in 0..40 {
        if n < 20 {
            lab.write("n", format!("{n}"));
        }
        assert_eq!(lab.snapshot().changed.len(), usize::from(n < 20) + usize::from(n == 0));
        let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
        assert!(usage.packs <= 5 && usage.loose_objects <= 16, "turn {}: {usage:?}", n + 1);
    }
    assert!(lab.reopen().set_aside.is_empty());
    whole(&lab);
    lab.restore(3);
    assert_eq!(lab.read("n"), "2");
}

#[test]
fn ck31_c01_a_store_at_its_limit_drops_the_oldest_and_stock_git_follows() {
    let mut lab = Lab::with(|options| options.max_store_bytes = Some(1_000_000));
    for n in 0..10 {
        lab.write("data", noise(n, 200_000));
        lab.write("n", format!("{n}"));
        lab.snapshot();
    }
    let turns: Vec<u32> =
        lab.checkpoints.reader().expect("a store").turns().expect("a list").iter().map(|t| t.turn).collect();
    assert_eq!((turns.first() > Some(&4), turns.last()), (true, Some(&10)), "{turns:?}");
    let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
    assert!(usage.pack_bytes < 1_100_000, "{usage:?}");
    whole(&lab);
    assert_eq!(lab.git(&["log", "--format=%s"]).lines().count(), turns.len());
    lab.restore(turns[0]);
    assert_eq!(lab.read("n"), (turns[0] - 1).to_string());
    assert_eq!(lab.snapshot().turn, 12, "numbers are not given again");
}

#[test]
fn c01_a_limit_that_one_turn_exceeds_refuses_the_next_and_says_so() {
    let mut lab = Lab::with(|options| options.max_store_bytes = Some(100_000));
    lab.write("data", noise(1, 300_000));
    lab.snapshot();
    let refused = lab.try_snapshot();
    assert!(matches!(refused, Err(Error::StoreFull { limit: 100_000, .. })), "{refused:?}");
    let failure = lab.checkpoints.reader().expect("a store").status().expect("readable").failure.expect("kept");
    assert_eq!(failure.during, "snapshot");
    lab.restore(1);
}

#[test]
fn ck32_a_snapshot_larger_than_a_pack_may_be_is_split() {
    let mut lab = Lab::with(|options| options.max_pack_bytes = 100_000);
    for n in 0..20 {
        lab.write(format!("f{n}"), noise(n, 30_000));
    }
    lab.snapshot();
    let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
    assert!(usage.packs >= 5, "{usage:?}");
    let before = lab.state();
    for n in 0..20 {
        lab.remove(&format!("f{n}"));
    }
    lab.snapshot();
    lab.restore(1);
    assert_eq!(lab.state(), before);
    whole(&lab);
    indexes_are_gits(&lab);
}

#[test]
fn c23_prune_protects_the_target_the_guard_pins_and_the_newest_and_is_idempotent() {
    let mut lab = Lab::new();
    for n in 0..8 {
        lab.write("f", format!("{n}"));
        lab.snapshot();
    }
    lab.checkpoints.pin(4).expect("it exists");
    let restored = lab.restored(1);
    let retention = Retention { keep_last: Some(2), ..Retention::default() };
    let planned = lab.checkpoints.plan_prune(retention, &Cancel::new()).expect("a plan");
    assert_eq!((planned.turns.as_slice(), planned.protected.as_slice()), (&[2, 3, 5, 6, 7][..], &[1, 4][..]));
    assert_eq!(lab.checkpoints.reader().expect("a store").turns().expect("a list").len(), 9, "a plan drops nothing");
    // Somebody has a pack open meanwhile.
    let reader = lab.checkpoints.reader().expect("a store");
    reader.files(TurnRef::Turn(3)).expect("a turn");
    let pruned = lab.checkpoints.prune(retention, &Cancel::new()).expect("a prune");
    assert_eq!(pruned.turns, planned.turns);
    let turns: Vec<u32> = reader.turns().expect("a list").iter().map(|turn| turn.turn).collect();
    assert_eq!(turns, [1, 4, 8, 9]);
    assert!(reader.safeties().expect("a list").contains_key(&restored.safety));
    assert_eq!(lab.checkpoints.prune(retention, &Cancel::new()).expect("a prune").turns, [] as [u32; 0]);
    whole(&lab);
    lab.undo();
    assert_eq!(lab.read("f"), "7");
    assert!(lab.checkpoints.unpin(4).expect("it was pinned"));
    assert!(matches!(lab.checkpoints.pin(2), Err(Error::NoTurn { .. })));
}

#[test]
fn c22_a_fork_shares_the_objects_and_survives_the_deletion_of_the_first() {
    let mut lab = Lab::new();
    lab.write("f", "1");
    lab.write("data", noise(1, 200_000));
    lab.snapshot();
    let one = lab.state();
    lab.write("f", "2");
    lab.snapshot();
    lab.write("f", "3");
    lab.snapshot();
    let to = lab.dir.path().join("fork/checkpoints");
    let forked = fork(&lab.store, &to, Some(2), BUDGET).expect("a fork");
    assert_eq!((forked.turn, forked.turns, forked.copied), (2, 2, 0));
    assert!(matches!(fork(&lab.store, &to, None, BUDGET), Err(Error::Read { .. })), "it is a store already");
    let (mut fork_of, _) = Checkpoints::open(Options::new(&lab.workspace, &to)).expect("a store");
    let usage = fork_of.reader().expect("a store").usage().expect("readable");
    assert!(usage.shared_bytes > 200_000, "{usage:?}");
    assert_eq!(fork_of.snapshot(&Request::next(""), &Cancel::new()).expect("a snapshot").turn, 3);
    fs::remove_dir_all(&lab.store).expect("scratch");
    let retention = Retention { keep_last: Some(1), ..Retention::default() };
    let pruned = fork_of.prune(retention, &Cancel::new()).expect("a prune");
    assert_eq!((pruned.turns, pruned.protected), (vec![1], vec![2]), "the base of a fork is protected");
    lab.checkpoints = fork_of;
    lab.store = to;
    whole(&lab);
    let mut second = Lab::new();
    second.write("f", "1");
    second.write("data", noise(1, 200_000));
    second.snapshot();
    let to = second.dir.path().join("fork");
    fork(&second.store, &to, None, BUDGET).expect("a fork");
    let (mut fork_of, _) = Checkpoints::open(Options::new(&second.workspace, &to)).expect("a store");
    fs::remove_dir_all(&second.store).expect("scratch");
    second.write("f", "changed");
    fork_of.snapshot(&Request::next(""), &Cancel::new()).expect("a snapshot");
    second.checkpoints = fork_of;
    second.restore(1);
    assert_eq!(state(&second.workspace), one);
    let fsck = git_at(&to.join("repo.git"), second.dir.path(), &["fsck", "--full", "--strict"]);
    assert!(fsck.status.success());
}

#[test]
fn maintenance_compresses_what_a_fast_first_snapshot_stored_and_keeps_the_cache() {
    let mut lab = Lab::with(|options| options.level = Level::Stored);
    lab.write("text", "the same words again and again\n".repeat(20_000));
    lab.snapshot();
    let bytes = |lab: &Lab| lab.checkpoints.reader().expect("a store").usage().expect("readable").pack_bytes;
    let before = bytes(&lab);
    let done = lab.checkpoints.maintain(BUDGET, &Cancel::new()).expect("maintenance");
    assert_eq!(done.compressed_packs, 1);
    assert!(bytes(&lab) * 10 < before);
    let inode = fs::metadata(lab.store.join("statcache")).expect("it is there").ino();
    lab.reopen();
    assert_eq!(fs::metadata(lab.store.join("statcache")).expect("it is there").ino(), inode);
    assert_eq!(lab.snapshot().changed, []);
    assert_eq!(lab.checkpoints.maintain(BUDGET, &Cancel::new()).expect("maintenance").compressed_packs, 0);
    whole(&lab);
}

#[test]
fn a_store_that_stock_git_repacked_into_deltas_is_read_and_written_on() {
    let mut lab = Lab::with(|options| options.max_packs = 0);
    for n in 0..5 {
        lab.write("f", format!("{}{n}", "line\n".repeat(2000)));
        lab.snapshot();
    }
    lab.git(&["gc", "-q", "--prune=now"]);
    lab.reopen();
    let reader = lab.checkpoints.reader().expect("a store");
    assert_eq!(reader.turns().expect("a list").len(), 5);
    lab.write("f", "x");
    lab.snapshot();
    lab.restore(2);
    lab.checkpoints.maintain(BUDGET, &Cancel::new()).expect("maintenance");
    lab.checkpoints.prune(Retention { keep_last: Some(3), ..Retention::default() }, &Cancel::new()).expect("a prune");
    whole(&lab);
}
