//! What the program prints as JSON is what `docs/schemas` says.
//!
//! Every test that runs the program, and every page, comes by [`hold`]. That each verb has its file, and each file its
//! verb, is shown where all verbs are run: in `exits`.

mod files;
mod history;
mod published;

pub(crate) use published::{Strictness, errors, file_of, files};

use serde_json::Value;

/// The verbs that print JSON lines, and the files that say what is on them.
pub(crate) const LINES: [(&[&str], &str); 5] = [
    (&["events"], "events.line.json"),
    (&["inbox", "drain"], "inbox-drain.line.json"),
    (&["load"], "load.line.json"),
    (&["logs"], "logs.line.json"),
    (&["tail"], "tail.line.json"),
];

/// Holds what a call of the program printed against the files.
///
/// # Panics
/// If it is not as they say.
pub(crate) fn hold(words: &[&str], stdout: &str) {
    documents(stdout);
    let is_asked = |verb: &[&str]| verb.iter().all(|word| words.contains(word));
    let is_bytes = words.contains(&"--raw") || words.contains(&"--help");
    let is_json = words.contains(&"--json") || !is_asked(&["tail"]) && !is_asked(&["logs"]);
    let first = words.iter().find(|word| !word.starts_with('-'));
    let lines = LINES.iter().find(|(verb, _)| verb.first() == first && is_asked(verb));
    if let Some((_, file)) = lines.filter(|_| is_json && !is_bytes) {
        for line in stdout.lines() {
            let value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{words:?}: {error}: {line}"));
            let errors = errors(file, Strictness::Closed, &value);
            assert!(errors.is_empty(), "{words:?}: {errors:#?}\n{line}");
        }
    }
}

/// Holds the documents in a text against their files, and gives the names of those files. A document is the whole text, or
/// a line of it.
///
/// # Panics
/// If one is not as its file says, or has none.
pub(crate) fn documents(text: &str) -> Vec<String> {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok().filter(|value| schema(value).is_some());
    let all = match parsed(text) {
        Some(document) => vec![document],
        None => text.lines().filter(|line| line.starts_with("{\"schema\":")).filter_map(parsed).collect(),
    };
    all.iter().map(document).collect()
}

/// What a document calls its form.
fn schema(value: &Value) -> Option<String> {
    value.get("schema").and_then(Value::as_str).and_then(file_of)
}

fn document(document: &Value) -> String {
    let file = schema(document).expect("it was asked before");
    let errors = errors(&file, Strictness::Closed, document);
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
    file
}
