//! Files outside the workspace that were named.

use crate::support::{Lab, chmod, write};
use session_checkpoint::{Cancel, ConflictKind, ConflictPolicy, Error, NotExternal, SkipReason, TurnRef};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn ck29_external_files_are_made_changed_and_deleted_with_their_turns_and_modes() {
    let mut lab = Lab::new();
    let dir = lab.dir.path().join("etc");
    fs::create_dir(&dir).expect("scratch");
    let (conf, made, link) = (dir.join("conf"), dir.join("sub/made"), dir.join("link"));
    write(&conf, "one");
    chmod(&conf, 0o640);
    for path in [&conf, &made, &link] {
        lab.checkpoints.track_external(path).expect("it can be tracked");
    }
    lab.write("a", "1");
    lab.snapshot();
    write(&conf, "two");
    chmod(&conf, 0o600);
    write(&made, "made");
    std::os::unix::fs::symlink("conf", &link).expect("scratch");
    lab.write("a", "2");
    let second = lab.snapshot();
    assert_eq!(second.changed.len(), 4);
    write(&dir.join("unnamed"), "never touched");
    lab.restore(1);
    let mode = |path: &std::path::Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
    assert_eq!((fs::read(&conf).expect("it is there").as_slice(), mode(&conf)), (&b"one"[..], 0o640));
    assert!(!made.exists() && fs::symlink_metadata(&link).is_err() && dir.join("unnamed").exists());
    lab.undo();
    assert_eq!((fs::read(&conf).expect("it is there").as_slice(), mode(&conf)), (&b"two"[..], 0o600));
    assert_eq!(fs::read(&made).expect("it is there"), b"made");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    chmod(&conf, 0o644);
    lab.restore(2);
    assert_eq!(mode(&conf), 0o600, "a mode alone is restored too");
    lab.fsck();
}

#[test]
fn ck29_a_file_that_was_not_tracked_then_is_left_alone_and_one_by_hand_is_a_conflict() {
    let mut lab = Lab::new();
    let path = lab.dir.path().join("later");
    lab.write("a", "1");
    lab.snapshot();
    write(&path, "x");
    lab.checkpoints.track_external(&path).expect("it can be tracked");
    lab.snapshot();
    lab.restore(1);
    assert_eq!(fs::read(&path).expect("it is there"), b"x");
    write(&path, "by hand");
    let stopped = lab.try_restore(TurnRef::Turn(2), ConflictPolicy::Stop);
    let Err(Error::Conflicts { plan, .. }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(plan.conflicts[0].kind, ConflictKind::EditedSince);
    assert!(lab.checkpoints.untrack_external(&path).expect("it was tracked"));
    lab.write("a", "2");
    let changed = lab.snapshot().changed;
    assert_eq!(changed.len(), 2, "the file leaves the tree when it is no longer tracked: {changed:?}");
    lab.restore(1);
    assert_eq!(fs::read(&path).expect("it is there"), b"by hand");
}

#[test]
fn ck29_paths_that_are_no_external_files_are_refused() {
    let mut lab = Lab::new();
    lab.write("a", "1");
    let outside = lab.dir.path().to_owned();
    fs::create_dir_all(outside.join("repo/.git")).expect("scratch");
    let cases = [
        (lab.path("a"), NotExternal::InWorkspace),
        (lab.store.join("meta.json"), NotExternal::InStore),
        (outside.join("repo/.git/config"), NotExternal::InGit),
        (outside.join("repo"), NotExternal::Directory),
        ("relative".into(), NotExternal::NotAbsolute),
    ];
    for (path, expected) in cases {
        let refused = lab.checkpoints.track_external(&path);
        assert!(matches!(&refused, Err(Error::NotExternal { reason, .. }) if *reason == expected), "{refused:?}");
    }
    lab.write(".session-external/x", "not ours");
    let turn = lab.snapshot();
    assert_eq!(
        (turn.skipped[0].path.to_string(), turn.skipped[0].reason),
        (".session-external".into(), SkipReason::ReservedName)
    );
    lab.fsck();
}

#[test]
fn an_external_directory_that_became_a_link_is_not_followed() {
    let mut lab = Lab::new();
    let (dir, victim) = (lab.dir.path().join("ext"), lab.dir.path().join("victim"));
    write(&dir.join("f"), "one");
    lab.checkpoints.track_external(&dir.join("f")).expect("it can be tracked");
    lab.snapshot();
    write(&dir.join("f"), "two");
    lab.snapshot();
    fs::rename(&dir, lab.dir.path().join("moved")).expect("scratch");
    write(&victim.join("f"), "victim's");
    std::os::unix::fs::symlink(&victim, &dir).expect("scratch");
    let plan = lab.checkpoints.plan_restore(TurnRef::Turn(1), &Default::default(), &Cancel::new()).expect("a plan");
    drop(lab.checkpoints.apply_restore(&plan, ConflictPolicy::Force, &Cancel::new()));
    assert_eq!(fs::read(victim.join("f")).expect("it is there"), b"victim's");
}
