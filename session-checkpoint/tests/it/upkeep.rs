//! Housekeeping without time, without room, and with damage in its way.

use crate::housekeeping::noise;
use crate::support::{Lab, chmod, write};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Error, Level, Maintenance, Options, TurnRef, VerifyDepth, fork,
};
use session_disk::faults::{self, Fault};
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BUDGET: Duration = Duration::from_secs(60);

fn turns(lab: &Lab) -> Vec<u32> {
    lab.checkpoints.reader().expect("a store").turns().expect("a list").iter().map(|turn| turn.turn).collect()
}

pub(crate) fn packs(lab: &Lab) -> Vec<PathBuf> {
    let entries = fs::read_dir(lab.repo().join("objects/pack")).expect("readable").flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension() == Some("pack".as_ref()));
    found.sort();
    found
}

fn maintain(lab: &mut Lab) -> Maintenance {
    lab.checkpoints.maintain(BUDGET, &Cancel::new()).expect("maintenance")
}

/// Opens the store anew with a bound on its packs.
fn with_at_most(packs: usize, lab: &mut Lab) {
    let options = Options { max_packs: packs, ..lab.checkpoints.options().clone() };
    (lab.checkpoints, _) = Checkpoints::open(options).expect("the same store");
}

#[test]
fn maintenance_without_time_says_that_it_is_unfinished_and_the_next_one_goes_on() {
    let mut lab = Lab::with(|options| options.level = Level::Stored);
    for n in 0..3 {
        lab.write("oak", format!("ring {n}\n").repeat(20_000));
        lab.snapshot();
    }
    let bytes = |lab: &Lab| lab.checkpoints.reader().expect("a store").usage().expect("readable").pack_bytes;
    let before = bytes(&lab);
    let done = lab.checkpoints.maintain(Duration::ZERO, &Cancel::new()).expect("maintenance");
    assert_eq!((done.unfinished, done.compressed_packs), (true, 0));
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = lab.checkpoints.maintain(BUDGET, &cancel);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    let late = lab.checkpoints.maintain(BUDGET, &Cancel::new().with_timeout(Duration::ZERO));
    assert!(matches!(late, Err(Error::DeadlineExceeded)), "{late:?}");
    assert_eq!((packs(&lab).len(), bytes(&lab)), (3, before), "what was not ended has left nothing");
    let done = maintain(&mut lab);
    assert_eq!((done.unfinished, done.compressed_packs), (false, 3));
    assert!(bytes(&lab) * 10 < before);
    lab.restore(1);
    lab.fsck();
}

#[test]
fn maintenance_drops_the_oldest_turns_of_a_store_that_is_above_its_limit() {
    let mut lab = Lab::new();
    for n in 0..5 {
        lab.write("oak", noise(n, 100_000));
        lab.snapshot();
    }
    assert_eq!((maintain(&mut lab).dropped_turns, turns(&lab)), (vec![], vec![1, 2, 3, 4, 5]), "there is no limit");
    let options = Options { max_store_bytes: Some(250_000), ..lab.checkpoints.options().clone() };
    lab.checkpoints = Checkpoints::open(options).expect("the same store").0;
    let done = maintain(&mut lab);
    assert_eq!((done.dropped_turns, turns(&lab)), (vec![1, 2, 3], vec![4, 5]));
    let usage = lab.checkpoints.reader().expect("a store").usage().expect("readable");
    assert!(usage.pack_bytes < 250_000, "{usage:?}");
    assert_eq!(maintain(&mut lab).dropped_turns, [] as [u32; 0]);
    lab.restore(4);
    lab.fsck();
}

#[test]
fn a_turn_stands_although_room_could_not_be_made_after_it_and_the_failure_is_told() {
    let mut told = 0;
    for at in 0.. {
        let mut lab = Lab::with(|options| {
            options.threads = NonZeroUsize::new(1);
            options.max_store_bytes = Some(250_000);
        });
        for n in 0..2 {
            lab.write("oak", noise(n, 100_000));
            lab.snapshot();
        }
        lab.write("oak", noise(9, 100_000));
        let run = faults::with(Fault::Fail { at }, || lab.try_snapshot().map(|taken| taken.turn));
        let failure = lab.checkpoints.reader().expect("a store").status().expect("readable").failure;
        if failure.is_some_and(|failure| failure.during == "prune") {
            told += 1;
            assert_eq!(run.result.expect("the turn stands"), 3, "operation {at}");
            // There is room to be made, and the next one makes it.
            lab.write("oak", noise(10, 100_000));
            assert_eq!(lab.snapshot().turn, 4, "operation {at}");
            assert_eq!(lab.checkpoints.reader().expect("a store").status().expect("readable").failure, None);
            lab.fsck();
        }
        if !run.hit {
            break;
        }
    }
    assert!(told > 0, "some operation is one of making room");
}

#[test]
fn c22_a_fork_at_a_turn_that_is_none_makes_nothing() {
    let mut lab = Lab::new();
    lab.write("oak", "planted");
    lab.snapshot();
    let to = lab.dir.path().join("fork/checkpoints");
    for at in [0, 2] {
        let none = fork(&lab.store, &to, Some(at), BUDGET);
        assert!(matches!(&none, Err(Error::NoTurn { turn }) if *turn == format!("turn-{at}")), "{none:?}");
    }
    assert!(!lab.dir.path().join("fork").exists());
    assert!(matches!(fork(&to, &lab.store, None, BUDGET), Err(Error::NoStore { .. })));
}

#[test]
fn what_a_store_takes_is_told_by_part() {
    let mut lab = Lab::new();
    lab.write("oak", "planted");
    lab.snapshot();
    let usage = |lab: &Lab| lab.checkpoints.reader().expect("a store").usage().expect("readable");
    let before = usage(&lab);
    assert_eq!((before.reference_bytes, before.rescued_bytes, before.damaged_bytes), (0, 0, 0));
    for (name, len) in [
        (".git/objects/pack/pack-1.pack", 1),
        ("external-files.json", 10),
        ("external-files/1-conf", 100),
        ("rescued/0/bed%fifo", 1_000),
        ("damaged/pack-2.pack", 10_000),
        ("made-by-somebody", 100_000),
    ] {
        write(&lab.store.join(name), noise(1, len));
    }
    // A file that is rescued may have other links in the workspace, which share nothing with another store.
    fs::hard_link(lab.store.join("rescued/0/bed%fifo"), lab.path("fifo")).expect("scratch");
    let after = usage(&lab);
    assert_eq!((after.reference_bytes, after.rescued_bytes, after.damaged_bytes), (111, 1_000, 10_000));
    assert_eq!(after.other_bytes - before.other_bytes, 100_000);
    assert_eq!((after.pack_bytes, after.packs, after.shared_bytes), (before.pack_bytes, before.packs, 0));
    assert_eq!(after.total_bytes() - before.total_bytes(), 111_111);
}

/// Changes a byte of a pack in its place, and leaves the pack's time as it was.
pub(crate) fn damage(pack: &Path, offset: u64) {
    let modified = fs::metadata(pack).and_then(|meta| meta.modified()).expect("it is there");
    // Stock git makes packs that their owner may not write.
    chmod(pack, 0o600);
    let file = fs::OpenOptions::new().read(true).write(true).open(pack).expect("scratch");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).expect("it is so long");
    file.write_all_at(&[byte[0] ^ 0x10], offset).expect("scratch");
    file.set_modified(modified).expect("scratch");
}

/// What stock git says of each entry of a pack: id, kind, size, bytes, offset, and of a delta its depth and base.
pub(crate) fn entries(lab: &Lab, pack: &Path) -> Vec<Vec<String>> {
    let listed = lab.git(&["verify-pack", "-v", pack.to_str().expect("text")]);
    listed.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

/// The offset of the middle of an entry.
pub(crate) fn middle(entry: &[String]) -> u64 {
    let number = |n: usize| entry[n].parse::<u64>().expect("a number");
    number(4) + number(3) / 2
}

#[test]
fn c18_a_pack_of_ours_with_a_damaged_content_stays_when_the_others_become_one() {
    let mut lab = Lab::with(|options| options.level = Level::Fast);
    let mut first = None;
    for n in 0..3 {
        lab.write("oak", noise(n, 5_000));
        lab.snapshot();
        first.get_or_insert_with(|| packs(&lab).remove(0));
    }
    let first = first.expect("there was a turn");
    let lines = entries(&lab, &first);
    damage(&first, middle(lines.iter().find(|line| line[1] == "blob").expect("it is listed")));
    with_at_most(0, &mut lab);
    assert_eq!((maintain(&mut lab).consolidated_packs, packs(&lab).len(), first.exists()), (2, 2, true));
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Packs).expect("an answer");
    let bad: Vec<_> = verified.turns.iter().map(|turn| turn.bad_n).collect();
    assert_eq!(bad, [1, 0, 0], "its other objects are not lost with it");
    lab.restore(2);
}

#[test]
fn c18_a_pack_of_stock_git_with_a_damaged_base_stays_when_the_others_become_one() {
    let mut lab = Lab::new();
    for n in 0..2 {
        lab.write("oak", format!("ring {n}\n{}", String::from_utf8_lossy(&noise(1, 5_000))));
        lab.snapshot();
    }
    lab.git(&["repack", "-adfq"]);
    lab.reopen();
    lab.remove("oak");
    lab.write("ash", "new");
    lab.snapshot();
    let made_by_git = packs(&lab).into_iter().find(|pack| pack.with_extension("rev").exists()).expect("it makes these");
    // The content that another one is told by.
    let lines = entries(&lab, &made_by_git);
    let base = &lines.iter().find(|line| line.len() == 7).expect("the two are alike")[6];
    damage(&made_by_git, middle(lines.iter().find(|line| line[0] == *base).expect("it is listed")));
    let bytes = fs::read(&made_by_git).expect("it is there");

    with_at_most(0, &mut lab);
    let done = maintain(&mut lab);
    assert_eq!((done.consolidated_packs, packs(&lab).len()), (1, 2), "the other one was made anew");
    assert_eq!(fs::read(&made_by_git).expect("it stays"), bytes);
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Packs).expect("an answer");
    let bad: Vec<_> = verified.turns.iter().map(|turn| (turn.name.as_str(), turn.bad_n > 0)).collect();
    assert_eq!(bad, [("turn-1", true), ("turn-2", true), ("turn-3", false)]);
    lab.remove("ash");
    lab.try_restore(TurnRef::Turn(3), ConflictPolicy::Force).map(drop).expect("it needs nothing of it");
    assert_eq!(lab.read("ash"), "new");
}

#[test]
fn a_pack_without_its_index_and_an_index_without_its_pack_are_put_right() {
    let mut lab = Lab::new();
    for text in ["planted", "felled"] {
        lab.write("oak", text);
        lab.snapshot();
    }
    let index = |pack: &Path| pack.with_extension("idx");
    let found = packs(&lab);
    // The second one's commit and trees lead to what is in the first.
    for pack in &found {
        let before = fs::read(index(pack)).expect("it is there");
        fs::remove_file(index(pack)).expect("scratch");
        let report = lab.reopen();
        assert_eq!((report.swept, report.set_aside), (vec![], vec![]));
        assert_eq!(fs::read(index(pack)).expect("it was made again"), before);
    }
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole() && verified.set_aside.is_empty(), "{verified:?}");
    lab.restore(1);
    fs::remove_file(index(&found[0])).expect("scratch");
    damage(&found[0], 40);
    lab.reopen();
    let aside = lab.store.join("damaged").join(found[0].file_name().expect("a name"));
    assert!(!found[0].exists() && aside.exists(), "what is damaged gets no index, and is kept");
    fs::remove_file(&found[1]).expect("scratch");
    assert_eq!(lab.reopen().swept, [index(&found[1])]);
    assert!(!index(&found[1]).exists());
}

#[test]
fn what_stock_git_derived_from_packs_goes_with_them() {
    let mut lab = Lab::with(|options| options.level = Level::Fast);
    for text in ["planted", "felled"] {
        lab.write("oak", text);
        lab.snapshot();
    }
    lab.git(&["commit-graph", "write", "--reachable", "--split"]);
    lab.git(&["multi-pack-index", "write"]);
    let objects = lab.repo().join("objects");
    let derived = [objects.join("info/commit-graphs"), objects.join("pack/multi-pack-index")];
    assert!(derived.iter().all(|path| path.exists()));
    with_at_most(0, &mut lab);
    assert_eq!(maintain(&mut lab).consolidated_packs, 2);
    assert!(!derived.iter().any(|path| path.exists()));
    lab.fsck();
}
