//! The script in `docs/examples`: a whole turn by the command line alone, also when it is killed in the middle.

use crate::support::Scratch;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

fn script(scratch: &Scratch) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/agent.sh");
    let mut command = scratch.command(script);
    command.args(["oaks", "garden", "plant an oak"]);
    command
}

#[test]
fn an_agent_in_the_shell_loses_nothing_when_it_is_killed_and_goes_on() {
    if Command::new("jq").arg("--version").output().is_err() {
        writeln!(std::io::stderr(), "skipped: the script needs jq, and it is not on the PATH")
            .expect("there is a standard error");
        return;
    }
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.work().join("garden")).expect("it is new");
    let killed = script(&scratch).env("CRASH", "1").output().expect("there is a shell");
    assert!(!killed.status.success(), "{killed:?}");
    assert_eq!(scratch.ok(&["load", "oaks"]).lines().count(), 3, "the prompt, a call and its result");

    scratch.ok(&["steer", "-s", "oaks", "--queue", "and a birch"]);
    let ran = script(&scratch).output().expect("there is a shell");
    assert!(ran.status.success(), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("the turn before this one crashed"), "{ran:?}");
    let report: Value = serde_json::from_slice(&ran.stdout).expect("the report");
    assert_eq!(report["report"]["headline"], "An oak stands.");
    let load = scratch.ok(&["load", "oaks"]);
    assert_eq!(load.matches("\"content\":\"and a birch\"").count(), 1, "{load}");
    assert_eq!(load.lines().last(), Some(r#"{"role":"assistant","content":"An oak stands, and it has water."}"#));
    // What ran in the background ended with the turn, and the checkpoints show what it did.
    assert!(!scratch.ok(&["ps", "oaks"]).contains("running"));
    assert!(scratch.ok(&["checkpoint", "diff", "oaks", "1"]).contains("oak.txt"));
    // Each call has an id of its own and one result.
    assert_eq!(scratch.ok(&["doctor"]), "", "nothing is found");
}
