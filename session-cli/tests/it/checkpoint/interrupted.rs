//! A restore that does not end.

use super::{Garden, fingerprint};
use crate::support::Ran;

/// A restore that fails in the middle: its second file is larger than a file may be.
fn interrupted() -> (Garden, Ran) {
    let garden = Garden::new();
    garden.write("a", "one\n");
    garden.write("z-large", "x".repeat(4 << 20));
    garden.create();
    garden.write("a", "two\n");
    garden.write("z-large", "small now\n");
    garden.create();
    let script = "ulimit -f 2048; exec session checkpoint restore oaks 1 -y";
    let output = garden.scratch.command("sh").args(["-c", script]).output().expect("there is a shell");
    let ran = Ran::of(&output);
    (garden, ran)
}

#[test]
fn c10_a_restore_that_did_not_end_is_told_and_undone() {
    let (garden, ran) = interrupted();
    assert!(ran.code == 2 && ran.stderr.contains("z-large"), "{ran:?}");
    let list = garden.run(&["list", "oaks"]);
    assert!(
        list.code == 0 && list.stderr.contains("the restore of 1 at") && list.stderr.contains("did not end"),
        "{list:?}"
    );
    let document = garden.json(&["list", "oaks"]);
    assert_eq!((&document["interrupted"]["target"], &document["interrupted"]["safety"]), (&"1".into(), &1.into()));
    assert_eq!(document["diagnostics"][0]["code"], "restore-interrupted");
    let another = garden.run(&["restore", "oaks", "2", "-y"]);
    assert!(another.code == 5 && another.stderr.contains("undo"), "{another:?}");
    let plan = garden.ok(&["undo", "oaks", "-n"]);
    assert_eq!(plan, "go back to safety:1: the restore of 1 was interrupted\n");
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!((garden.read("a"), garden.read("z-large")), ("two\n".to_owned(), "small now\n".to_owned()));
    assert_eq!(garden.json(&["list", "oaks"])["interrupted"], serde_json::Value::Null);
}

#[test]
fn c10_a_restore_that_did_not_end_is_resumed() {
    let (garden, _) = interrupted();
    let before = fingerprint(&garden.work(), true);
    assert_eq!(garden.run(&["restore", "oaks", "--resume"]).code, 6, "nobody is here to ask");
    assert_eq!(fingerprint(&garden.work(), true), before);
    garden.ok(&["restore", "oaks", "--resume", "-y"]);
    assert_eq!((garden.read("a"), garden.read("z-large").len()), ("one\n".to_owned(), 4 << 20));
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!((garden.read("a"), garden.read("z-large")), ("two\n".to_owned(), "small now\n".to_owned()));
}
