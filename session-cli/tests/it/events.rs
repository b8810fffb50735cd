//! `session events`: every event and every defect, as values or as the file's own bytes, from either end.

use crate::support::Scratch;
use serde_json::Value;
use std::fs;

const PLANT: &str = r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant"}}"#;
/// A line that cannot be read.
const TORN: &str = r#"{"ts":"2026-01-02T03:04:06Z","kind":"mess"#;
/// A line that can be read after its time was put right.
const TIMELESS: &str = r#"{"ts":"soon","kind":"notice","text":"rain"}"#;
const DIG: &str = r#"{"ts":"2026-01-02T03:04:08Z","kind":"message","message":{"role":"assistant","content":"dug"}}"#;

fn garden() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    fs::write(scratch.store().join("oaks/history.jsonl"), [PLANT, TORN, TIMELESS, DIG].join("\n") + "\n")
        .expect("scratch");
    scratch
}

/// What each line is: the number of an event, or the code of a defect.
fn told(scratch: &Scratch, words: &[&str]) -> Vec<String> {
    let ran = scratch.run(&[&["events", "oaks"], words].concat());
    let lines = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("each line is JSON"));
    lines.map(|line| line.get("number").map_or_else(|| line["defect"]["code"].to_string(), Value::to_string)).collect()
}

#[test]
fn a_count_is_of_events_from_either_end_and_what_is_damaged_between_them_is_told() {
    let scratch = garden();
    let all = told(&scratch, &[]);
    assert_eq!(all.iter().filter(|line| line.starts_with('"')).count(), 2, "{all:?}");

    let mut reversed = told(&scratch, &["--reverse"]);
    reversed.reverse();
    assert_eq!(reversed, all);
    for count in 0..=4 {
        let count = count.to_string();
        let events = |lines: Vec<String>| lines.into_iter().filter(|line| !line.starts_with('"')).collect::<Vec<_>>();
        let wanted: Vec<String> = (1..=3).map(|n: u32| n.to_string()).collect();
        let most = wanted.len().min(count.parse().expect("a number"));
        assert_eq!(events(told(&scratch, &["-n", &count])), wanted[..most], "the first {count}");
        let mut last = events(told(&scratch, &["--reverse", "-n", &count]));
        last.reverse();
        assert_eq!(last, wanted[wanted.len() - most..], "the last {count}");
    }
    assert_eq!(told(&scratch, &["--reverse", "-n", "1"]), ["3"], "what stands before it is not told");
}

#[test]
fn raw_lines_are_the_files_own_from_either_end() {
    let scratch = garden();
    let history = fs::read_to_string(scratch.store().join("oaks/history.jsonl")).expect("it is there");
    let raw = |words: &[&str]| {
        let ran = scratch.run(&[&["events", "oaks", "--raw"], words].concat());
        (ran.code, ran.stdout)
    };
    let lines = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();

    assert_eq!(raw(&[]), (0, history));
    assert_eq!(raw(&["--reverse"]), (3, lines(&[DIG, TIMELESS, TORN, PLANT])));
    assert_eq!(raw(&["--reverse", "-n", "2"]), (3, lines(&[DIG, TIMELESS])));
    assert_eq!(raw(&["-n", "2"]), (3, lines(&[PLANT, TORN, TIMELESS])));
    assert_eq!(raw(&["-n", "1"]), (0, lines(&[PLANT])));
}
