//! A real file system that is too small, in the middle of a snapshot and in the middle of a restore.

use crate::child::{Act, options, spawn, text};
use crate::support::{chmod, git_at, scratch, state, write};
use session_checkpoint::{Cancel, Checkpoints, ConflictPolicy, Error, Request, Scope, TurnRef};
use std::fs;
use std::path::Path;

#[test]
fn ck18_c10_a_full_disk_is_an_error_that_leaves_old_or_new_and_the_next_attempt_works() {
    let dir = scratch();
    chmod(dir.path(), 0o777);
    let output = spawn(Act::DiskFull, dir.path(), dir.path()).output().expect("a child runs");
    assert!(output.status.success(), "{}", text(&output));
}

/// A file system of six MiB that this process alone sees; without the privilege for it, `None`.
fn small_disk(at: &Path) -> Option<()> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
    unshare(CloneFlags::CLONE_NEWNS).ok()?;
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).ok()?;
    mount(Some("tmpfs"), at, Some("tmpfs"), MsFlags::empty(), Some("size=6m")).ok()
}

/// Bytes that no compressor makes smaller.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x.to_le_bytes()[3]
        })
        .collect()
}

/// The child's part of the test above.
pub(crate) fn on_a_small_disk(dir: &Path) {
    let base = dir.join("small");
    fs::create_dir(&base).expect("scratch");
    if small_disk(&base).is_none() {
        // Not root: the operations that fail one by one in `faults.rs` cover the same steps.
        return;
    }
    let (workspace, store) = (base.join("w"), base.join("s"));
    for n in 0..4 {
        write(&workspace.join(format!("f{n}")), noise(n, 400_000));
    }
    let (mut checkpoints, _) = Checkpoints::open(options(&workspace, &store)).expect("a store");
    let cancel = Cancel::new();
    checkpoints.snapshot(&Request::next("one"), &cancel).expect("it fits");
    let refs = || git_at(&store.join("repo.git"), dir, &["for-each-ref"]).stdout;
    let before = refs();
    // A snapshot that cannot fit: an error, references unmoved, nothing left behind.
    for n in 0..4 {
        write(&workspace.join(format!("f{n}")), noise(100 + n, 600_000));
    }
    let full = checkpoints.snapshot(&Request::next("two"), &cancel);
    assert!(matches!(full, Err(Error::Disk(_) | Error::NoSpace { .. })), "{full:?}");
    assert_eq!(refs(), before);
    // With room again the next attempt works.
    for n in 0..4 {
        write(&workspace.join(format!("f{n}")), noise(200 + n, 100_000));
    }
    checkpoints.snapshot(&Request::next("two"), &cancel).expect("it fits now");
    let now = state(&workspace);
    // A restore that cannot fit: each file old or new, and the way back is open.
    let filler = base.join("filler");
    let plan = checkpoints.plan_restore(TurnRef::Turn(1), &Scope::default(), &cancel).expect("a plan");
    let free =
        nix::sys::statvfs::statvfs(&base).map(|stat| stat.blocks_available() * stat.fragment_size()).expect("a disk");
    write(&filler, vec![0; usize::try_from(free - 800_000).expect("small")]);
    let full = checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &cancel);
    assert!(full.is_err(), "{full:?}");
    for n in 0..4 {
        let bytes = fs::read(workspace.join(format!("f{n}"))).expect("it is there");
        assert!(bytes == noise(n, 400_000) || bytes == noise(200 + n, 100_000), "f{n} is torn");
    }
    fs::remove_file(&filler).expect("scratch");
    let (mut checkpoints, report) = Checkpoints::open(options(&workspace, &store)).expect("a store");
    assert!(report.interrupted.is_some());
    checkpoints.undo_interrupted(ConflictPolicy::Stop, &cancel).map(drop).expect("a restore");
    assert_eq!(state(&workspace), now);
    let fsck = git_at(&store.join("repo.git"), dir, &["fsck", "--full", "--strict"]);
    assert!(fsck.status.success(), "{}", text(&fsck));
}
