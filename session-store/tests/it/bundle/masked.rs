//! Bundles without secrets.

use super::{Elsewhere, bundle, bundle_with, imported};
use crate::garden::Garden;
use crate::scratch::{name, user};
use session_core::checkpoint::Checkpointer;
use session_store::{BundleSecrets, StoreError};
use std::fs;

/// A token that nobody has, put together so that no scanner takes it for real.
fn token() -> String {
    ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat()
}

/// A password that only its context tells.
const PASSWORD: &str = "Birch-and-9-oaks";

fn planted() -> Garden {
    let garden = Garden::new();
    let lines = [user(5, &format!("use {}", token())), user(6, &format!("https://oak:{PASSWORD}@example.org/"))];
    garden.scratch.session("oaks", &lines);
    let files = [
        ("oaks/meta.json", format!("{{\"name\":\"oaks\",\"first_prompt\":\"use {}\"}}\n", token())),
        ("oaks/tmp/shell-1.txt", format!("said {PASSWORD}.\n")),
        ("oaks/proc/bg1.log", format!("{}\n", token())),
        ("oaks/inbox/1-2", token()),
        ("oaks/.quarantine/history-1-2-3", token()),
        ("oaks/.backup/history-20260102T030405Z-9-0011", lines.concat()),
        ("oaks/.raw/unknown.jsonl", format!("{{\"key\":\"{}\"}}\n", token())),
    ];
    for (path, text) in files {
        garden.scratch.put(path, text);
    }
    garden
}

fn holds(bundle: &[u8], text: &str) -> bool {
    let tar = zstd::decode_all(bundle).expect("it is one frame");
    tar.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn s01_secrets_are_masked_wherever_they_stand_and_everything_else_stays() {
    let garden = planted();
    let kept = bundle(&garden.store(), &["oaks"]);
    assert!(holds(&kept, &token()) && holds(&kept, PASSWORD));
    let masked = bundle_with(&garden.store(), &["oaks"], BundleSecrets::Mask).expect("it can be told");
    assert!(!holds(&masked, &token()) && !holds(&masked, PASSWORD));
    let elsewhere = Elsewhere::new();
    imported(&elsewhere.store(), &masked);
    let history = fs::read_to_string(elsewhere.0.path("oaks/history.jsonl")).expect("it is there");
    let wanted =
        [user(5, &format!("use {}", "*".repeat(40))), user(6, &format!("https://oak:{}@example.org/", "*".repeat(16)))];
    assert_eq!(history, wanted.concat());
    assert_eq!(
        fs::read_to_string(elsewhere.0.path("oaks/tmp/shell-1.txt")).expect("it is there"),
        "said ****************.\n"
    );
    // What is masked is masked for good.
    let again = bundle_with(&elsewhere.store(), &["oaks"], BundleSecrets::Mask).expect("it can be told");
    assert!(again == masked);
    // The session itself is as it was.
    assert!(bundle(&garden.store(), &["oaks"]) == kept);
}

#[test]
fn s01_what_was_masked_is_counted() {
    let garden = planted();
    let store = garden.store();
    let mut plan = store.bundle(BundleSecrets::Mask);
    assert_eq!(plan.add(&name("oaks"), None, &mut |_| {}).expect("it can be told").masked, 10);
}

#[test]
fn s01_a_secret_in_a_checkpoint_keeps_the_bundle_from_being_made() {
    let garden = Garden::of_two_turns();
    let store = garden.store();
    let own = garden.checkpoints("demo");
    let add = |checkpoints: Option<&dyn Checkpointer>| {
        let mut plan = store.bundle(BundleSecrets::Mask);
        plan.add(&name("demo"), checkpoints, &mut |_| {}).map(drop)
    };
    add(Some(&own)).expect("there is no secret yet");
    assert!(matches!(add(None), Err(StoreError::NotMasked { .. })), "nobody looks through them");
    fs::write(garden.work().join("notes"), format!("TOKEN={}\n", token())).expect("the workspace is ours");
    garden.take(&garden.open("demo"));
    match add(Some(&own)) {
        Err(StoreError::SecretInCheckpoint { first, files, .. }) => assert_eq!((first.as_str(), files), ("notes", 1)),
        other => panic!("{other:?}"),
    }
    bundle(&garden.store(), &["demo"]);
}

#[test]
fn s02_a_file_that_cannot_be_judged_keeps_the_bundle_from_being_made() {
    let garden = Garden::new();
    garden.scratch.session("oaks", &[user(5, &"oak ".repeat(9 << 20))]);
    let refused = bundle_with(&garden.store(), &["oaks"], BundleSecrets::Mask);
    assert!(matches!(refused, Err(StoreError::NotMasked { path, .. }) if path.ends_with("history.jsonl")));
}
