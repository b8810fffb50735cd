//! What could not be looked through for secrets: it is told, and the rest is looked through all the same.

use crate::garden::Garden;
use crate::scratch::{Scratch, name, user};
use crate::support::files;
use session_store::{BundleSecrets, ScrubBackup, StoreError};
use std::fs;

/// A token that nobody has, put together so that no scanner takes it for real.
fn token() -> String {
    ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat()
}

#[test]
fn s02_a_line_that_is_too_long_to_be_looked_through_is_told_by_its_number_and_stays_as_it_is() {
    let scratch = Scratch::new();
    let long = user(6, &format!("{} {}", token(), "oak ".repeat(9 << 20)));
    scratch.session("demo", &[user(5, "plant three oaks"), long.clone(), user(7, &format!("use {}", token()))]);
    let store = scratch.store();
    let scan = store.scan_secrets(&name("demo"), None, &mut |_| {}).expect("it can be read");
    let places: Vec<_> = scan.hits.iter().map(|hit| (hit.file.as_str(), hit.line)).collect();
    assert_eq!(places, [("history.jsonl", Some(3))]);
    let [(place, why)] = &scan.unexamined[..] else { panic!("{:?}", scan.unexamined) };
    assert_eq!((place.as_str(), why.as_str()), ("history.jsonl, line 2", "it is longer than 33554432 bytes"));
    let scrubbed = store.scrub(&name("demo"), ScrubBackup::Drop, None, &mut |_| {}).expect("nothing forbids it");
    assert_eq!(scrubbed.scan.unexamined, scan.unexamined, "a scrub says it too");
    let history = fs::read_to_string(scratch.path("demo/history.jsonl")).expect("it is text");
    let lines: Vec<&str> = history.split_inclusive('\n').collect();
    assert!(lines[1] == long, "nothing of it was touched");
    assert_eq!(lines[2], user(7, &format!("use {}", "*".repeat(40))));
    // Nor is it ever counted as clean.
    let again = store.scrub(&name("demo"), ScrubBackup::Drop, None, &mut |_| {}).expect("nothing forbids it");
    assert_eq!((again.scan.hits.len(), again.scan.unexamined), (0, scan.unexamined));
}

#[test]
fn s01_checkpoints_that_cannot_be_read_are_told_and_the_rest_is_looked_through() {
    let garden = Garden::of_two_turns();
    garden.open("demo").append_messages([session_core::Message::user(token())]).expect("nothing forbids it");
    let checkpoints = garden.scratch.path("demo/checkpoints/repo.git/objects");
    for file in files(&checkpoints).iter().flat_map(|dir| files(dir)) {
        garden.scratch.put(file, "no object");
    }
    let own = garden.checkpoints("demo");
    let store = garden.store();
    let scan = store.scan_secrets(&name("demo"), Some(&own), &mut |_| {}).expect("the rest can be read");
    assert_eq!(scan.hits.iter().map(|hit| hit.file.as_str()).collect::<Vec<_>>(), ["history.jsonl"]);
    let [(place, why)] = &scan.unexamined[..] else { panic!("{:?}", scan.unexamined) };
    assert!(place == "checkpoints" && !why.is_empty(), "{place}: {why}");
    let scrubbed = store.scrub(&name("demo"), ScrubBackup::Drop, Some(&own), &mut |_| {}).expect("nothing forbids it");
    assert_eq!((&scrubbed.files[..], scrubbed.scan.unexamined.len()), (&["history.jsonl".to_owned()][..], 1));
    // A bundle without secrets cannot be made of it.
    let mut plan = store.bundle(BundleSecrets::Mask);
    let refused = plan.add(&name("demo"), Some(&own), &mut |_| {}).map(drop);
    assert!(matches!(refused, Err(StoreError::Checkpoint { .. })), "{refused:?}");
}
