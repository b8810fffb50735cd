//! What no verb does, whatever it is told: reach out of the store, follow a link, steer the terminal, widen a mode.

use crate::support::{Scratch, tree};
use crate::verbs::{OAKS, oaks};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn s03_hostile_names_are_refused_by_every_verb_and_change_nothing_above_the_store() {
    let scratch = oaks();
    let outside = scratch.store().parent().expect("the store is in the scratch").join("outside");
    fs::create_dir(&outside).expect("it is new");
    fs::write(outside.join("history.jsonl"), OAKS).expect("it is ours");
    std::os::unix::fs::symlink(&outside, scratch.store().join("linked")).expect("the name is free");
    fs::write(scratch.store().join("oaks/meta.json"), r#"{"name":"oaks","succeeded_by":"../outside"}"#).expect("ours");
    let before = tree(&outside);
    let long = "x".repeat(300);
    let names = ["../outside", "a/b", "..", "", long.as_str(), "a\nb", "/etc", "linked", "a\\b"];
    let verbs: [&[&str]; 22] = [
        &["show"],
        &["tail"],
        &["rm", "-y"],
        &["doctor"],
        &["append"],
        &["append", "--create"],
        &["load"],
        &["events"],
        &["rollback", "1"],
        &["notice", "x"],
        &["settings", "--model", "m"],
        &["usage", "--cost", "1"],
        &["meta"],
        &["meta", "title=x"],
        &["spill"],
        &["inbox"],
        &["report"],
        &["last-model"],
        &["run-id"],
        &["path"],
        &["new"],
        &["rm", "--purge", "-y"],
    ];
    for name in names {
        for verb in verbs {
            let is_removal = verb[0] == "rm";
            if name == "linked" && (is_removal || verb[0] == "run-id" || verb[0] == "new" || verb[0] == "doctor") {
                // Removing a link removes the link itself, which the test of deletion shows.
                continue;
            }
            let mut words = vec![verb[0], "--", name];
            words.splice(1..1, verb[1..].iter().copied().filter(|word| word.starts_with('-')));
            words.extend(verb[1..].iter().copied().filter(|word| !word.starts_with('-')));
            if verb[0] == "settings" || verb[0] == "usage" {
                words = [verb, &["--", name]].concat();
            }
            if verb[0] == "inbox" {
                words.push("list");
            }
            let ran = scratch.run_with(&words, "{\"role\":\"user\",\"content\":\"hi\"}\n");
            assert!([2, 4, 5, 6].contains(&ran.code), "{words:?}: {ran:?}");
            assert_eq!(tree(&outside), before, "{words:?}");
        }
    }
    let dash = scratch.run(&["load", "--", "-rf"]);
    assert_eq!(dash.code, 2, "{dash:?}");
    for entry in fs::read_dir(scratch.store().parent().expect("the store is in the scratch")).expect("it can be read") {
        let name = entry.expect("it can be read").file_name();
        assert!(["home", "work", "store", "outside"].iter().any(|known| name == *known), "{name:?}");
    }
    // The link out of the store is not followed: the session itself is opened.
    assert_eq!(scratch.run(&["load", "oaks"]).code, 0);
}

#[test]
fn what_is_shown_cannot_steer_the_terminal() {
    let scratch = oaks();
    scratch.ok_with(&["append", "oaks"], "{\"role\":\"user\",\"content\":\"\\u001b]0;owned\\u0007 \\u202eevil\"}\n");
    let shown = scratch.ok(&["show", "oaks"]);
    assert!(shown.contains("\\x1b]0;owned\\x07 \\u{202e}evil"), "{shown}");
    assert!(!scratch.ok(&["tail", "oaks"]).contains('\u{1b}'));
}

#[test]
fn a_link_is_removed_and_what_it_points_to_stays() {
    let scratch = oaks();
    let outside = scratch.work().join("victim");
    fs::create_dir(&outside).expect("it is new");
    fs::write(outside.join("history.jsonl"), OAKS).expect("it is ours");
    std::os::unix::fs::symlink(&outside, scratch.store().join("linked")).expect("the name is free");
    let before = tree(&outside);
    let ran = scratch.run(&["rm", "linked", "--purge", "-y"]);
    assert_eq!(tree(&outside), before, "{ran:?}");
    assert!(!scratch.store().join("linked").is_symlink(), "{ran:?}");
}

#[test]
fn reading_verbs_create_nothing_not_even_the_store() {
    let scratch = Scratch::new();
    for words in [&["list"][..], &["active"], &["doctor"], &["trash", "list"], &["load", "oaks"], &["path", "@"]] {
        let ran = scratch.run(words);
        assert!([0, 4].contains(&ran.code), "{words:?}: {ran:?}");
        assert!(!scratch.store().exists(), "{words:?}");
    }
}

#[test]
fn s04_everything_is_private_whatever_the_umask_is() {
    let scratch = Scratch::new();
    let script = "umask 000; \"$SESSION\" new oaks && echo '{\"role\":\"user\",\"content\":\"x\"}' | \"$SESSION\" append oaks && \
                  seq 9999 | \"$SESSION\" spill oaks && \"$SESSION\" turn oaks -- true && \"$SESSION\" meta oaks model=m && \
                  \"$SESSION\" new gone && \"$SESSION\" rm gone -y";
    let ran = scratch.command("sh").args(["-c", script]).output().expect("there is a shell");
    assert!(ran.status.success(), "{ran:?}");
    let mut dirs = vec![scratch.store()];
    while let Some(dir) = dirs.pop() {
        assert_eq!(fs::metadata(&dir).expect("it is there").permissions().mode() & 0o777, 0o700, "{}", dir.display());
        for entry in fs::read_dir(&dir).expect("it is ours") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let mode = fs::metadata(&path).expect("it is there").permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", path.display());
            }
        }
    }
}
