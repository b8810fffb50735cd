//! Going back, forking, compacting, names: the verbs as scripts use them.

use crate::support::{Scratch, json, tree};
use serde_json::Value;
use std::fs;

/// A session of two turns with checkpoints, in its work directory.
fn oaks() -> Scratch {
    let scratch = Scratch::new();
    let agent = concat!(
        "echo \"{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"$1\\\"}\" | $SESSION append oaks > /dev/null\n",
        "echo \"$1\" > garden\n",
        "echo '{\"role\":\"assistant\",\"content\":\"done\"}' | $SESSION append oaks > /dev/null\n",
    );
    fs::write(scratch.home().join("agent"), agent).expect("scratch");
    scratch.ok(&["new", "oaks", "--title", "Oaks"]);
    let agent = scratch.home().join("agent").display().to_string();
    for asked in ["one", "two"] {
        scratch.ok(&["turn", "oaks", "--checkpoint", "--", "sh", &agent, asked]);
    }
    scratch
}

fn garden(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.work().join("garden")).expect("it is there")
}

fn document(scratch: &Scratch, words: &[&str]) -> Value {
    json(&scratch.run(&[&["--json"], words].concat()).stdout)
}

#[test]
fn the_turns_are_listed_with_their_events_and_checkpoints_and_nothing_is_written() {
    let scratch = oaks();
    let before = tree(&scratch.store());
    let turns = document(&scratch, &["rewind", "oaks"]);
    assert_eq!((&turns["schema"], &turns["turns"][1]["prompt"]), (&"session/rewind-turns.v1".into(), &"two".into()));
    let ends = |turn: usize| (turns["turns"][turn]["before"].clone(), turns["turns"][turn]["after"].clone());
    assert_eq!((ends(0), ends(1)), ((1.into(), 2.into()), (3.into(), 4.into())));
    let plan = document(&scratch, &["rewind", "oaks", "--to", "turn:1", "-n"]);
    assert_eq!(plan["plan"]["messages"].as_array().map(Vec::len), Some(2));
    assert_eq!((&plan["plan"]["files"]["writes"][0], &plan["done"]), (&"garden".into(), &Value::Null));
    assert_eq!(tree(&scratch.store()), before);
}

#[test]
fn a_rewind_needs_consent_and_both_ways_are_told_to_machines() {
    let scratch = oaks();
    let before = tree(&scratch.store());
    assert_eq!(scratch.run(&["rewind", "oaks", "--to", "turn:1"]).code, 6);
    assert_eq!((garden(&scratch).as_str(), tree(&scratch.store()) == before), ("two\n", true));
    let done = document(&scratch, &["rewind", "oaks", "--to", "turn:1", "-y"]);
    assert_eq!((&done["done"]["messages"], &done["done"]["written"]), (&2.into(), &1.into()));
    assert_eq!(done["undo"], "session rewind oaks --undo");
    assert_eq!(garden(&scratch), "one\n");
    let undone = document(&scratch, &["rewind", "oaks", "--undo", "-y"]);
    assert_eq!((&undone["to"], &undone["done"]["messages"]), (&"undo".into(), &2.into()));
    assert_eq!(garden(&scratch), "two\n");
    assert_eq!(scratch.run(&["rewind", "oaks", "--undo", "-y"]).code, 1);
    assert_eq!(scratch.run(&["rewind", "oaks", "--to", "turn:7"]).code, 1);
    assert_eq!(scratch.run(&["rewind", "oaks", "--to", "seven"]).code, 2);
}

#[test]
fn c29_a_process_that_runs_refuses_a_rewind_and_a_renaming_and_is_named() {
    let scratch = oaks();
    scratch.ok(&["run", "oaks", "--persistent", "--", "sleep", "600"]);
    let ran = scratch.run(&["rewind", "oaks", "--to", "turn:1", "-y"]);
    assert!(ran.code == 5 && ran.stderr.contains("bg1"), "{ran:?}");
    assert_eq!(garden(&scratch), "two\n");
    let ran = scratch.run(&["rename", "oaks", "birches"]);
    assert!(ran.code == 5 && ran.stderr.contains("bg1"), "{ran:?}");
    assert!(scratch.store().join("oaks").exists());
    scratch.ok(&["rewind", "oaks", "--to", "turn:1", "-y", "--force"]);
    assert_eq!(garden(&scratch), "one\n");
    scratch.ok(&["kill", "oaks", "--all", "-y"]);
    assert_eq!(scratch.ok(&["rename", "oaks", "birches"]), "birches\n");
}

#[test]
fn c29_a_turn_of_somebody_else_refuses_a_rewind_and_its_own_does_not() {
    let scratch = oaks();
    let inside = "$SESSION rewind oaks --to turn:1 --chat -y > /dev/null";
    scratch.ok(&["turn", "oaks", "--", "sh", "-c", inside]);
    assert_eq!(scratch.ok(&["load", "oaks"]).lines().count(), 2);
    let mut lock = scratch.command(crate::support::SESSION);
    lock.args(["lock", "oaks", "--", "sh", "-c", "echo; exec sleep 600"]).stdout(std::process::Stdio::piped());
    let mut held = lock.spawn().expect("the program was built");
    let mut ready = [0];
    std::io::Read::read_exact(held.stdout.as_mut().expect("it is piped"), &mut ready).expect("it says that it runs");
    assert_eq!(scratch.run(&["rewind", "oaks", "--to", "0", "-y"]).code, 5);
    held.kill().and_then(|()| held.wait()).expect("it runs");
}

#[test]
fn h17_a_fork_over_damage_is_refused_or_told() {
    let scratch = oaks();
    let history = scratch.store().join("oaks/history.jsonl");
    let mut bytes = fs::read(&history).expect("scratch");
    bytes.extend_from_slice(b"{\"ts\":\n");
    bytes.extend_from_slice(b"{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"three\"}}\n");
    fs::write(&history, bytes).expect("scratch");
    assert_eq!(scratch.run(&["fork", "oaks", "birches"]).code, 6);
    assert!(!scratch.store().join("birches").exists());
    let ran = scratch.run(&["fork", "oaks", "birches", "--force", "--json"]);
    let forked = json(&ran.stdout);
    assert_eq!((ran.code, &forked["complete"], &forked["messages"]), (3, &false.into(), &5.into()));
    // Going back over the damage is refused by name, and before it nothing is in doubt.
    let ran = scratch.run(&["rewind", "oaks", "--to", "turn:2", "--chat", "-y"]);
    assert!(ran.code == 6 && ran.stderr.contains("damage: line"), "{ran:?}");
    assert_eq!(scratch.run(&["rewind", "oaks", "--to", "turn:3", "--chat", "-y"]).code, 1);
}

#[test]
fn a_successor_shows_the_processes_of_the_session_that_it_goes_on_with() {
    let scratch = oaks();
    scratch.ok(&["run", "oaks", "--persistent", "--", "sleep", "600"]);
    let compacted = scratch.ok_with(&["compact", "oaks", "oaks-2", "--summary", "-", "--json"], "two oaks stand\n");
    assert_eq!((&json(&compacted)["session"], &json(&compacted)["checkpoints"]), (&"oaks-2".into(), &4.into()));
    let rows = scratch.ok(&["ps", "oaks-2"]);
    assert!(rows.starts_with("oaks\tbg1\t"), "{rows}");
    assert_eq!(scratch.run_with(&["compact", "oaks-2", "oaks-3", "--summary", "-"], " \n").code, 2);
    let lineage = document(&scratch, &["lineage", "oaks-2"]);
    assert_eq!((&lineage["chain"][0]["name"], &lineage["chain"][1]["origin"]), (&"oaks".into(), &"compaction".into()));
    scratch.ok(&["rm", "oaks-2", "-y"]);
    let ran = scratch.run(&["lineage", "oaks"]);
    assert!(ran.code == 3 && ran.stderr.contains("oaks-2"), "{ran:?}");
}

#[test]
fn i33_an_interrupted_rewind_keeps_turns_out_until_the_same_command_ends_it_or_takes_it_back() {
    for ends in [true, false] {
        let scratch = oaks();
        let turns = document(&scratch, &["rewind", "oaks"]);
        // What a process leaves that died before the first file changed.
        let record = serde_json::json!({
            "id": "0123456789abcdef",
            "undoes": false,
            "event": turns["turns"][0]["last"],
            "events": turns["events"],
            "chat": true,
            "dropped": 2,
            "target": { "taken": turns["turns"][0]["after"] },
            "forced": false,
            "restored_before": null,
            "began": "2026-01-02T03:04:05Z",
        });
        let path = scratch.store().join("oaks/.rewind");
        fs::write(&path, record.to_string()).expect("scratch");
        let ran = scratch.run(&["turn", "oaks", "--", "true"]);
        assert!(ran.code == 5 && ran.stderr.contains("was interrupted"), "{ran:?}");
        assert!(scratch.run(&["doctor", "oaks"]).stdout.contains("rewind-interrupted"));
        assert_eq!(scratch.run(&["rewind", "oaks", "--to", "0", "-y"]).code, 5, "that is another one");
        let words: &[&str] = if ends { &["--to", "turn:1"] } else { &["--undo"] };
        scratch.ok(&[&["rewind", "oaks", "-y"], words].concat());
        let after = if ends { ("one\n", 2) } else { ("two\n", 4) };
        assert_eq!((garden(&scratch).as_str(), scratch.ok(&["load", "oaks"]).lines().count()), after);
        assert!(!path.exists());
        scratch.ok(&["turn", "oaks", "--", "true"]);
    }
}
