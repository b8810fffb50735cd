//! Listing, against what the reference recorded.

use crate::scratch::{Scratch, at_second};
use serde_json::Value;
use session_core::format_time;
use session_store::{Empties, SessionInfo, SessionName, SessionState};

/// What the list says that differs from the reference on purpose: `(case, name, messages, time)`.
const DEVIATIONS: [(&str, &str, u64, &str); 2] = [
    // The directory's one message is the first of the flat file's nine: an interrupted migration hides nothing.
    ("both_forms", "x", 9, "2026-09-03T08:16:40Z"),
    // A torn last line is left out; it does not take the five before it away.
    ("broken_counts_zero", "bad", 5, "2026-09-03T08:15:02Z"),
];

fn cases() -> Vec<Value> {
    let recorded = include_str!("../data/list.jsonl").lines();
    recorded.map(|line| serde_json::from_str(line).expect("the vectors are JSON")).collect()
}

fn scratch(case: &Value) -> Scratch {
    let scratch = Scratch::new();
    for file in case["tree"].as_array().expect("a list") {
        let path = file[0].as_str().expect("a path");
        match file[1].as_str() {
            Some(text) => drop(scratch.put_at(path, text, at_second(file[2].as_u64().expect("a time")))),
            None => drop(scratch.dir(path)),
        }
    }
    scratch
}

fn row(info: &SessionInfo) -> (String, String, u64, String) {
    let time = info.modified.as_ref().map(format_time).unwrap_or_default();
    (info.name.clone(), time, info.messages.unwrap_or_default(), info.title.clone().unwrap_or_default())
}

fn wanted(case: &Value) -> Vec<(String, String, u64, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let rows = case["list"].as_array().expect("a list").iter();
    let rows = rows.map(|row| {
        let (name, count) = (text(&row["Name"]), row["MessageCount"].as_u64().expect("a count"));
        let deviation = DEVIATIONS.iter().find(|d| case["case"] == d.0 && name == d.1);
        match deviation {
            Some((_, _, messages, time)) => (name, (*time).to_owned(), *messages, text(&row["Title"])),
            None => (name, text(&row["ModTime"]), count, text(&row["Title"])),
        }
    });
    // Names that are none are listed too, as damaged, under the name of what stands there.
    rows.filter(|row| SessionName::new(row.0.as_str()).is_ok()).collect()
}

#[test]
fn the_list_is_the_reference_s_but_for_names_that_are_none() {
    let cases = cases();
    assert_eq!(cases.len(), 5);
    for case in &cases {
        let scratch = scratch(case);
        let listed = scratch.store().list(Empties::Hide).expect("the store can be read");
        let (named, odd): (Vec<_>, Vec<_>) =
            listed.iter().partition(|info| SessionName::new(info.name.as_str()).is_ok());
        assert_eq!(named.into_iter().map(row).collect::<Vec<_>>(), wanted(case), "{}", case["case"]);
        assert!(odd.iter().all(|info| info.state == SessionState::Damaged && info.messages == Some(1)));
        let odd: Vec<_> = odd.iter().map(|info| info.name.as_str()).collect();
        let strays: &[&str] = if case["case"] == "strays" { &[".hidden", ".jsonl"] } else { &[] };
        assert_eq!(odd, strays);
    }
}

#[test]
fn the_most_recent_one_and_those_that_exist_are_the_reference_s() {
    for case in cases() {
        let scratch = scratch(&case);
        let store = scratch.store();
        let recent = store.most_recent().expect("the store can be read").map(|name| name.to_string());
        assert_eq!(recent.unwrap_or_default(), case["recent"].as_str().expect("a name"), "{}", case["case"]);
        assert_eq!(store.active_turns().expect("the store can be read").turns, []);
        for (name, exists) in case["exists"].as_object().expect("an object") {
            // "", ".", ".." and hidden names are no session names: nothing exists under them.
            let found = SessionName::new(name.as_str()).is_ok_and(|name| store.has_history(&name));
            let named = SessionName::new(name.as_str()).is_ok();
            assert_eq!(found, named && exists.as_bool().expect("a bool"), "{} {name:?}", case["case"]);
        }
    }
}
