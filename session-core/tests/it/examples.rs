//! The examples, on a history with something wrong in it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const HISTORY: &str = r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}
{"ts":"2026-01-02T03:04:06Z","kind":"message","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"Dig","arguments":"{}"}}]}}
{"ts":"2026-01-02T03:04:08Z","kind":"tool_result","message":{"role":"tool","content":"Error: a stone","name":"Dig","tool_call_id":"c1"},"tool":"Dig","ms":1500}
no event
{"ts":"2026-01-02T03:04:09Z","kind":"message","message":{"role":"assistant","content":"never mind"}}
{"ts":"2026-01-02T03:04:10Z","kind":"rollback","dropped":1}
"#;

/// Cargo builds examples beside the directory of the tests.
fn run(example: &str) -> Output {
    let tests = std::env::current_exe().expect("a test knows its executable");
    let dir = tests.parent().and_then(Path::parent).expect("it is in target/*/deps");
    let mut command = Command::new(dir.join("examples").join(example));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("cargo builds the examples with the tests");
    child.stdin.take().expect("it is piped").write_all(HISTORY.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn the_examples_show_what_is_live_and_what_was_called() {
    let live = run("live");
    let lines = String::from_utf8(live.stdout).expect("JSON is UTF-8");
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.starts_with("{\"role\":\"user\",\"content\":\"plant three oaks\"}\n"), "{lines}");
    assert!(String::from_utf8_lossy(&live.stderr).contains("line 4"), "what is wrong is told");

    let tools = String::from_utf8(run("tools").stdout).expect("it is text");
    let fields: Vec<&str> = tools.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert_eq!(fields, ["Dig", "1", "1", "1500", "1500"], "{tools}");
}
