//! What verbs answer where they are asked for another order, a part, something that is not there, or too much at once.

use crate::support::{Scratch, json};
use std::fs;

/// Sessions by name, with so many messages of so many bytes.
fn garden(sessions: &[(&str, usize, usize)]) -> Scratch {
    let scratch = Scratch::new();
    for (name, messages, bytes) in sessions {
        scratch.ok(&["new", name]);
        let line = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "a".repeat(*bytes));
        scratch.ok_with(&["append", name], &line.repeat(*messages));
    }
    scratch
}

#[test]
fn the_list_is_in_the_order_that_is_asked_for_and_the_other_way_round() {
    let scratch = garden(&[("birch", 3, 1), ("Ash", 1, 9_000), ("oak", 2, 10)]);
    for (sort, wanted) in [
        ("updated", ["oak", "Ash", "birch"]),
        ("created", ["oak", "Ash", "birch"]),
        ("size", ["Ash", "birch", "oak"]),
        ("messages", ["birch", "oak", "Ash"]),
        ("name", ["Ash", "birch", "oak"]),
    ] {
        let names = |words: &[&str]| {
            let list = scratch.ok(&[&["list", "--names-only", "--sort", sort], words].concat());
            list.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), wanted, "{sort}");
        let reversed: Vec<&str> = wanted.into_iter().rev().collect();
        assert_eq!(names(&["--reverse"]), reversed, "{sort}");
        assert_eq!(names(&["--reverse", "--limit", "1"]), reversed[..1], "{sort}");
    }
}

#[test]
fn every_part_of_a_session_has_a_path() {
    let scratch = garden(&[("oak", 1, 1)]);
    let dir = scratch.store().join("oak").display().to_string();
    for (part, below) in [
        ("history", "/history.jsonl"),
        ("meta", "/meta.json"),
        ("checkpoints", "/checkpoints"),
        ("proc", "/proc"),
        ("inbox", "/inbox"),
        ("tmp", "/tmp"),
        ("dir", ""),
    ] {
        assert_eq!(scratch.ok(&["path", "oak", part]), format!("{dir}{below}\n"));
    }
}

#[test]
fn what_cannot_be_meant_is_a_usage_error_that_says_what_can() {
    let scratch = garden(&[("oak", 1, 1), ("ash", 1, 1)]);
    let place = scratch.home().join("copies").display().to_string();
    for (words, told) in [
        (&["meta", "oak", "height"][..], "the fields are name, created"),
        (&["meta", "oak", "height=3"], "these can: workspace, model"),
        (&["push", "oak", "ash", "--as", "copy", "--remote", &place], "--as names one copy"),
        (&["pull", "oak", "ash", "--as", "copy", "--remote", &place], "--as names one session"),
        (&["push", "--remote", &place], "--all takes all of them"),
        (&["run", "oak", "--env", "DEPTH", "--", "true"], "NAME=VALUE"),
        (&["checkpoint", "restore", "oak", "disk"], "no checkpoint"),
    ] {
        let ran = scratch.run(words);
        assert!(ran.code == 2 && ran.stderr.contains(told), "{words:?}: {ran:?}");
    }
}

#[test]
fn what_is_not_a_beginning_waits_for_the_first_message() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oak"]);
    let ran = scratch.run(&["usage", "oak", "--input", "3"]);
    assert!(ran.code == 5 && ran.stderr.contains("nothing was appended"), "{ran:?}");
    assert!(!scratch.store().join("oak/history.jsonl").exists());
}

#[test]
fn a_result_that_no_call_asked_for_is_left_out_of_the_api_view_and_told() {
    let scratch = garden(&[("oak", 1, 1)]);
    scratch.ok_with(&["append", "oak"], "{\"role\":\"tool\",\"tool_call_id\":\"c9\",\"content\":\"dug\"}\n");
    let ran = scratch.run(&["load", "oak", "--api"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{ran:?}");
    assert!(ran.stderr.contains("message 1: a result for \"c9\", which no open call has, was left out"), "{ran:?}");
}

#[test]
fn a_rewind_that_is_taken_back_tells_what_came_since_before_it_asks() {
    let scratch = garden(&[("oak", 2, 1)]);
    scratch.ok(&["rewind", "oak", "--to", "1", "--chat", "-y"]);
    scratch.ok_with(&["append", "oak"], "{\"role\":\"user\",\"content\":\"b\"}\n");
    let ran = scratch.run(&["rewind", "oak", "--undo", "-n"]);
    assert!(ran.code == 0 && ran.stdout.contains("drop 1 message that came since"), "{ran:?}");
    assert!(ran.stdout.contains("bring back message 2, user: a"), "{ran:?}");
    let planned = json(&scratch.ok(&["rewind", "oak", "--undo", "-n", "--json"]));
    assert_eq!((&planned["plan"]["since"], &planned["done"]), (&1.into(), &serde_json::Value::Null));
    let ran = scratch.run(&["rewind", "oak", "--undo", "-y"]);
    assert!(ran.code == 6 && ran.stderr.contains("1 message came since"), "{ran:?}");
    scratch.ok(&["rewind", "oak", "--undo", "-y", "--force"]);
    assert_eq!(scratch.ok(&["load", "oak"]).lines().count(), 2);
}

#[test]
fn a_session_without_a_prompt_has_no_turn_to_go_back_to() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oak"]);
    fs::write(
        scratch.store().join("oak/history.jsonl"),
        "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"notice\",\"text\":\"rain\"}\n",
    )
    .expect("scratch");
    let ran = scratch.run(&["rewind", "oak"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stderr.contains("nobody has asked for anything yet"), "{ran:?}");
}
