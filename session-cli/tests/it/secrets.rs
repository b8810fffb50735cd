//! Secrets from the command line: found, never shown, masked.

use crate::support::{Scratch, json, tree};
use std::fs;

fn token() -> String {
    ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat()
}

/// A session with a secret, and one without.
fn planted() -> Scratch {
    let scratch = Scratch::new();
    for (session, text) in [("oaks", format!("use {}", token())), ("elms", "hello".to_owned())] {
        scratch.ok(&["new", session]);
        scratch.ok_with(&["append", session], &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n"));
    }
    scratch
}

#[test]
fn s01_the_secret_is_shown_by_no_verb_in_no_form() {
    let scratch = planted();
    for words in [
        &["scan"][..],
        &["scan", "--json"],
        &["scan", "oaks", "-v"],
        &["scrub", "oaks"],
        &["scrub", "oaks", "-n"],
        &["scrub", "oaks", "-n", "--json"],
        &["scrub", "oaks", "-y", "--json"],
        &["scan", "oaks"],
    ] {
        let ran = scratch.run(words);
        let told = ran.stdout + &ran.stderr;
        assert!(!told.contains(&token()[..8]), "{words:?}: {told}");
    }
}

#[test]
fn s01_scanning_says_where_and_writes_nothing() {
    let scratch = planted();
    let before = tree(&scratch.store());
    let ran = scratch.run(&["scan", "--json"]);
    let document = json(&ran.stdout);
    assert_eq!((ran.code, &document["schema"], &document["sessions"]), (1, &"session/scan.v1".into(), &2.into()));
    let finding = &document["findings"][0];
    assert_eq!(
        (&finding["session"], &finding["rule"], &finding["line"]),
        (&"oaks".into(), &"github-pat".into(), &2.into())
    );
    assert_eq!(scratch.run(&["scan", "elms"]).code, 0);
    assert_eq!(scratch.run(&["scan", "firs"]).code, 4);
    assert_eq!(tree(&scratch.store()), before);
}

#[test]
fn s02_scrubbing_asks_and_a_session_in_use_is_busy() {
    let scratch = planted();
    let before = tree(&scratch.store());
    assert_eq!(scratch.run(&["scrub", "oaks"]).code, 6);
    assert_eq!(scratch.run(&["scrub", "oaks", "-n"]).code, 0);
    assert_eq!(scratch.run(&["scrub", "elms", "-y"]).code, 1);
    let inside = scratch.run(&["turn", "oaks", "--", "sh", "-c", "\"$SESSION\" scrub oaks -y"]);
    assert_eq!(inside.code, 5, "{inside:?}");
    let history = |tree: &std::collections::BTreeMap<String, Vec<u8>>| tree["oaks/history.jsonl"].clone();
    assert_eq!(history(&tree(&scratch.store())), history(&before));
    assert_eq!(scratch.run(&["scrub", "oaks", "--no-backup", "-y"]).code, 0);
    let after = tree(&scratch.store());
    assert!(after.values().all(|bytes| !String::from_utf8_lossy(bytes).contains(&token())));
}

#[test]
fn s01_a_checkpoint_that_holds_a_secret_is_told_and_makes_it_a_part() {
    let scratch = Scratch::new();
    fs::write(scratch.work().join("config.sh"), format!("T={}\n", token())).expect("it is ours");
    scratch.ok(&["new", "oaks", "--workspace", &scratch.work().display().to_string()]);
    scratch.ok_with(&["append", "oaks"], &format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", token()));
    scratch.ok(&["checkpoint", "create", "oaks"]);
    let ran = scratch.run(&["scan", "oaks"]);
    assert!(ran.stdout.contains("oaks\tcheckpoints/turn-1:config.sh\t"), "{ran:?}");
    let ran = scratch.run(&["scrub", "oaks", "-y"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("checkpoint turn-1 holds a secret in config.sh"), "{ran:?}");
    let left = json(&scratch.run(&["scan", "oaks", "--json"]).stdout);
    assert_eq!(
        (left["findings"].as_array().map(Vec::len), left["checkpoints"].as_array().map(Vec::len)),
        (Some(0), Some(1))
    );
}
