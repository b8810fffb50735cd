//! The trash: what a person was shown is what is deleted for good.

use crate::support::{SESSION, Scratch, json};
use crate::terminal::start_on_a_terminal;
use serde_json::json;
use std::fs;

/// Two sessions, of which the first is in the trash; gives its id there.
fn one_in_the_trash() -> (Scratch, String) {
    let scratch = Scratch::without_processes();
    for name in ["oaks", "elms"] {
        scratch.ok(&["new", name]);
    }
    let id = trashed(&scratch, "oaks");
    (scratch, id)
}

fn trashed(scratch: &Scratch, name: &str) -> String {
    scratch.ok(&["rm", name, "-y"]).trim_end().split('\t').nth(1).expect("the id comes second").to_owned()
}

#[test]
fn r02_what_came_to_the_trash_after_the_plan_was_shown_stays_there() {
    let (scratch, id) = one_in_the_trash();
    let mut command = scratch.command(SESSION);
    command.args(["trash", "empty"]);
    let mut asked = start_on_a_terminal(command, "");
    asked.shows("Go on? [y/N]");
    trashed(&scratch, "elms");
    asked.says("y\n");
    let ran = asked.end();
    assert!(ran.code == 0 && ran.stdout.contains(&format!("{id}: to be deleted for good")), "{ran:?}");
    assert_eq!(scratch.ok(&["trash", "restore", "elms"]), "elms\n");
    assert_eq!(scratch.ok(&["trash", "list"]), "");
}

#[test]
fn r02_what_cannot_be_read_in_the_trash_is_named_before_it_is_deleted() {
    let (scratch, oaks) = one_in_the_trash();
    let elms = trashed(&scratch, "elms");
    fs::write(scratch.store().join(".session-store/trash").join(&elms).join("record.json"), "{").expect("it is ours");

    let listed = scratch.run(&["trash", "list"]);
    assert!(listed.code == 3 && listed.stdout.starts_with(&oaks) && listed.stderr.contains(&elms), "{listed:?}");
    assert_eq!(listed.stdout.lines().count(), 1, "{listed:?}");
    let document = json(&scratch.run(&["trash", "list", "--json"]).stdout);
    assert_eq!((&document["complete"], &document["unreadable"]), (&false.into(), &json!([elms])));
    assert_eq!(document["diagnostics"][0]["code"], "unreadable");
    let restored = scratch.run(&["trash", "restore", &elms]);
    assert!(restored.code == 5 && restored.stderr.contains("record.json"), "{restored:?}");

    // How long it has been there is not known.
    let old = scratch.run(&["trash", "empty", "--older-than", "2999-01-01", "-n"]);
    assert!(old.code == 3 && old.stdout.lines().count() == 1 && old.stderr.contains(&elms), "{old:?}");
    let planned = scratch.run(&["trash", "empty", "-n"]);
    let lines: Vec<&str> = planned.stdout.lines().collect();
    assert!(planned.code == 0 && lines.len() == 2 && lines[0].starts_with(&oaks), "{planned:?}");
    assert!(lines[1].starts_with(&elms) && lines[1].contains("cannot be read"), "{planned:?}");
    let done = json(&scratch.ok(&["trash", "empty", "-y", "--json"]));
    assert_eq!((&done["planned"], &done["removed"]), (&json!([oaks, elms]), &2.into()));
    assert_eq!(scratch.ok(&["trash", "list"]), "");
}

#[test]
fn a_session_that_is_on_its_way_to_the_trash_is_neither_listed_nor_emptied() {
    let (scratch, oaks) = one_in_the_trash();
    let begun = scratch.store().join(".session-store/trash/elms-20260102T030405Z-00000000");
    fs::create_dir(&begun).expect("the name is free");
    let record = r#"{"name":"elms","deleted":"2026-01-02T03:04:05Z"}"#;
    fs::write(begun.join("record.json"), record).expect("it is ours");
    assert!(scratch.ok(&["trash", "list"]).starts_with(&oaks));
    assert_eq!(scratch.ok(&["trash", "empty", "-y"]), "1\n");
    assert!(begun.join("record.json").exists());
}
