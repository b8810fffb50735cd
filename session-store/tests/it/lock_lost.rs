//! A lock whose files are taken away.

use super::process::Player;
use nix::fcntl::{Flock, FlockArg};
use session_store::{LockGuard, NewSession, Options, Session, Store, StoreError};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::thread;
use tempfile::TempDir;

fn locked() -> (TempDir, Session, LockGuard) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let session = store.create(&NewSession::default()).expect("it can be created");
    let lock = session.lock().expect("it is free");
    (dir, session, lock)
}

#[test]
fn the_file_is_kept_and_emptied_when_the_lock_is_released() {
    let (_dir, session, lock) = locked();
    assert_ne!(fs::read(session.paths().lock()).expect("it is there"), b"");
    lock.release().expect("it is held");
    assert_eq!(fs::read(session.paths().lock()).expect("it is still there"), b"");
    drop(session.lock().expect("it is free"));
    assert_eq!(fs::read(session.paths().lock()).expect("it is still there"), b"");
}

#[test]
fn l04_a_lock_whose_file_was_removed_is_taken_again() {
    let (_dir, session, lock) = locked();
    let text = fs::read(session.paths().lock()).expect("it is there");
    fs::remove_file(session.paths().lock()).expect("it is there");
    lock.check().expect("nobody else took it");
    assert_eq!(fs::read(session.paths().lock()).expect("it is there again"), text);
    // The reference cannot have it now.
    let file = fs::File::open(session.paths().lock()).expect("it is there");
    assert!(Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err());
}

#[test]
fn l04_ours_exclude_ours_though_the_file_is_gone_or_replaced() {
    let (_dir, session, _lock) = locked();
    let other = Session::open_dir(session.dir(), Options::default()).expect("it can be opened");
    let path = session.paths().lock();
    fs::remove_file(&path).expect("it is there");
    assert!(matches!(other.lock(), Err(StoreError::Locked { .. })));
    fs::write(&path, "").expect("it can be written");
    assert!(matches!(other.lock(), Err(StoreError::Locked { .. })));
}

/// The reference unlocks its file and removes it then. Who locks it in between has a file that is about to vanish.
#[test]
fn l04_a_file_that_the_reference_is_about_to_remove_is_not_relied_on() {
    let mut noticed = 0;
    for _ in 0..20 {
        let (_dir, session, lock) = locked();
        drop(lock);
        let path = session.paths().lock();
        // Any live process does for the reference.
        fs::write(&path, std::process::id().to_string()).expect("it can be written");
        let _lock = thread::scope(|scope| {
            let taking = scope.spawn(|| session.lock());
            let locked = format!(":{} 0 EOF", fs::metadata(&path).expect("it is there").ino());
            while !taking.is_finished() && !fs::read_to_string("/proc/locks").expect("it can be read").contains(&locked)
            {
            }
            fs::remove_file(&path).expect("it is there");
            taking.join().expect("it does not panic").ok()
        });
        noticed += u32::from(path.exists());
    }
    // On a busy machine this thread may come too late; it does not always.
    assert!(noticed >= 5, "{noticed} of 20 were noticed");
}

#[test]
fn l04_a_lock_whose_file_another_has_is_lost_for_good() {
    let (_dir, session, lock) = locked();
    fs::remove_file(session.paths().lock()).expect("it is there");
    let mut thief = Player::start("reference holds", session.dir(), "");
    assert_eq!(thief.hears(), "held");
    assert!(matches!(lock.check(), Err(StoreError::LockLost { .. })));
    thief.ends();
    assert!(matches!(lock.check(), Err(StoreError::LockLost { .. })), "somebody else was inside meanwhile");
}

#[test]
fn a_lock_on_a_directory_that_was_replaced_is_lost() {
    let (_dir, session, lock) = locked();
    fs::rename(session.dir(), session.dir().with_extension("away")).expect("it is there");
    assert!(matches!(lock.check(), Err(StoreError::LockLost { .. })));
    fs::create_dir(session.dir()).expect("the name is free");
    assert!(matches!(lock.check(), Err(StoreError::LockLost { .. })));
    assert!(matches!(session.lock(), Err(StoreError::Deleted { .. })));
}

#[test]
fn a_lock_that_is_a_link_is_refused_and_its_target_untouched() {
    let (dir, session, lock) = locked();
    drop(lock);
    let victim = dir.path().join("victim");
    fs::write(&victim, "keep").expect("it can be written");
    fs::remove_file(session.paths().lock()).expect("it is there");
    std::os::unix::fs::symlink(&victim, session.paths().lock()).expect("the name is free");
    assert!(session.lock().is_err());
    assert_eq!(fs::read(&victim).expect("it is there"), b"keep");
}
