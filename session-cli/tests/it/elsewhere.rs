//! A store that `--dir` names: whatever is started for a session of it works in it too, wherever it goes.

use crate::support::{SESSION, Scratch, eventually, running, tree};
use std::path::Path;
use std::process::Command;

/// A session of the same name in the usual store and in another one, which is named by a path from here.
const OTHER: &str = "../other";

fn two_stores() -> Scratch {
    let scratch = Scratch::new();
    for place in [&[][..], &["--dir", OTHER]] {
        scratch.ok(&[place, &["new", "oaks"]].concat());
        scratch.ok_with(&[place, &["append", "oaks"]].concat(), "{\"role\":\"user\",\"content\":\"plant\"}\n");
    }
    scratch
}

#[test]
fn a_command_that_is_started_for_a_session_finds_it_in_the_store_of_that_session() {
    let scratch = two_stores();
    let usual = tree(&scratch.store());
    for (number, words) in
        [&["turn", "oaks"][..], &["lock", "oaks"], &["run", "oaks", "--until", "^told$"]].iter().enumerate()
    {
        let script = format!("cd / && session notice oaks from-{} && echo told", words[0]);
        let ran = scratch.run(&[&["--dir", OTHER], *words, &["--", "sh", "-c", &script]].concat());
        assert!(ran.code == 0, "{words:?}: {ran:?}");
        let told = scratch.ok(&["--dir", OTHER, "events", "oaks"]);
        assert_eq!(told.matches("\"text\":\"from-").count(), number + 1, "{words:?}: {told}");
    }
    eventually("nothing is left", || running(&scratch).is_empty());
    assert_eq!(tree(&scratch.store()), usual);
}

#[test]
fn a_store_that_a_command_is_told_of_by_hand_is_the_one_that_it_gets() {
    let scratch = two_stores();
    let script = "echo \"in $KVIT_CODER_SESSIONS_DIR\"";
    scratch.ok(&["run", "oaks", "--env", "KVIT_CODER_SESSIONS_DIR=/elsewhere", "--until", "^in", "--", script]);
    assert_eq!(scratch.ok(&["logs", "oaks", "bg1"]), "in /elsewhere\n");
}

#[test]
fn paths_that_are_handed_on_lead_there_from_everywhere() {
    let scratch = two_stores();
    scratch.ok(&["--dir", OTHER, "turn", "oaks", "--", "sh", "-c", "cd / && ls -d \"$KVIT_SESSION_DIR\" > /dev/null"]);
    let spilled = scratch.ok_with(&["--dir", OTHER, "spill", "oaks"], "much\n");
    let path = Path::new(spilled.lines().next().expect("the path comes first"));
    assert!(path.is_absolute() && path.is_file(), "{spilled}");
    // A relative path in the variable is no other thing than one behind the flag.
    let mut command: Command = scratch.command(SESSION);
    let ran = command.env("KVIT_CODER_SESSIONS_DIR", OTHER).args(["path", "oaks"]).output().expect("it was built");
    assert!(ran.stdout.starts_with(b"/"), "{ran:?}");
}
