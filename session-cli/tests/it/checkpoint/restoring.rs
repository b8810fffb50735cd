//! Restoring, and taking it back.

use super::{Garden, fingerprint};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A workspace with one of each, captured; then changed, and captured again.
fn two_turns() -> Garden {
    let garden = Garden::new();
    garden.write("a", "one\n");
    garden.write("d/run", "#!/bin/sh\n");
    fs::set_permissions(garden.work().join("d/run"), fs::Permissions::from_mode(0o755)).expect("scratch");
    garden.write("gone", b"\xff\0bytes");
    std::os::unix::fs::symlink("a", garden.work().join("link")).expect("scratch");
    fs::create_dir(garden.work().join("empty")).expect("scratch");
    garden.create();
    garden.write("a", "two\n");
    fs::remove_file(garden.work().join("gone")).expect("scratch");
    fs::remove_file(garden.work().join("link")).expect("scratch");
    garden.write("link", "a file now");
    garden.write("new/x", "new\n");
    fs::remove_dir(garden.work().join("empty")).expect("scratch");
    garden.create();
    garden
}

#[test]
fn c09_restore_and_undo_bring_both_back_byte_for_byte() {
    let garden = Garden::new();
    garden.write("a", "one\n");
    garden.create();
    let one = fingerprint(&garden.work(), false);
    garden.write("a", "two\n");
    garden.write("d/b", b"\xff\0");
    garden.create();
    let two = fingerprint(&garden.work(), false);
    let ran = garden.run(&["restore", "oaks", "1", "-y"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1\t3\t1\t1\t0\t0\n"), "{ran:?}");
    assert_eq!(ran.stderr, "undo: session checkpoint undo oaks\n");
    assert_eq!(fingerprint(&garden.work(), false), one);
    let ran = garden.run(&["undo", "oaks", "-y"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "safety:1\t4\t2\t0\t0\t0\n"), "{ran:?}");
    assert_eq!(fingerprint(&garden.work(), false), two);
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!(fingerprint(&garden.work(), false), one, "an undo can be undone");
}

#[test]
fn every_kind_of_thing_comes_back_and_goes_again() {
    let garden = two_turns();
    let two = fingerprint(&garden.work(), false);
    garden.ok(&["restore", "oaks", "1", "-y"]);
    assert!(garden.work().join("link").is_symlink() && garden.work().join("empty").is_dir() && !garden.exists("new"));
    assert_eq!(fs::read(garden.work().join("gone")).expect("it is back"), b"\xff\0bytes");
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!(fingerprint(&garden.work(), false), two);
}

#[test]
fn h18_the_history_tells_of_a_restore_and_of_its_undoing() {
    let garden = two_turns();
    garden.ok(&["restore", "oaks", "1", "-y"]);
    garden.ok(&["undo", "oaks", "-y"]);
    let events = garden.events();
    let told: Vec<_> = events.iter().filter(|(kind, _)| kind == "notice").map(|(_, event)| &event["text"]).collect();
    assert_eq!(told.len(), 2, "{events:?}");
    let told: Vec<&str> = told.iter().filter_map(|text| text.as_str()).collect();
    assert!(told[0].starts_with("restored 1: ") && told[0].contains("`session checkpoint undo oaks`"), "{told:?}");
    assert!(told[1].starts_with("took the restore back: "), "{told:?}");
    let marks: Vec<_> = events.iter().filter(|(_, event)| event["x"]["action"] == "restored").collect();
    assert_eq!(marks.iter().map(|(_, event)| event["x"]["turn"].as_u64()).collect::<Vec<_>>(), [Some(3), Some(4)]);
}

#[test]
fn without_a_terminal_it_asks_nobody_and_shows_the_plan() {
    let garden = two_turns();
    let before = fingerprint(&garden.work(), true);
    let ran = garden.run(&["restore", "oaks", "1"]);
    assert!(ran.code == 6 && ran.stderr.contains("write gone") && ran.stderr.contains("delete new/x"), "{ran:?}");
    let plan = "write a\nwrite gone\nwrite link\ndelete new/x\nmake directory empty\n";
    assert_eq!(garden.ok(&["restore", "oaks", "1", "-n"]), plan);
    let document = garden.json(&["restore", "oaks", "1", "-n"]);
    assert_eq!(
        (&document["schema"], &document["restored"]),
        (&"session/checkpoint-restore.v1".into(), &serde_json::Value::Null)
    );
    assert_eq!(
        (&document["plan"]["target"], document["plan"]["writes"].as_array().map(Vec::len)),
        (&"1".into(), Some(3))
    );
    assert_eq!(fingerprint(&garden.work(), true), before);
    let document = garden.json(&["restore", "oaks", "1", "-y"]);
    assert_eq!((&document["restored"]["restored"], &document["restored"]["deleted"]), (&3.into(), &1.into()));
    assert_eq!(document["undo"], "session checkpoint undo oaks");
}

#[test]
fn c08_what_was_edited_by_hand_stops_it_unless_a_policy_says_otherwise() {
    let garden = two_turns();
    garden.write("a", "by hand\n");
    let ran = garden.run(&["restore", "oaks", "1", "-y"]);
    assert!(
        ran.code == 6 && ran.stderr.contains("conflict a: edited since") && ran.stderr.contains("--force"),
        "{ran:?}"
    );
    assert!(garden.exists("new/x"), "nothing was changed");
    let ran = garden.run(&["restore", "oaks", "1", "-y", "--keep-mine"]);
    assert!(ran.code == 3 && ran.stderr.contains("conflict a"), "{ran:?}");
    assert_eq!((garden.read("a"), garden.exists("new/x")), ("by hand\n".to_owned(), false));
    garden.ok(&["undo", "oaks", "-y"]);
    garden.ok(&["restore", "oaks", "1", "-y", "--force"]);
    assert_eq!(garden.read("a"), "one\n");
    garden.ok(&["undo", "oaks", "-y"]);
    assert_eq!(garden.read("a"), "by hand\n", "undo has what no turn had");
}

#[test]
fn only_the_paths_that_are_named_are_restored_also_from_inside_the_workspace() {
    let garden = two_turns();
    garden.ok(&["restore", "oaks", "1", "-y", "--", "gone", "./new/../new"]);
    assert_eq!((garden.read("a"), garden.exists("gone"), garden.exists("new")), ("two\n".to_owned(), true, false));
    garden.write("d/y", "1");
    garden.create();
    garden.write("d/y", "2");
    garden.create();
    let mut command = garden.scratch.command(crate::support::SESSION);
    command.args(["checkpoint", "restore", "oaks", "4", "-y", "--", "y"]).current_dir(garden.work().join("d"));
    assert!(command.output().expect("the program was built").status.success());
    assert_eq!(garden.read("d/y"), "1");
}

#[test]
fn nothing_to_do_is_exit_status_1() {
    let garden = Garden::new();
    assert_eq!([garden.run(&["undo", "oaks", "-y"]).code, garden.run(&["restore", "oaks", "1", "-y"]).code], [1, 1]);
    garden.write("a", "1");
    garden.create();
    let codes = [
        garden.run(&["undo", "oaks", "-y"]).code,
        garden.run(&["undo", "oaks", "-n"]).code,
        garden.run(&["restore", "oaks", "7", "-y"]).code,
        garden.run(&["restore", "oaks", "1", "-y"]).code,
        garden.run(&["restore", "oaks", "1", "-n"]).code,
        garden.run(&["restore", "oaks", "--resume", "-y"]).code,
    ];
    assert_eq!(codes, [1; 6]);
    assert_eq!([garden.run(&["restore", "oaks"]).code, garden.run(&["restore", "oaks", "disk"]).code], [2, 2]);
    assert_eq!(garden.ok(&["list", "oaks"]).lines().count(), 1, "nothing was taken for it");
}

#[test]
fn ck29_an_external_file_that_is_tracked_comes_back() {
    let garden = Garden::new();
    let outside = garden.work().with_file_name("outside.conf");
    fs::write(&outside, "one").expect("scratch");
    garden.ok(&["create", "oaks", "--track", outside.to_str().expect("text")]);
    fs::write(&outside, "two").expect("scratch");
    garden.create();
    let shown = garden.ok(&["show", "oaks", "2"]);
    assert_eq!(shown, format!("M\t{}\t\n", outside.canonicalize().expect("it is there").display()));
    garden.ok(&["restore", "oaks", "1", "-y", "--", outside.to_str().expect("text")]);
    assert_eq!(fs::read_to_string(&outside).expect("it is there"), "one");
    assert!(garden.json(&["list", "oaks"])["externals"][0].as_str().is_some_and(|path| path.ends_with("outside.conf")));
}
