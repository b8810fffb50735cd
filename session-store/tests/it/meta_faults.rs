//! A disk that fails at every step of changing metadata, and of creating a session.

use session_core::{Meta, SessionName};
use session_disk::faults::{Fault, with};
use session_store::{NewSession, Session, Store, StoreError};
use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const FAULTS: [fn(u64) -> Fault; 3] = [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }];
/// More operations than any of these calls has.
const ENOUGH: u64 = 200;

fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    (dir, store)
}

/// Runs `attempt` with every fault at every operation, until one no longer reaches it.
fn at_every_step(mut attempt: impl FnMut(Fault) -> bool) {
    for fault in FAULTS {
        let reached = (0..ENOUGH).take_while(|at| attempt(fault(*at))).count();
        assert!(reached > 3 && (reached as u64) < ENOUGH, "{reached} operations were tried");
    }
}

fn read(session: &Session) -> Meta {
    session.meta().expect("it can be read").meta
}

#[test]
fn i21_a_change_of_metadata_that_fails_leaves_the_old_or_the_new_and_can_be_repeated() {
    at_every_step(|fault| {
        let (_dir, store) = store();
        let new = NewSession { model: "old".into(), workspace: "/w".into(), ..NewSession::default() };
        let session = store.create(&new).expect("it can be created");
        let run = with(fault, || session.update_meta(|meta| meta.model = "new".into()));

        let meta = read(&session);
        assert!(meta.model == "new" || run.result.is_err() && meta.model == "old", "{fault:?}: {}", meta.model);
        assert_eq!(meta.workspace, "/w", "{fault:?}");
        for path in [session.paths().meta(), session.paths().meta_copy()] {
            Meta::parse(&fs::read(path).expect("it is there")).expect("it is whole");
        }
        session.update_meta(|meta| meta.model = "newer".into()).expect("the disk works again");
        assert_eq!(read(&session).model, "newer", "{fault:?}");
        run.hit
    });
}

#[test]
fn a_corrupt_file_is_not_lost_when_its_replacement_fails() {
    at_every_step(|fault| {
        let (_dir, store) = store();
        let session = store.create(&NewSession::default()).expect("it can be created");
        for path in [session.paths().meta(), session.paths().meta_copy()] {
            fs::write(&path, "corrupt").expect("it can be written");
            // A fresh one might be in somebody's hands, and would be looked at for a while.
            let old = FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(60));
            File::options().append(true).open(&path).and_then(|file| file.set_times(old)).expect("it is ours");
        }
        let run = with(fault, || session.update_meta(|meta| meta.model = "new".into()));

        session.update_meta(|meta| meta.model = "newer".into()).expect("the disk works again");
        let names = fs::read_dir(session.dir()).expect("it can be read");
        let names: Vec<_> = names.map(|entry| entry.expect("it can be read").file_name()).collect();
        for kept in ["meta.json.bad-", ".meta.json.bad-"] {
            assert!(names.iter().any(|name| name.to_string_lossy().starts_with(kept)), "{fault:?}: {names:?}");
        }
        run.hit
    });
}

#[test]
fn i21_a_session_whose_creation_fails_exists_whole_or_not_at_all() {
    let name: SessionName = "demo".parse().expect("it is a name");
    let new = NewSession { name: Some(name.clone()), model: "oak".into(), ..NewSession::default() };
    at_every_step(|fault| {
        let (_dir, store) = store();
        let run = with(fault, || store.create(&new).map(|session| session.name().to_owned()));
        match store.open(&name) {
            Ok(session) => {
                assert_eq!(read(&session).model, "oak", "{fault:?}");
                let paths = session.paths();
                for dir in [paths.checkpoints(), paths.proc(), paths.inbox(), paths.tmp()] {
                    assert!(dir.is_dir(), "{fault:?}");
                }
            }
            Err(StoreError::NotFound { .. }) => {
                assert!(run.result.is_err(), "{fault:?}: it was said to be created");
                store.create(&new).expect("the disk works again");
            }
            Err(error) => panic!("{fault:?}: {error}"),
        }
        let entries = fs::read_dir(store.base_dir()).expect("it is there");
        let names: Vec<_> = entries.map(|entry| entry.expect("it can be read").file_name()).collect();
        assert!(names.iter().all(|name| name == "demo" || name == ".session-store"), "{fault:?}: {names:?}");
        run.hit
    });
}
