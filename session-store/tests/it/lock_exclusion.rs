//! Who holds the lock, and who does not.

use super::parts::open;
use super::process::{Player, race_seconds};
use session_store::{NewSession, Options, Session, Store, StoreError, Wait};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

fn session() -> (TempDir, Session, PathBuf) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let session = store.create(&NewSession::default()).expect("it can be created");
    let path = session.dir().to_owned();
    (dir, session, path)
}

fn count(said: &[String]) -> u64 {
    said.iter().filter_map(|line| line.parse::<u64>().ok()).sum()
}

/// Lets players that lock in a loop race each other until each had its turns: the system may let one of them wait for
/// seconds, and then nothing was tried.
fn race(parts: &[&str]) {
    let (_dir, _session, path) = session();
    let time = race_seconds(3).to_string();
    for _ in 0..20 {
        let players: Vec<Player> = parts.iter().map(|part| Player::start(part, &path, &time)).collect();
        let turns: Vec<u64> = players.into_iter().map(|player| count(&player.ends())).collect();
        if turns.iter().all(|&turns| turns > 0) {
            return;
        }
    }
    panic!("one of them never got the lock");
}

#[test]
fn i25_two_processes_in_tight_loops_never_hold_the_lock_at_once() {
    race(&["locks in a loop"; 2]);
}

#[test]
fn l04_i25_ours_exclude_ours_while_the_reference_takes_releases_and_unlinks_the_file() {
    race(&["locks in a loop", "locks in a loop", "reference locks in a loop"]);
}

#[test]
fn l01_a_killed_holder_frees_the_lock_at_once() {
    let (_dir, session, path) = session();
    let mut holder = Player::start("holds", &path, "");
    assert_eq!(holder.hears(), "held");
    assert!(matches!(session.lock(), Err(StoreError::Locked { .. })));
    holder.dies();
    session.lock().expect("the kernel frees the lock of a dead process").release().expect("it is held");
}

#[test]
fn l01_a_text_in_the_lock_file_holds_nothing() {
    let (_dir, session, _path) = session();
    for text in ["1", &std::process::id().to_string(), "2147483647\n", "not a number", r#"{"pid":1}"#, ""] {
        fs::write(session.paths().lock(), text).expect("it can be written");
        session.lock().expect("nobody holds it").release().expect("it is held");
    }
}

#[test]
fn l03_a_child_that_outlives_the_holder_does_not_keep_the_lock() {
    let (_dir, _session, path) = session();
    let mut holder = Player::start("holds and leaves a child", &path, "");
    let child: i32 = holder.hears().parse().expect("a process id");
    holder.ends();
    let child = nix::unistd::Pid::from_raw(child);
    // The kernel lets the parent go on a moment before it closes the child's descriptors, so this waits, though not for
    // the child's end.
    let lock = open(&path).lock().expect("the child has no descriptor of the lock");
    nix::sys::signal::kill(child, None).expect("the child lives");
    lock.release().expect("it is held");
    nix::sys::signal::kill(child, nix::sys::signal::SIGKILL).expect("the child lives");
}

#[test]
fn a_refusal_names_the_holder() {
    let (_dir, session, path) = session();
    let mut holder = Player::start("holds", &path, "");
    assert_eq!(holder.hears(), "held");
    let error = session.lock().expect_err("another process holds it");
    let text = error.to_string();
    let StoreError::Locked { holder: named, .. } = error else { panic!("{text}") };
    assert_eq!(named.pid, Some(holder.pid()));
    assert!(named.command.is_some_and(|command| command.starts_with("it-")));
    assert!(named.since.is_some());
    assert!(text.contains(&format!("locked by process {} (it-", holder.pid())), "{text}");
}

#[test]
fn a_refusal_names_the_reference_by_its_process_id() {
    let (_dir, session, path) = session();
    let mut holder = Player::start("reference holds", &path, "");
    assert_eq!(holder.hears(), "held");
    let error = session.lock().expect_err("the reference holds it");
    assert!(matches!(&error, StoreError::Locked { holder: named, .. } if named.pid == Some(holder.pid())), "{error}");
    holder.ends();
    session.lock().expect("it is free").release().expect("it is held");
}

#[test]
fn a_holder_whose_text_names_a_dead_process_is_unknown() {
    let (_dir, session, path) = session();
    let _lock = session.lock().expect("it is free");
    fs::write(session.paths().lock(), r#"{"pid":2147483647,"command":"ghost"}"#).expect("it can be written");
    let error = open_at_once(&path).lock().expect_err("it is held");
    assert!(error.to_string().ends_with("is locked by another process"), "{error}");
}

fn open_at_once(path: &std::path::Path) -> Session {
    Session::open_dir(path, Options::default()).expect("it can be opened")
}

#[test]
fn two_handles_of_one_process_exclude_each_other() {
    let (_dir, session, path) = session();
    let other = open_at_once(&path);
    let lock = session.lock().expect("it is free");
    assert!(matches!(other.lock(), Err(StoreError::Locked { .. })));
    drop(lock);
    drop(other.lock().expect("it is free again"));
}

#[test]
fn l07_who_waits_gets_the_lock_when_it_is_free() {
    let (_dir, session, path) = session();
    let lock = session.lock().expect("it is free");
    let mut waiting = Player::start("waits", &path, "");
    assert_eq!(waiting.hears(), "waiting");
    lock.release().expect("it is held");
    assert_eq!(waiting.hears(), "held");
}

#[test]
fn l07_waiting_is_bounded() {
    let (_dir, session, path) = session();
    let _lock = session.lock().expect("it is free");
    let options = Options { wait: Wait::UpTo(Duration::from_millis(50)), ..Options::default() };
    let other = Session::open_dir(&path, options).expect("it can be opened");
    assert!(matches!(other.lock(), Err(StoreError::Locked { .. })));
}

#[test]
fn l07_reading_needs_no_lock() {
    let (_dir, session, path) = session();
    let _lock = session.lock().expect("it is free");
    let mut holder = Player::start("waits", &path, "");
    assert_eq!(holder.hears(), "waiting");
    assert_eq!(open(&path).meta().expect("it can be read").meta.name, session.name());
}
