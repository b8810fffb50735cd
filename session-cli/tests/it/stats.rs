//! `session stats`.

use crate::support::{Scratch, json};
use std::fs;

const WORK: &str = r#"{"ts":"2026-01-02T10:00:00Z","kind":"message","message":{"role":"user","content":"dig"}}
{"ts":"2026-01-02T10:00:05Z","kind":"message","message":{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"Dig"}}]}}
{"ts":"2026-01-02T10:00:09Z","kind":"tool_result","message":{"role":"tool","tool_call_id":"c1","name":"Dig","content":"dug"}}
"#;

fn worked() -> Scratch {
    let scratch = Scratch::new();
    for session in ["oaks", "elms"] {
        scratch.ok(&["new", session, "--workspace", "/garden"]);
        scratch.ok_with(&["append", session], WORK);
    }
    scratch
}

#[test]
fn m10_unknown_is_told_apart_from_nothing_and_what_was_discarded_is_told() {
    let scratch = worked();
    let total = |scratch: &Scratch| json(&scratch.ok(&["stats", "--json"]))["total"].clone();
    let unknown = total(&scratch);
    assert_eq!(unknown["cost_usd"], serde_json::json!({"known": null, "unknown": 0}));
    scratch.ok(&["usage", "oaks", "--response", "r1", "--cost", "0.5"]);
    scratch.ok(&["usage", "oaks", "--response", "r2", "--output", "7"]);
    // Another session tells of the first one, too, and is read before this one.
    scratch.ok(&["usage", "elms", "--response", "r1", "--cost", "0.5"]);
    scratch.ok(&["rollback", "oaks", "1"]);
    let total = total(&scratch);
    assert_eq!((&total["responses"], &total["discarded_responses"]), (&2.into(), &1.into()));
    assert_eq!(total["cost_usd"], serde_json::json!({"known": 0.5, "unknown": 1}));
    assert_eq!(total["discarded_cost_usd"], serde_json::json!({"known": null, "unknown": 1}));
    assert_eq!(total["output_tokens"], serde_json::json!({"known": 7, "unknown": 1}));
}

#[test]
fn rows_are_of_what_is_asked_for() {
    let scratch = worked();
    let keys = |words: &[&str]| {
        let told = scratch.ok(&[&["stats", "--tz", "utc"], words].concat());
        told.lines().map(|line| line.split('\t').take(6).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(keys(&[]), ["elms 1 1 3 1 0", "oaks 1 1 3 1 0"]);
    assert_eq!(keys(&["oaks"]), ["oaks 1 1 3 1 0"]);
    assert_eq!(keys(&["oaks", "oa"]), ["oaks 1 1 3 1 0"], "whoever is named twice counts once");
    assert_eq!(keys(&["--by", "day"]), ["2026-01-02 2 2 6 2 0"]);
    assert_eq!(keys(&["--by", "tool"]), ["Dig 2 0 0 2 0"]);
    assert_eq!(keys(&["--by", "workspace"]), ["/garden 2 2 6 2 0"]);
    assert_eq!(keys(&["--by", "day", "--since", "2026-01-02T10:00:09Z"]), ["2026-01-02 2 0 2 2 0"]);
    assert!(keys(&["--until", "2026-01-01"]).is_empty());
    let disk = scratch.ok(&["stats", "--disk", "oaks"]);
    assert!(
        disk.trim_end().rsplit('\t').next().and_then(|bytes| bytes.parse::<u64>().ok()).is_some_and(|bytes| bytes > 0)
    );
}

#[test]
fn a_session_that_cannot_be_read_is_told_and_hides_no_other() {
    let scratch = worked();
    fs::remove_file(scratch.store().join("oaks/history.jsonl")).expect("it was written");
    fs::create_dir(scratch.store().join("oaks/history.jsonl")).expect("it is ours");
    let ran = scratch.run(&["stats"]);
    assert!(ran.code == 3 && ran.stdout.starts_with("elms\t") && ran.stderr.contains("oaks"), "{ran:?}");
    assert_eq!(scratch.run(&["stats", "nowhere"]).code, 4);
}
