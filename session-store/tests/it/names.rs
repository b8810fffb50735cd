//! Names: those that are generated, those that are claimed, those that are refused.

use session_core::{Meta, SessionName};
use session_store::{NewSession, Store, StoreError};
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::thread;

/// Everything below a directory, with its content.
fn tree(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        let metadata = path.symlink_metadata().expect("it is there");
        let content = match fs::read(&path) {
            Ok(bytes) if metadata.is_file() => bytes,
            _ => Vec::new(),
        };
        found.push((format!("{} {:?}", path.display(), metadata.file_type()), content));
        if metadata.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn s03_hostile_names_are_no_names() {
    for name in
        ["../x", "a/b", "/etc", ".", "..", "", "a\0b", "a\nb", "-rf", "a\\b", ".hidden", "x ", "x.", &"x".repeat(300)]
    {
        assert!(SessionName::new(name).is_err(), "{name:?}");
    }
}

#[test]
fn s03_a_session_that_is_a_link_is_refused_by_every_verb_and_nothing_outside_changes() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let outside = dir.path().join("outside");
    fs::create_dir(&outside).expect("it is new");
    fs::write(outside.join("history.jsonl"), "{\"kind\":\"notice\"}\n").expect("it can be written");
    fs::write(outside.join("meta.json"), Meta::default().to_json()).expect("it can be written");
    let store = Store::open_at(dir.path().join("sessions"));
    store.create(&NewSession::default()).expect("it can be created");
    for (link, target) in
        [("absolute", outside.as_path()), ("relative", Path::new("../outside")), ("loose", Path::new("../new"))]
    {
        symlink(target, store.base_dir().join(link)).expect("the name is free");
        let name: SessionName = link.parse().expect("it is a name");
        let before = tree(dir.path());
        let escapes = |error: StoreError| assert!(matches!(error, StoreError::Escapes { .. }), "{error}");
        escapes(store.paths(&name).expect_err("it is a link"));
        escapes(store.open(&name).expect_err("it is a link"));
        escapes(store.open_or_create(&name).expect_err("it is a link"));
        escapes(store.read_meta(&name).expect_err("it is a link"));
        escapes(store.lock(&name).expect_err("it is a link"));
        let new = NewSession { name: Some(name.clone()), ..NewSession::default() };
        escapes(store.create(&new).expect_err("it is a link"));
        assert!(!store.exists(&name));
        assert_eq!(tree(dir.path()), before);
    }
}

#[test]
fn s03_a_hostile_successor_leads_nowhere() {
    for successor in ["../../etc", "../outside", "/etc", "..", ".", "-rf", "a/b"] {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let store = Store::open_at(dir.path().join("store").join("sessions"));
        let name: SessionName = "demo".parse().expect("it is a name");
        let meta = Meta { succeeded_by: successor.into(), ..Meta::default() };
        fs::create_dir_all(store.base_dir().join("demo")).expect("it is new");
        fs::write(store.base_dir().join("demo/meta.json"), meta.to_json()).expect("it can be written");
        let before = tree(dir.path());
        let session = store.open(&name).expect("it opens");
        assert_eq!((session.name(), session.dangling_successor()), ("demo", Some(successor)));
        assert_eq!(tree(dir.path()), before);
        // It stays unwritable, and the reference's `Open` makes nothing elsewhere either.
        store.open_or_create(&name).expect("it opens");
        let outside =
            |tree: Vec<(String, Vec<u8>)>| tree.into_iter().filter(|(path, _)| !path.contains("/demo")).collect();
        let (before, after): (Vec<_>, Vec<_>) = (outside(before), outside(tree(dir.path())));
        assert_eq!(after, before);
    }
}

#[test]
fn a_name_is_claimed_by_one_of_those_who_want_it() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let new = NewSession { name: Some("demo".parse().expect("it is a name")), ..NewSession::default() };
    let winners = thread::scope(|scope| {
        let tries: Vec<_> = (0..8).map(|_| scope.spawn(|| store.create(&new))).collect();
        tries.into_iter().map(|attempt| attempt.join().expect("it does not panic")).filter(Result::is_ok).count()
    });
    assert_eq!(winners, 1);
    let staging = store.base_dir().join(".session-store/staging");
    assert_eq!(fs::read_dir(staging).expect("it is there").count(), 0, "the others left nothing");
}

#[test]
fn a_flat_file_has_its_name_claimed() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    fs::write(dir.path().join("demo.jsonl"), "{\"role\":\"user\",\"content\":\"a\"}\n").expect("it can be written");
    let store = Store::open_at(dir.path());
    let new = NewSession { name: Some("demo".parse().expect("it is a name")), ..NewSession::default() };
    assert!(matches!(store.create(&new), Err(StoreError::Exists { .. })));
}

#[test]
fn generated_names_are_dates_and_six_letters_or_digits() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path())
        .with_clock(|| session_core::parse_time("2026-01-02T23:30:00+09:00").expect("it is well formed"));
    let names: HashSet<String> =
        (0..20).map(|_| store.create(&NewSession::default()).expect("it can be created").name().to_owned()).collect();
    assert_eq!(names.len(), 20);
    for name in names {
        let random = name.strip_prefix("2026-01-02-").unwrap_or_else(|| panic!("{name}"));
        assert!(random.len() == 6 && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{name}");
    }
}
