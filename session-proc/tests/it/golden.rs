//! The reference's records and answers, as they were recorded.

use serde_json::Value;
use session_proc::{Gone, ProcError, ProcessId, Registry, State, Status};
use std::fs;
use std::path::Path;

/// The cases in which the reference is wrong on purpose: it takes whoever has a pid for the process. The right answer
/// is another one; see below.
const STRANGER: &str = "running_pid1";
/// The reference saves a record that was copied under another name over the record that it was copied from, and then
/// finds both. We show the copy and touch neither.
const COPY: &str = "id_mismatch";

fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/proc").join(name);
    let text = fs::read_to_string(path).expect("it is part of the crate");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The times at which something was recorded stand for themselves.
fn without_now(record: &str, status: &Status) -> String {
    let ended = status.ended.map_or(String::new(), |ended| session_core::format_time(&ended.fixed_offset()));
    if ended.is_empty() { record.to_owned() } else { record.replace(&ended, "<now>") }
}

#[test]
fn a_status_is_what_the_reference_says_but_for_strangers() {
    for row in rows("status.jsonl") {
        let case = row["case"].as_str().expect("a name");
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let put = |name: &str, text: &Value| {
            if let Some(text) = text.as_str() {
                fs::write(scratch.path().join(name), text).expect("it is our directory");
            }
        };
        put("bg1.json", &row["record"]);
        put("bg1.exit", &row["exit_file"]);
        put("bg1.log", &Value::from("line\n"));
        let registry = Registry::open(scratch.path()).expect("an absolute path");
        let id = ProcessId::new(row["id"].as_str().expect("an id")).expect("a good one");
        let status = registry.status(&id);
        let Some(expected) = row["status"].as_object() else {
            match (case, status.expect_err(case)) {
                ("missing", ProcError::NoProcess { .. }) | ("unreadable", ProcError::Unreadable { .. }) => continue,
                (_, error) => panic!("{case}: {error}"),
            }
        };
        let status = status.expect(case);
        assert_eq!(status.recorded_id, expected["id"], "{case}");
        assert_eq!(status.command, expected["command"], "{case}");
        assert_eq!(status.cwd, expected["cwd"], "{case}");
        assert_eq!(
            status.name.as_deref().unwrap_or(""),
            expected.get("name").map_or("", |name| name.as_str().unwrap_or("?"))
        );
        let after = fs::read_to_string(scratch.path().join("bg1.json")).expect("it is there");
        let events =
            || -> Vec<String> { registry.events().expect("readable").into_iter().map(|event| event.text).collect() };
        if case == STRANGER {
            assert_eq!((status.state, status.gone), (State::Gone, Some(Gone::Unrecorded)));
            let text = "Background process bg1 (tests) is no longer running (no exit status recorded).\nIts last output:\nline\n";
            assert_eq!((events(), events()), (vec![text.to_owned()], vec![]));
            continue;
        }
        assert_eq!(status.state.as_str(), expected["state"], "{case}");
        let code = match status.state {
            State::Gone => -1,
            _ => status.exit_code.unwrap_or(0),
        };
        assert_eq!(code, expected["exit_code"], "{case}");
        assert_eq!(
            without_now(&after, &status),
            row["record_after"].as_str().expect("a record").replace("2026-09-03T08:20:00Z", "<now>"),
            "{case}"
        );
        let texts = |value: &Value| -> Vec<String> {
            let texts = value.as_array().map(Vec::as_slice).unwrap_or_default();
            texts.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
        };
        let (mut first, mut second) = (texts(&row["events"]), texts(&row["events_again"]));
        if case == COPY {
            first.truncate(1);
            second.truncate(1);
        }
        assert_eq!((events(), events()), (first, second), "{case}");
        assert!(!scratch.path().join("bg2.json").exists(), "{case}");
    }
}
