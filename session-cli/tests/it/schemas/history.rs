//! The lines of histories and the metadata that the crates' tests have recorded.

use super::{Strictness, errors};
use crate::support::Scratch;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a directory whose names end so, and their bytes.
fn recorded(dir: &Path, ending: &str) -> Vec<(String, Vec<u8>)> {
    let entries =
        fs::read_dir(dir).expect("the data is in the repository").map(|entry| entry.expect("readable").path());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .map(|path| {
            (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), fs::read(&path).expect("ours"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}", dir.display());
    files
}

/// What is wrong with a line. `None`: it is blank, and says nothing.
fn judged(line: &[u8]) -> Option<Vec<String>> {
    let line = String::from_utf8_lossy(line);
    let text = line.trim();
    if text.is_empty() {
        return None;
    }
    Some(match serde_json::from_str::<Value>(text) {
        Ok(value) => errors("history.line.json", Strictness::Open, &value),
        Err(error) => vec![error.to_string()],
    })
}

#[test]
fn every_line_of_the_recorded_histories_is_one() {
    let data = root().join("session-core/tests/data/golden/events");
    let mut lines = 0;
    for (name, bytes) in recorded(&data, ".history.jsonl") {
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if NO_JSON_FOR_OTHERS.contains(&name.as_str()) {
                continue;
            }
            let Some(errors) = judged(line) else { continue };
            lines += 1;
            assert!(errors.is_empty(), "{name}:{}: {errors:#?}\n{}", number + 1, String::from_utf8_lossy(line));
        }
    }
    assert!(lines > 100, "{lines}");
}

/// Histories that are read here and that a strict reader of JSON refuses: half a surrogate pair, a number without end,
/// more nesting than it takes.
const NO_JSON_FOR_OTHERS: [&str; 3] =
    ["lone_surrogates.history.jsonl", "big_numbers.history.jsonl", "deep_unknown.history.jsonl"];

/// Histories with a number that is no integer here, as the reference has it, and one for a schema: `1.0`, `1e0`.
const INTEGERS_FOR_OTHERS: [&str; 3] =
    ["type_dropped_exp.history.jsonl", "type_dropped_float.history.jsonl", "type_ms_exp.history.jsonl"];

#[test]
fn a_recorded_history_that_is_damaged_has_a_line_that_is_none() {
    let data = root().join("session-core/tests/data/golden/errors");
    for (name, bytes) in recorded(&data, ".history.jsonl") {
        let judged = bytes.split(|byte| *byte == b'\n').filter_map(judged);
        let bad = judged.filter(|errors| !errors.is_empty()).count();
        assert_eq!(bad == 0, INTEGERS_FOR_OTHERS.contains(&name.as_str()), "{name}: {bad} lines");
    }
}

#[test]
fn the_recorded_metadata_is_metadata() {
    let path = root().join("session-core/tests/data/golden/meta.jsonl");
    let rows = fs::read_to_string(path).expect("the data is in the repository");
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).expect("the corpus is JSON");
        let meta = serde_json::from_str(row["bytes"].as_str().expect("it is text")).expect("it is JSON");
        assert_eq!(errors("meta.json", Strictness::Open, &meta), Vec::<String>::new(), "{meta}");
    }
    let broken = serde_json::json!({"name": "oaks", "cost": "1"});
    assert!(!errors("meta.json", Strictness::Open, &broken).is_empty());
}

#[test]
fn what_this_project_writes_is_what_it_publishes() {
    let scratch = Scratch::new();
    let script = "set -e; session new oaks --title Oaks --model m1; session turn oaks -- sh -c '
        echo \"{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"plant\\\"}\" | session append oaks
        session usage oaks --model m1 --response r1 --input 9 --cached 1 --output 2 --reasoning 1 --cost 0.5'
        session settings oaks --model m2 --tool Read --merge-thinking true; session pin oaks
        session checkpoint create oaks; session checkpoint create oaks; session checkpoint restore oaks 1 -y || true
        session rewind oaks --to 1 --chat -y; session rewind oaks --undo -y; session fork oaks elms
        echo summary | session compact oaks birches --summary -; session relocate . / -y";
    let ran = scratch.command("bash").args(["-c", script]).output().expect("there is bash");
    assert!(ran.status.success(), "{ran:?}");
    let mut kinds = std::collections::BTreeSet::new();
    for name in ["oaks", "elms", "birches"] {
        let dir = scratch.store().join(name);
        for line in fs::read(dir.join("history.jsonl")).expect("it is there").split(|byte| *byte == b'\n') {
            let Some(errors) = judged(line) else { continue };
            assert!(errors.is_empty(), "{errors:#?}\n{}", String::from_utf8_lossy(line));
            let event: Value = serde_json::from_slice(line).expect("it was just read");
            kinds.insert(event["kind"].as_str().expect("ours have one").to_owned());
        }
        for file in ["meta.json", ".meta.json"] {
            let meta = serde_json::from_slice(&fs::read(dir.join(file)).expect("it is there")).expect("it is JSON");
            assert_eq!(errors("meta.json", Strictness::Open, &meta), Vec::<String>::new(), "{name}/{file}: {meta:#}");
        }
    }
    let wanted = [
        "message",
        "rollback",
        "settings",
        "x.checkpoint",
        "x.note",
        "x.session",
        "x.successor",
        "x.title",
        "x.turn",
        "x.usage",
    ];
    let wanted = wanted.map(str::to_owned).into();
    assert!(kinds.is_superset(&wanted), "{:?}", wanted.difference(&kinds).collect::<Vec<_>>());
}
