//! What somebody changes while a restore is under way: found by a look at each path, and never overwritten unseen.

use crate::support::{Lab, rel};
use session_checkpoint::{Cancel, ConflictKind, ConflictPolicy, Error, Restored, Scope, TurnRef};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of the file by which the walk of a restore is recognised: more than all the others have.
const MANY: usize = 100_000;

/// Two turns, and a file after all the others that a walk will read because nobody knows it yet.
fn garden() -> Lab {
    let mut lab = Lab::with(|options| options.threads = NonZeroUsize::new(1));
    for name in ["ash", "oak", "old/fir"] {
        lab.write(name, "old");
    }
    lab.snapshot();
    for name in ["ash", "made", "bed/made", "old/fir"] {
        lab.write(name, "new");
    }
    lab.write("oak", "grown");
    lab.snapshot();
    lab.write("zone/zinnia", vec![7; MANY]);
    lab
}

/// Restores some paths to turn 1, and calls `act` once: when `is_time` says so after a file was read.
fn restore_while(
    lab: &mut Lab,
    is_time: impl Fn(&Path, u64) -> bool + Send + Sync + 'static,
    act: impl Fn(&Path) + Send + Sync + 'static,
) -> Result<Restored, Error> {
    let scope = Scope { paths: ["ash", "oak", "made", "bed", "old"].map(rel).into(), ..Scope::default() };
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &scope, &Cancel::new()).expect("a plan");
    assert_eq!((plan.summary().writes.len(), plan.summary().deletes.len()), (3, 2));
    let (dir, done) = (lab.workspace.clone(), AtomicBool::new(false));
    let cancel = Cancel::new().with_progress(move |progress| {
        if !done.load(Ordering::Relaxed) && is_time(&dir, progress.bytes) {
            done.store(true, Ordering::Relaxed);
            act(&dir);
        }
    });
    lab.checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel)
}

/// The safety snapshot has seen everything, and nothing is written yet.
fn before_the_first_write(_: &Path, bytes: u64) -> bool {
    bytes >= MANY as u64
}

fn put(dir: &Path, name: &str, text: &str) {
    fs::write(dir.join(name), text).expect("scratch");
}

#[test]
fn ck16_what_changes_between_the_safety_snapshot_and_the_write_is_a_conflict_and_stays() {
    let mut lab = garden();
    let restored = restore_while(&mut lab, before_the_first_write, |dir| {
        put(dir, "ash", "meanwhile");
        put(dir, "made", "meanwhile");
    });
    let restored = restored.expect("a restore");
    let conflicts: Vec<_> = restored.conflicts.iter().map(|one| (one.path.to_string(), one.kind)).collect();
    assert_eq!(conflicts, ["ash", "made"].map(|path| (path.to_owned(), ConflictKind::ChangedSincePlan)));
    assert!(!restored.is_exact() && restored.failed.is_empty(), "{restored:?}");
    assert_eq!(["ash", "made"].map(|name| lab.read(name)), ["meanwhile", "meanwhile"]);
    // The others are done.
    assert_eq!((restored.restored, restored.deleted), (2, 1));
    assert_eq!((lab.read("oak"), lab.read("old/fir"), lab.exists("bed")), ("old".into(), "old".into(), false));
}

#[test]
fn ck16_a_file_that_is_removed_before_the_write_is_not_brought_back_unasked() {
    let mut lab = garden();
    let restored = restore_while(&mut lab, before_the_first_write, |dir| {
        fs::remove_file(dir.join("oak")).expect("scratch");
        fs::remove_dir_all(dir.join("bed")).expect("scratch");
    });
    let restored = restored.expect("a restore");
    let conflicts: Vec<_> = restored.conflicts.iter().map(|one| (one.path.to_string(), one.kind)).collect();
    assert_eq!(conflicts, [("oak".to_owned(), ConflictKind::ChangedSincePlan)]);
    let failed: Vec<_> = restored.failed.iter().map(|one| (one.path.clone(), one.why.as_str())).collect();
    assert_eq!(failed, [(rel("bed/made"), "No such file or directory")]);
    assert_eq!((lab.exists("oak"), lab.exists("bed"), lab.read("ash").as_str()), (false, false, "old"));
}

#[test]
fn c14_a_link_that_takes_the_place_of_a_directory_before_the_write_is_not_followed() {
    let mut lab = garden();
    let outside = lab.dir.path().join("neighbour");
    fs::create_dir(&outside).expect("scratch");
    for name in ["fir", "made"] {
        fs::write(outside.join(name), "theirs").expect("scratch");
    }
    let to = outside.clone();
    let stopped = restore_while(&mut lab, before_the_first_write, move |dir| {
        for name in ["bed", "old"] {
            fs::remove_dir_all(dir.join(name)).expect("scratch");
            std::os::unix::fs::symlink(&to, dir.join(name)).expect("scratch");
        }
    });
    let Err(Error::Conflicts { plan, .. }) = stopped else { panic!("{stopped:?}") };
    let conflicts: Vec<_> = plan.conflicts.iter().map(|one| (one.path.to_string(), one.kind)).collect();
    assert_eq!(conflicts, ["bed/made", "old/fir"].map(|path| (path.to_owned(), ConflictKind::Blocked)));
    for name in ["fir", "made"] {
        assert_eq!(fs::read_to_string(outside.join(name)).expect("it is theirs"), "theirs");
    }
    assert_eq!(lab.read("ash"), "new", "nothing was changed");
}

#[test]
fn what_is_changed_after_it_was_written_is_told_as_failed_and_what_is_no_part_of_it_as_raced() {
    let mut lab = garden();
    // The first file that is read once the restore has written is the first of them.
    let is_time = |dir: &Path, _| fs::read(dir.join("old/fir")).is_ok_and(|bytes| bytes == b"old");
    let restored = restore_while(&mut lab, is_time, |dir| {
        put(dir, "oak", "meanwhile");
        put(dir, "zone/zinnia", "meanwhile");
    });
    let restored = restored.expect("a restore");
    let failed: Vec<_> = restored.failed.iter().map(|one| (one.path.to_string(), one.why.as_str())).collect();
    assert_eq!(failed, [("oak".to_owned(), "something else stands there now")]);
    assert_eq!(
        (restored.restored, restored.raced, lab.read("oak").as_str()),
        (2, vec![rel("zone/zinnia")], "meanwhile")
    );
}
