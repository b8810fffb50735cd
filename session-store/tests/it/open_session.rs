//! Opening, creating and losing sessions.

use session_core::{Event, Extension, Message, SessionName, TitleSource, Usage};
use session_store::{NewSession, Options, Session, Store, StoreError};
use std::fs;
use std::thread;
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    (dir, store)
}

fn name(name: &str) -> SessionName {
    name.parse().expect("it is a name")
}

fn create(store: &Store, of: &str) -> Session {
    store.create(&NewSession { name: Some(name(of)), ..NewSession::default() }).expect("the name is free")
}

fn succeeded(store: &Store, of: &str, by: &str) {
    let session = store.open(&name(of)).expect("it exists");
    let _lock = session.lock().expect("nobody has it");
    session.update_meta(|meta| meta.succeeded_by = by.into()).expect("it can be written");
}

#[test]
fn ls04_opening_a_session_that_does_not_exist_creates_nothing() {
    let (dir, store) = store();
    for open in [Store::open, |store: &Store, name: &SessionName| store.read_meta(name).map(|_| unreachable!())] {
        let error = open(&store, &name("demx")).expect_err("there is none");
        assert!(matches!(&error, StoreError::NotFound { name, .. } if name == "demx"), "{error}");
    }
    assert!(store.lock(&name("demx")).is_err());
    assert!(!store.exists(&name("demx")));
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 0);
}

#[test]
fn l06_a_store_that_cannot_be_a_directory_fails_before_a_name_is_announced() {
    let (dir, store) = store();
    fs::write(store.base_dir(), "a file").expect("it can be written");
    let error = store.create(&NewSession::default()).expect_err("there can be no directory");
    assert!(error.to_string().contains(&store.base_dir().display().to_string()), "{error}");
    assert!(matches!(store.open(&name("demo")), Err(StoreError::NotADirectory { .. })));
    let inside = Store::open_at(store.base_dir().join("deeper"));
    assert!(inside.create(&NewSession::default()).is_err());
    assert_eq!(fs::read_dir(dir.path()).expect("it is there").count(), 1);
}

#[test]
fn l06_a_missing_home_is_read_as_an_empty_store() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let home = dir.path().join("nowhere");
    let mut command = super::process::command("opens the default store", &home, "");
    command.env("HOME", &home);
    let said = super::process::Player::spawn(&mut command).ends();
    assert_eq!(said, [home.join(".kvit-coder/sessions").display().to_string(), "not found".to_owned()]);
    assert!(!home.exists());
}

/// An event of this project's own kinds, with which no history begins.
fn usage() -> Event {
    let now = session_core::parse_time("2026-01-02T03:04:05Z").expect("it is a time");
    Extension::Usage(Usage { cost: Some(0.25), ..Usage::default() }).into_event(now)
}

#[test]
fn what_threads_append_through_one_session_is_there_once_when_they_are_answered() {
    let (_dir, store) = store();
    let session = create(&store, "demo");
    thread::scope(|scope| {
        for thread in 0..8 {
            let session = &session;
            scope.spawn(move || {
                for n in 0..20 {
                    let text = format!("{thread} {n}");
                    let appended =
                        session.append_messages([Message::user(text.clone())]).expect("it can be appended to");
                    assert_eq!(appended.events, 1);
                    let history = fs::read(session.paths().history()).expect("it is there");
                    let own = &history[usize::try_from(appended.offset).expect("it is small")..];
                    let line = own.split(|&byte| byte == b'\n').next().expect("it has a line");
                    assert!(
                        String::from_utf8_lossy(line).contains(&format!("\"{text}\"")),
                        "it stands where it was told"
                    );
                }
            });
        }
    });
    let mut said: Vec<_> = session
        .load()
        .expect("it can be read")
        .messages
        .iter()
        .map(|message| message.content.text().into_owned())
        .collect();
    said.sort_unstable();
    let mut wanted: Vec<String> = (0..8).flat_map(|thread| (0..20).map(move |n| format!("{thread} {n}"))).collect();
    wanted.sort_unstable();
    assert_eq!(said, wanted);
}

#[test]
fn ls07_a_deleted_session_does_not_come_back() {
    let (_dir, store) = store();
    for with_history in [false, true] {
        let session = create(&store, "demo");
        if with_history {
            session.notice("here").expect("it can be appended to");
        }
        fs::remove_dir_all(session.dir()).expect("it is there");
        // What waits in memory for a history to begin would wait for ever.
        assert!(matches!(session.append(&[usage()]), Err(StoreError::Deleted { .. })));
        assert!(matches!(session.notice("again"), Err(StoreError::Deleted { .. })));
        assert!(matches!(session.update_meta(|meta| meta.cost = 1.0), Err(StoreError::Deleted { .. })));
        assert!(matches!(session.set_title("Oaks", TitleSource::User), Err(StoreError::Deleted { .. })));
        assert!(matches!(session.meta(), Err(StoreError::Deleted { .. })));
        assert!(matches!(session.load(), Err(StoreError::Deleted { .. })));
        assert!(matches!(session.lock(), Err(StoreError::Deleted { .. })));
        assert!(!session.dir().exists());
        drop(session);
        assert!(!store.base_dir().join("demo").exists());
    }
}

#[test]
fn ls07_a_session_that_was_replaced_by_another_is_not_written_to() {
    let (_dir, store) = store();
    let old = create(&store, "demo");
    let lock = old.lock().expect("it is free");
    let turn = old.begin_turn(&lock, "turn-1").expect("no turn runs");
    old.notice("here").expect("it can be appended to");
    fs::remove_dir_all(old.dir()).expect("it is there");
    let new = create(&store, "demo");
    assert!(matches!(old.append(&[usage()]), Err(StoreError::Deleted { .. })));
    assert!(matches!(old.notice("again"), Err(StoreError::Deleted { .. })));
    assert!(matches!(old.update_meta(|meta| meta.cost = 1.0), Err(StoreError::Deleted { .. })));
    assert!(!new.paths().history().exists());
    assert!(!new.paths().proc().join("turn.pid").exists(), "nor does its turn stand there");
    drop(turn);
    drop(lock);
    assert_eq!(new.meta().expect("it can be read").meta.cost, 0.0);
}

#[test]
fn h20_a_chain_opens_at_its_end() {
    let (_dir, store) = store();
    for of in ["a", "b", "c"] {
        create(&store, of);
    }
    succeeded(&store, "a", "b");
    succeeded(&store, "b", "c");
    let session = store.open(&name("a")).expect("it opens");
    assert_eq!((session.name(), session.dangling_successor()), ("c", None));
}

#[test]
fn h20_a_link_that_leads_nowhere_creates_nothing_and_opens_the_last_that_exists_for_reading() {
    for link in ["ghost", "../../etc", "..", "/etc", "a/b", "-rf", "x\ny", "linked", "file"] {
        let (dir, store) = store();
        create(&store, "a").notice("here").expect("it can be appended to");
        create(&store, "b");
        std::os::unix::fs::symlink("b", store.base_dir().join("linked")).expect("the name is free");
        fs::write(store.base_dir().join("file"), "").expect("it can be written");
        succeeded(&store, "a", link);
        let count = || fs::read_dir(store.base_dir()).expect("it is there").count();
        let before = (count(), fs::read_dir(dir.path()).expect("it is there").count());
        let session = store.open(&name("a")).expect("it opens");
        assert_eq!((session.name(), session.dangling_successor()), ("a", Some(link)));
        assert_eq!(session.view().expect("it can be read").count().expect("it can be read").skipped, 0);
        assert!(matches!(session.notice("again"), Err(StoreError::Succeeded { .. })));
        store.open_or_create(&name("a")).expect("it opens");
        assert_eq!((count(), fs::read_dir(dir.path()).expect("it is there").count()), before);
    }
}

#[test]
fn h20_loops_and_endless_chains_are_errors() {
    let (_dir, store) = store();
    for n in 0..17 {
        create(&store, &format!("s{n}"));
    }
    for n in 0..16 {
        let session = store.open(&name(&format!("s{n}"))).expect("it ends there");
        let _lock = session.lock().expect("nobody has it");
        session.update_meta(|meta| meta.succeeded_by = format!("s{}", n + 1)).expect("it can be written");
    }
    let error = store.open(&name("s0")).expect_err("seventeen are too many");
    assert!(matches!(&error, StoreError::ChainTooLong { limit: 16, .. }), "{error}");
    assert_eq!(store.open(&name("s1")).expect("sixteen are not").name(), "s16");
    succeeded(&store, "s16", "s1");
    let error = store.open(&name("s2")).expect_err("it comes back");
    assert!(matches!(&error, StoreError::SuccessorLoop { name, at } if name.as_str() == "s2" && at.as_str() == "s2"));
}

#[test]
fn a_session_that_was_succeeded_while_it_was_open_is_not_written_to() {
    let (_dir, store) = store();
    let session = create(&store, "demo");
    session.notice("here").expect("it can be appended to");
    let before = fs::read(session.paths().history()).expect("it is there");
    create(&store, "demo-2");
    succeeded(&store, "demo", "demo-2");
    let error = session.notice("again").expect_err("another goes on");
    assert!(matches!(&error, StoreError::Succeeded { successor, .. } if successor == "demo-2"), "{error}");
    assert_eq!(fs::read(session.paths().history()).expect("it is there"), before);
}

#[test]
fn the_successor_is_set_only_under_the_lock() {
    let (_dir, store) = store();
    let session = create(&store, "demo");
    let link = || session.update_meta(|meta| meta.succeeded_by = "demo-2".into());
    assert!(matches!(link(), Err(StoreError::NotLocked { .. })));
    let lock = session.lock().expect("nobody has it");
    link().expect("it is locked");
    drop(lock);
    assert!(matches!(session.update_meta(|meta| meta.succeeded_by.clear()), Err(StoreError::NotLocked { .. })));
    assert_eq!(session.meta().expect("it can be read").meta.succeeded_by, "demo-2");
}

#[test]
fn open_or_create_makes_a_session_once() {
    let (_dir, store) = store();
    let session = store.open_or_create(&name("demo")).expect("it can be created");
    session.update_meta(|meta| meta.model = "oak".into()).expect("it can be written");
    let again = store.open_or_create(&name("demo")).expect("it exists");
    assert_eq!(again.meta().expect("it can be read").meta.model, "oak");
}

#[test]
fn open_dir_takes_any_directory() {
    let (dir, _store) = store();
    let path = dir.path().join("bench").join(".run 1.");
    let session = Session::open_dir(&path, Options::default()).expect("it can be created");
    session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    assert_eq!(session.name(), ".run 1.");
    assert!(path.join("meta.json").is_file() && path.join("inbox").is_dir());
    let again = Session::open_dir(&path, Options::default()).expect("it exists");
    assert_eq!(again.load().expect("it can be read").messages.len(), 1);
    fs::write(dir.path().join("file"), "").expect("it can be written");
    assert!(Session::open_dir(dir.path().join("file"), Options::default()).is_err());
}
