//! Metadata that several processes change at once.

use super::process::{Player, race_seconds};
use super::reference::{reads_meta, saves_meta};
use session_core::{Meta, SessionName, TitleSource};
use session_store::{NewSession, Session, Store};
use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use tempfile::TempDir;

fn session() -> (TempDir, Store, Session, PathBuf) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let new = NewSession { model: "0".into(), workspace: "0".into(), ..NewSession::default() };
    let session = store.create(&new).expect("it can be created");
    let path = session.dir().to_owned();
    (dir, store, session, path)
}

#[test]
fn m01_two_processes_that_change_two_fields_a_thousand_times_lose_nothing() {
    let (_dir, store, session, path) = session();
    let name: SessionName = session.name().parse().expect("it is a name");
    let mut players = ["model 1000", "workspace 1000"].map(|more| Player::start("changes a field", &path, more));
    // Each of them compares what it finds with what it left. Whoever reads meanwhile sees whole files only.
    let mut last = (0, 0);
    while last != (1000, 1000) {
        let bytes = fs::read(session.paths().meta()).expect("it is always there");
        Meta::parse(&bytes).expect("it is always whole");
        let meta = store.read_meta(&name).expect("it can be read").meta;
        let number = |text: &str| text.parse::<u32>().expect("only numbers are written");
        let now = (number(&meta.model), number(&meta.workspace));
        assert!(now.0 >= last.0 && now.1 >= last.1, "{now:?} after {last:?}");
        assert!(players.iter_mut().all(Player::has_not_failed));
        last = now;
    }
    for player in players {
        player.ends();
    }
}

#[test]
fn m01_a_process_that_is_killed_in_an_update_leaves_whole_metadata_and_no_lock() {
    let (_dir, store, session, path) = session();
    let name: SessionName = session.name().parse().expect("it is a name");
    for round in 0..10 {
        let mut player = Player::start("changes a field", &path, "model 1000000");
        assert_eq!(player.hears(), "started");
        let before = store.read_meta(&name).expect("it can be read").meta.model;
        while store.read_meta(&name).expect("it can be read").meta.model == before {}
        player.dies();
        Meta::parse(&fs::read(session.paths().meta()).expect("it is there")).expect("it is whole");
        let meta = session.update_meta(|meta| meta.workspace = round.to_string()).expect("nobody holds the lock");
        assert_eq!(meta.workspace, round.to_string());
        session.update_meta(|meta| meta.model = "0".into()).expect("nobody holds the lock");
    }
}

/// How many changes are made in a row while the reference saves none.
const MAX_ALONE: u32 = 32;

#[test]
fn beside_the_reference_neither_loses_a_field() {
    let (_dir, _store, session, path) = session();
    session.update_meta(|meta| meta.extra.set("tags", &"kept".into())).expect("it can be changed");
    session.set_title("Oaks", TitleSource::User).expect("it can be set");
    let mut reference = Player::start("reference saves in a loop", &path, &race_seconds(2).to_string());
    assert_eq!(reference.hears(), "started");
    let (mut ours, mut theirs, mut alone) = (0, 0.0, 0);
    while !reference.has_ended() {
        // Of the values that the reference may still remember, the last 64 are known: it must not fall behind by more.
        if alone > MAX_ALONE && session.meta().expect("it can be read").meta.cost <= theirs {
            thread::yield_now();
            continue;
        }
        let meta = session
            .update_meta(|meta| {
                assert_eq!(meta.model, ours.to_string(), "what the reference remembers is not news");
                meta.model = (ours + 1).to_string();
            })
            .expect("it can be changed");
        ours += 1;
        assert!(meta.cost >= theirs, "{} after {theirs}", meta.cost);
        alone = if meta.cost > theirs { 0 } else { alone + 1 };
        theirs = meta.cost;
        let meta = session.meta().expect("it can be read").meta;
        assert_eq!((meta.title.as_str(), meta.extra.get("tags")), ("Oaks", Some("\"kept\"")));
    }
    let said = reference.ends();
    let meta = session.update_meta(|_| ()).expect("it can be changed");
    assert_eq!(meta.cost, said[0].parse::<f64>().expect("a number"), "its last word is taken");
    assert_eq!((meta.model, meta.title.as_str()), (ours.to_string(), "Oaks"));
    assert!(ours > 1 && meta.cost > 1.0, "both had their turns");
}

#[test]
fn what_the_reference_writes_while_we_replace_the_file_is_not_lost() {
    let (_dir, _store, _session, path) = session();
    let session = super::parts::open(&path);
    let paths = session.paths();
    for round in 1..=200 {
        let start = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut meta = reads_meta(paths);
                meta.cost = f64::from(round);
                start.wait();
                saves_meta(paths, &meta);
            });
            start.wait();
            session.update_meta(|meta| meta.model = round.to_string()).expect("it can be changed");
        });
        let meta = session.meta().expect("it can be read").meta;
        assert_eq!((meta.cost, meta.model), (f64::from(round), round.to_string()));
    }
}
