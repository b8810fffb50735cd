//! The example: a whole turn of an agent, also when it dies in the middle.

use session_core::Role;
use session_store::{SessionName, Store};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Cargo builds examples beside the directory of the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().expect("a test knows its executable");
    let dir = tests.parent().and_then(Path::parent).expect("it is in target/*/deps");
    dir.join("examples/agent_loop")
}

fn agent(root: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program());
    command.args(words).arg(root.join("store")).arg(root.join("garden")).arg("plant an oak");
    command.output().expect("cargo builds the examples with the tests")
}

#[test]
fn the_agent_of_the_example_goes_on_where_it_died() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::create_dir(scratch.path().join("garden")).expect("it is new");
    assert!(!agent(scratch.path(), &["--crash"]).status.success());
    let store = Store::open_at(scratch.path().join("store"));
    let name = SessionName::new("agent-loop").expect("it is a name");
    assert_eq!(store.load(&name).expect("it can be read").messages.len(), 3, "the prompt, a call and its result");

    let ran = agent(scratch.path(), &[]);
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{ran:?}");
    assert!(told.contains("the turn before this one crashed") && told.contains("An oak stands"), "{told}");
    assert!(told.contains("1 background process"), "{told}");
    let messages = store.load(&name).expect("it can be read").messages;
    assert_eq!(messages.len(), 3 + 8);
    let results = messages.iter().filter(|message| message.role == Role::Tool);
    assert!(results.clone().any(|message| message.content.text().contains("tmp/Plant-")), "a large output is spilled");
    let checkup = store.examine(&session_store::Checkup::default()).expect("it can be read");
    assert_eq!(checkup.findings, [], "each call has an id of its own and one result");

    let ran = agent(scratch.path(), &[]);
    assert!(ran.status.success(), "{ran:?}");
    assert!(!String::from_utf8_lossy(&ran.stdout).contains("crashed"), "after a turn that ended nothing is repaired");
}
