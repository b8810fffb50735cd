//! Giving a session another name.

use crate::garden::{Garden, at_every_step};
use crate::scratch::{Scratch, Sleeper, identity_json, name, picture, user};
use crate::support::quick;
use session_core::checkpoint::{CheckpointRef, Checkpointer, OnConflict};
use session_core::{Message, SessionName};
use session_disk::faults::with;
use session_store::{Compaction, NewFork, Store, StoreError};

/// `first` was compacted into `demo`, that was forked to `fork`, and compacted into `last`.
fn family() -> Scratch {
    let scratch = Scratch::new();
    scratch.session("first", &[user(1, "plant three oaks")]);
    let store = scratch.store_with(quick());
    compact(&store, "first", "demo");
    let fork = NewFork { name: Some(name("fork")), ..NewFork::default() };
    store.fork(&name("demo"), &fork, None).expect("nothing forbids it");
    compact(&store, "demo", "last");
    scratch
}

fn compact(store: &Store, source: &str, successor: &str) {
    let session = store.open(&name(source)).expect("it is there");
    let lock = session.lock().expect("it is free");
    let plan = Compaction { name: Some(name(successor)), summary: format!("what {source} was about") };
    store.compact(&session, &lock, &plan, None).map(drop).expect("nothing forbids it");
}

fn links(store: &Store, session: &str) -> (String, String) {
    let meta = store.read_meta(&name(session)).expect("it can be read").meta;
    (meta.parent, meta.succeeded_by)
}

/// Everybody names the session by its name.
fn assert_whole(store: &Store, is: &str) {
    assert_eq!(links(store, "first").1, is);
    assert_eq!(links(store, is), ("first".into(), "last".into()));
    assert_eq!(links(store, "fork").0, is);
    assert_eq!(links(store, "last").0, is);
    assert_eq!(store.read_meta(&name(is)).expect("it can be read").meta.name, is);
    assert_eq!(store.open(&name("first")).expect("it is there").name(), "last");
}

#[test]
fn parents_successors_and_forks_follow_a_new_name() {
    let scratch = family();
    let store = scratch.store_with(quick());
    let before = crate::scratch::loaded(&store, "demo");
    let renamed = store.rename(&name("demo"), &name("oaks")).expect("nothing forbids it");
    let told: Vec<&str> = renamed.told.iter().map(SessionName::as_str).collect();
    assert_eq!((told, renamed.resumed), (vec!["first", "fork", "last"], false));
    assert_whole(&store, "oaks");
    assert_eq!(crate::scratch::loaded(&store, "oaks"), before);
    assert!(matches!(store.load(&name("demo")), Err(StoreError::NotFound { .. })));
    // The successor that a history names follows as well.
    for file in ["first/meta.json", "first/.meta.json"] {
        std::fs::remove_file(scratch.path(file)).expect("scratch");
    }
    assert_eq!(links(&store, "first").1, "oaks");
}

#[test]
fn a_name_that_is_taken_or_none_is_refused_and_nothing_changes() {
    let scratch = family();
    scratch.put("flat.jsonl", "{\"role\":\"user\",\"content\":\"old\"}\n");
    scratch.dir("empty");
    let store = scratch.store_with(quick());
    let before = picture(&scratch.path("fork"));
    for taken in ["demo", "fork", "flat", "empty"] {
        let refused = store.rename(&name("fork"), &name(taken));
        assert!(matches!(&refused, Err(StoreError::Exists { name }) if name.as_str() == taken), "{taken}: {refused:?}");
    }
    assert!(matches!(store.rename(&name("none"), &name("new")), Err(StoreError::NotFound { .. })));
    assert_eq!(picture(&scratch.path("fork")), before);
}

#[test]
fn a_session_whose_flat_file_was_migrated_a_moment_ago_is_not_renamed() {
    let scratch = family();
    let flat = scratch.put("flat.jsonl", "{\"role\":\"user\",\"content\":\"old\"}\n");
    let store = scratch.store_with(quick());
    drop(store.open(&name("flat")).expect("it is migrated"));
    // Who began to migrate it at the same moment may not be done.
    let refused = store.rename(&name("flat"), &name("new"));
    assert!(matches!(&refused, Err(StoreError::MigrationUnsettled { path }) if *path == flat), "{refused:?}");
    assert!(scratch.path("flat/history.jsonl").exists() && !scratch.path("new").exists());
}

#[test]
fn a_session_in_which_something_runs_is_not_renamed() {
    let garden = Garden::of_two_turns();
    let store = garden.quick();
    let session = garden.open("demo");
    let lock = session.lock().expect("it is free");
    assert!(matches!(store.rename(&name("demo"), &name("oaks")), Err(StoreError::Locked { .. })));
    let turn = session.begin_turn(&lock, "t").expect("none runs");
    assert!(matches!(store.rename(&name("demo"), &name("oaks")), Err(StoreError::LiveTurn { .. })));
    turn.end("done", None).expect("it runs");
    drop((lock, session));
    let sleeper = Sleeper::start();
    let record = format!(
        "{{\"id\":\"bg1\",\"command\":\"sleep\",\"cwd\":\"/\",\"pid\":{},\"started\":\"2026-01-02T03:04:05Z\",\"state\":\"running\",\"exit_code\":0,\"ended\":\"0001-01-01T00:00:00Z\"}}",
        sleeper.pid()
    );
    garden.scratch.put("demo/proc/bg1.json", record);
    garden.scratch.put("demo/proc/.bg1.id", format!("{{\"process\":{}}}", identity_json(&sleeper.identity())));
    let refused = store.rename(&name("demo"), &name("oaks"));
    assert!(matches!(&refused, Err(StoreError::Running { ids, .. }) if ids == &["bg1"]), "{refused:?}");
    drop(sleeper);
    store.rename(&name("demo"), &name("oaks")).expect("nothing runs any more");
}

#[test]
fn who_has_the_session_open_under_its_old_name_writes_nothing_more_to_it() {
    let garden = Garden::of_two_turns();
    let open = garden.open("demo");
    garden.quick().rename(&name("demo"), &name("oaks")).expect("nothing forbids it");
    assert!(matches!(open.append_messages([Message::user("late")]), Err(StoreError::Deleted { .. })));
    assert!(!garden.scratch.path("demo").exists());
    assert_eq!(garden.said("oaks").len(), 4);
}

#[test]
fn c22_shared_checkpoints_work_under_new_names() {
    let garden = Garden::of_two_turns();
    let fork = NewFork { name: Some(name("fork")), ..NewFork::default() };
    garden.quick().fork(&name("demo"), &fork, Some(&garden.checkpoints("demo"))).expect("nothing forbids it");
    garden.quick().rename(&name("demo"), &name("oaks")).expect("nothing forbids it");
    garden.quick().rename(&name("fork"), &name("more-oaks")).expect("nothing forbids it");
    for (session, turn, oaks) in [("oaks", 1, "1"), ("more-oaks", 2, "2")] {
        let mut own = garden.checkpoints(session);
        own.restore(CheckpointRef::Taken(turn), OnConflict::Force).map(drop).expect("it is whole");
        assert_eq!(garden.oaks(), oaks);
    }
}

#[test]
fn i34_h20_a_renaming_that_fails_or_dies_at_any_step_is_ended_by_repeating_it() {
    at_every_step(10, |fault| {
        let scratch = family();
        let store = scratch.store();
        let run = with(fault, || store.rename(&name("demo"), &name("oaks")));
        let is = if scratch.path("oaks").exists() { "oaks" } else { "demo" };
        assert!(scratch.path("oaks").exists() != scratch.path("demo").exists(), "{fault:?}");
        assert_eq!(crate::scratch::loaded(&store, is).len(), 1, "{fault:?}");
        match store.rename(&name("demo"), &name("oaks")) {
            Ok(_) => {}
            // It had told everybody, and only the last sync failed.
            Err(StoreError::NotFound { .. }) => assert_eq!(is, "oaks"),
            Err(error) => panic!("{fault:?}: {error}"),
        }
        assert_whole(&store, "oaks");
        run.hit
    });
}

#[test]
fn the_flat_file_that_a_session_was_migrated_from_goes_along_with_its_name() {
    let scratch = Scratch::new();
    scratch.put("old.jsonl", user(1, "plant three oaks") + "\n");
    let store = scratch.store();
    crate::scratch::eventually(|| {
        drop(store.open(&name("old")).expect("it is migrated"));
        scratch.path("old.jsonl.migrated").exists().then_some(())
    });
    let flat = std::fs::read(scratch.path("old.jsonl.migrated")).expect("it was kept");

    store.rename(&name("old"), &name("oaks")).expect("nothing forbids it");
    assert_eq!(std::fs::read(scratch.path("oaks.jsonl.migrated")).expect("it has moved along"), flat);
    assert!(!scratch.path("old.jsonl.migrated").exists());
}
