//! Flat files and their migration, against what the reference recorded.

use crate::scratch::{Scratch, eventually, lines, loaded, name};
use serde_json::Value;
use session_store::{Empties, FlatFile, SessionForm};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

struct Case {
    name: String,
    flat: Vec<u8>,
    modified: SystemTime,
    existing: Option<Vec<u8>>,
    /// What the session's history is after opening it.
    history: Vec<u8>,
    messages: Vec<String>,
    /// What a list says before.
    count: u64,
    flat_file: FlatFile,
}

fn data(file: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/flat").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn cases() -> Vec<Case> {
    let index = lines(&data("index.jsonl"));
    index.iter().map(|line| case(&serde_json::from_str(line).expect("the vectors are JSON"))).collect()
}

fn case(recorded: &Value) -> Case {
    let name = recorded["name"].as_str().expect("a name").to_owned();
    // The three deviations: a bad line is skipped and not fatal, and an incomplete history hides nothing.
    let (like, flat_file) = match name.as_str() {
        "torn" => ("plain", FlatFile::Waiting),
        "empty_history" => ("plain", FlatFile::Interrupted),
        "already" => ("already", FlatFile::Shadowed),
        own => (own, FlatFile::Waiting),
    };
    let existing = format!("{name}.existing_history.jsonl");
    let recorded_count = recorded["listed_before"][0]["MessageCount"].as_u64().expect("a count");
    Case {
        flat: data(&format!("{name}.jsonl")),
        modified: SystemTime::UNIX_EPOCH + Duration::from_nanos(recorded["mtime_ns"].as_u64().expect("a time")),
        existing: (recorded["migrated_file"] == false && name != "torn").then(|| data(&existing)),
        history: data(&format!("{like}.history.jsonl")),
        messages: lines(&data(&format!("{like}.messages.jsonl"))),
        count: if like == name { recorded_count } else { 5 },
        name,
        flat_file,
    }
}

fn scratch(cases: &[Case]) -> Scratch {
    let scratch = Scratch::new();
    for case in cases {
        scratch.put_at(format!("{}.jsonl", case.name), &case.flat, case.modified);
        if let Some(existing) = &case.existing {
            scratch.put(format!("{}/history.jsonl", case.name), existing);
        }
    }
    scratch
}

#[test]
fn flat_files_are_listed_and_read_as_they_are_and_nothing_is_migrated() {
    let cases = cases();
    assert_eq!(cases.len(), 11);
    let scratch = scratch(&cases);
    let store = scratch.store();
    let before = crate::scratch::picture(scratch.outside());
    let listed = store.list(Empties::Show).expect("the store can be read");
    assert_eq!(listed.len(), cases.len());
    for case in &cases {
        let info = listed.iter().find(|info| info.name == case.name).expect("it is listed");
        assert_eq!((info.messages, info.flat), (Some(case.count), case.flat_file), "{}", case.name);
        assert_eq!(info.form == SessionForm::Directory, case.flat_file == FlatFile::Shadowed);
        assert_eq!(loaded(&store, &case.name), case.messages, "{}", case.name);
        let (shown, _) = store.show_reference(&name(&case.name)).expect("it can be read");
        assert!(shown.starts_with(&format!("Session: {} ({} messages)\n", case.name, case.count)));
    }
    assert_eq!(crate::scratch::picture(scratch.outside()), before);
}

#[test]
fn opening_migrates_to_the_reference_s_bytes_and_a_later_opening_renames_the_flat_file() {
    let cases = cases();
    let scratch = scratch(&cases);
    let store = scratch.store();
    for case in &cases {
        drop(store.open(&name(&case.name)).unwrap_or_else(|error| panic!("{}: {error}", case.name)));
        let history = scratch.path(format!("{}/history.jsonl", case.name));
        assert_eq!(fs::read(history).expect("it was migrated"), case.history, "{}", case.name);
        assert_eq!(loaded(&store, &case.name), case.messages, "{}", case.name);
        // It stays until the session is opened again.
        assert_eq!(fs::read(scratch.path(format!("{}.jsonl", case.name))).expect("it stays"), case.flat);
        assert!(!scratch.path(format!("{}.jsonl.migrated", case.name)).exists());
    }
    for case in &cases {
        let migrated = scratch.path(format!("{}.jsonl.migrated", case.name));
        if case.flat_file == FlatFile::Shadowed {
            drop(store.open(&name(&case.name)).expect("it exists"));
            assert!(!migrated.exists());
            continue;
        }
        eventually(|| {
            drop(store.open(&name(&case.name)).expect("it exists"));
            migrated.exists().then_some(())
        });
        assert_eq!(fs::read(&migrated).expect("it was renamed"), case.flat);
        assert!(!scratch.path(format!("{}.jsonl", case.name)).exists());
        assert_eq!(loaded(&store, &case.name), case.messages, "{}", case.name);
    }
    let staging = fs::read_dir(scratch.path(".session-store/staging")).expect("it was used");
    assert_eq!(staging.count(), 0);
}
