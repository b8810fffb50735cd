//! Bounds: of what is taken, of who may work, of time, of descriptors.

use crate::child::{Act, spawn, text};
use crate::support::{Lab, scratch};
use nix::errno::Errno;
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, DiffOptions, Durability, Error, Options, Refusal, Request, Retention, Scope,
    SkipReason, TurnRef, VerifyDepth,
};
use session_testing::{Call, refusing};
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn ck22_c17_eight_processes_on_one_store_give_distinct_turns() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = spawn(Act::SnapshotTwenty, &lab.workspace, &lab.store);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("a child runs")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("a child ends");
        assert!(output.status.success(), "{}", text(&output));
    }
    let turns = lab.checkpoints.reader().expect("a store").turns().expect("a list");
    assert_eq!(turns.iter().map(|turn| turn.turn).collect::<Vec<_>>(), (1..=161).collect::<Vec<_>>());
    lab.fsck();
    assert!(lab.snapshot().changed.is_empty());
}

#[test]
fn ck22_a_lock_that_is_held_is_told_after_the_time_out_with_its_holder() {
    let mut lab = Lab::with(|options| options.lock_timeout = Duration::from_millis(50));
    lab.write("a", "1");
    lab.snapshot();
    let held = fs::File::open(lab.store.join("lock")).expect("it is there");
    held.lock().expect("nobody holds it");
    let busy = lab.try_snapshot();
    assert!(matches!(&busy, Err(Error::Busy { holder: Some(holder), .. }) if holder.starts_with("pid ")), "{busy:?}");
    assert_eq!(lab.checkpoints.reader().expect("no lock is needed to read").turns().expect("a list").len(), 1);
    drop(held);
    lab.snapshot();
}

#[test]
fn ck22_a_file_system_without_locks_is_told_and_nothing_is_stored() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    let refused = refusing(Call::Flock, Errno::ENOLCK, || lab.try_snapshot().map(|taken| taken.turn));
    let Err(Error::Read { path, source }) = &refused else { panic!("{refused:?}") };
    assert_eq!((path, source.raw_os_error()), (&lab.store.join("lock"), Some(nix::libc::ENOLCK)));
    assert_eq!(lab.checkpoints.reader().expect("no lock is needed to read").turns().expect("a list"), []);
    assert_eq!(lab.snapshot().turn, 1);
}

#[test]
fn c17_stale_lock_files_of_git_wedge_nothing() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    lab.snapshot();
    for name in ["index.lock", "HEAD.lock", "config.lock", "refs/heads/turns.lock", "refs/tags/turn-2.lock"] {
        fs::write(lab.repo().join(name), "").expect("scratch");
    }
    lab.write("a", "2");
    assert_eq!(lab.snapshot().turn, 2);
    let report = lab.reopen();
    assert_eq!(report.swept.len(), 5);
    lab.fsck();
}

#[test]
fn ck27_a_store_inside_the_workspace_is_never_captured() {
    let dir = scratch();
    let workspace = dir.path().join("work");
    fs::create_dir(&workspace).expect("scratch");
    let (mut one, _) = Checkpoints::open(Options::new(&workspace, workspace.join("s/checkpoints"))).expect("a store");
    let (mut two, _) = Checkpoints::open(Options::new(&workspace, workspace.join("t/checkpoints"))).expect("a store");
    fs::write(workspace.join("a"), "1").expect("scratch");
    for _ in 0..2 {
        for checkpoints in [&mut one, &mut two] {
            let turn = checkpoints.snapshot(&Request::next(""), &Cancel::new()).expect("a snapshot");
            assert_eq!(turn.files, 1);
            let reasons: Vec<_> =
                turn.skipped.iter().map(|skipped| (skipped.path.to_string(), skipped.reason)).collect();
            let expected =
                ["s/checkpoints", "t/checkpoints"].map(|path| (path.to_owned(), SkipReason::CheckpointStore));
            assert_eq!(reasons, expected);
        }
    }
}

#[test]
fn ck28_c01_directories_that_are_everybodys_are_refused() {
    let dir = scratch();
    let home = dir.path().join("users/me");
    fs::create_dir_all(&home).expect("scratch");
    let refused = |workspace: &Path| {
        let mut options = Options::new(workspace, dir.path().join("store"));
        options.home = Some(home.clone());
        match Checkpoints::open(options) {
            Err(Error::RefusedWorkspace { reason, .. }) => Some(reason),
            _ => None,
        }
    };
    assert_eq!(refused(Path::new("/")), Some(Refusal::Root));
    assert_eq!(refused(Path::new("/tmp")), Some(Refusal::Temporary));
    assert_eq!(refused(&home), Some(Refusal::Home));
    assert_eq!(refused(&dir.path().join("users")), Some(Refusal::AboveHome));
    let of_user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten().map(|user| user.dir);
    if let Some(path) = of_user.filter(|path| path.is_dir() && path.parent().is_some()) {
        assert_eq!(refused(&path), Some(Refusal::Home));
    }
    assert!(!dir.path().join("store").exists(), "nothing was made");
    let project = home.join("project");
    fs::create_dir(&project).expect("scratch");
    assert_eq!(refused(&project), None);
    assert_eq!(refused(&dir.path().join("store")), Some(Refusal::Store));
    let file = project.join("oak");
    fs::write(&file, "a file").expect("scratch");
    assert_eq!(refused(&file), Some(Refusal::NoDirectory));
}

#[test]
fn ck33_c28_cancelling_at_any_file_leaves_no_turn_and_the_next_one_is_right() {
    let mut lab = Lab::new();
    for n in 0..300 {
        lab.write(format!("d{}/{n}", n % 7), format!("{n}"));
    }
    for stop_at in [1, 50, 100, 150, 200, 250, 299] {
        let cancel = Cancel::new();
        let handle = cancel.clone();
        let watched = cancel.with_progress(move |progress| {
            if progress.files >= stop_at {
                handle.cancel();
            }
        });
        let stopped = lab.checkpoints.snapshot(&Request::next(""), &watched);
        assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
        assert!(lab.checkpoints.reader().expect("a store").turns().expect("a list").is_empty());
    }
    let late = lab.checkpoints.snapshot(&Request::next(""), &Cancel::new().with_timeout(Duration::ZERO));
    assert!(matches!(late, Err(Error::DeadlineExceeded)), "{late:?}");
    let packs = fs::read_dir(lab.repo().join("objects/pack")).expect("readable").count();
    assert_eq!(packs, 0, "nothing half-made is left");
    assert_eq!((lab.snapshot().files, lab.paths(1).len()), (300, 300));
    lab.fsck();
}

#[test]
fn progress_counts_what_is_read_and_a_background_snapshot_gives_its_result() {
    let lab = Lab::new();
    for n in 0..20 {
        lab.write(format!("{n}"), "12345");
    }
    let bytes = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&bytes);
    let cancel = Cancel::new().with_progress(move |progress| {
        seen.fetch_max(progress.bytes, Ordering::Relaxed);
    });
    let handle = lab.checkpoints.snapshot_in_background(Request::next("first"), cancel).expect("a thread");
    let (_checkpoints, snapshot) = handle.join().expect("no panic");
    assert_eq!(snapshot.expect("a snapshot").files, 20);
    assert_eq!(bytes.load(Ordering::Relaxed), 100);
}

#[test]
fn ck37_sixty_four_descriptors_are_enough() {
    let lab = Lab::new();
    for n in 0..300 {
        lab.write(format!("w{n}/x/y/z"), format!("{n}"));
    }
    lab.write(format!("{}leaf", "deep/".repeat(150)), "x");
    let output = spawn(Act::FewDescriptors, &lab.workspace, &lab.store).output().expect("a child runs");
    assert!(output.status.success(), "{}", text(&output));
    let verified = lab.checkpoints.reader().expect("a store").verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole());
}

/// The child's part of the test above.
pub(crate) fn with_few_descriptors(workspace: &Path, store: &Path) {
    let resource = nix::sys::resource::Resource::RLIMIT_NOFILE;
    nix::sys::resource::setrlimit(resource, 64, 64).expect("lowering is allowed");
    let mut options = Options::new(workspace, store);
    options.threads = NonZeroUsize::new(8);
    let (mut checkpoints, _) = Checkpoints::open(options).expect("a good store");
    for n in 0..3 {
        fs::write(workspace.join("changed"), format!("{n}")).expect("scratch");
        let turn = checkpoints.snapshot(&Request::next(""), &Cancel::new()).expect("a snapshot");
        assert!(turn.complete && turn.skipped.is_empty(), "{:?}", turn.skipped);
        assert_eq!(turn.files, 302);
    }
}

#[test]
fn ck37_more_packs_than_descriptors_are_read_verified_restored_and_pruned() {
    let mut lab = Lab::with(|options| {
        (options.max_packs, options.durability) = (usize::MAX, Durability::None);
    });
    for n in 0..90 {
        lab.write(format!("f{n}"), format!("{n}"));
        lab.snapshot();
    }
    assert_eq!(lab.checkpoints.reader().expect("a store").usage().expect("readable").packs, 90);
    let output = spawn(Act::ManyPacks, &lab.workspace, &lab.store).output().expect("a child runs");
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(lab.state().len(), 90);
    lab.fsck();
}

/// The child's part of the test above.
pub(crate) fn with_more_packs_than_descriptors(workspace: &Path, store: &Path) {
    let resource = nix::sys::resource::Resource::RLIMIT_NOFILE;
    nix::sys::resource::setrlimit(resource, 64, 64).expect("lowering is allowed");
    let mut options = Options::new(workspace, store);
    options.max_packs = usize::MAX;
    let (mut checkpoints, _) = Checkpoints::open(options).expect("a good store");
    let reader = checkpoints.reader().expect("a store");
    let verified = reader.verify(VerifyDepth::Contents).expect("an answer");
    assert!(verified.is_whole(), "{verified:?}");
    let compared = reader.diff(TurnRef::Turn(1), TurnRef::Turn(90), &DiffOptions::default()).expect("two turns");
    assert_eq!(compared.len(), 89);
    let mut restore = |turn| {
        let plan = checkpoints.plan_restore(TurnRef::Turn(turn), &Scope::default(), &Cancel::new()).expect("a plan");
        checkpoints.apply_restore(&plan, ConflictPolicy::Stop, &Cancel::new()).expect("a restore")
    };
    assert_eq!((restore(1).deleted, restore(90).restored), (89, 89));
    let retention = Retention { keep_last: Some(1), ..Retention::default() };
    assert_eq!(checkpoints.prune(retention, &Cancel::new()).expect("a prune").turns.len(), 90);
}

#[test]
fn without_another_thread_nothing_is_stored_and_nothing_is_lost() {
    let mut lab = Lab::with(|options| options.threads = NonZeroUsize::new(4));
    lab.write("a", "1");
    let refused = refusing(Call::Clone, Errno::EAGAIN, || {
        lab.checkpoints.snapshot(&Request::next("first"), &Cancel::new()).map(|taken| taken.turn)
    });
    assert!(matches!(refused, Err(Error::Threads { .. })), "{refused:?}");
    assert_eq!(lab.checkpoints.reader().expect("a store").turns().expect("a list"), []);
    assert_eq!(lab.snapshot().turn, 1);
    lab.fsck();
}
