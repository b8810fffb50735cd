//! `session show`: what it prints of each kind of event, folded, in full, and in parts.

use crate::support::Scratch;
use std::fs;

const HISTORY: &str = concat!(
    r#"{"ts":"2026-01-02T03:04:01Z","kind":"settings","model":"willow","merge_thinking":true,"tools":["dig","rake"]}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:02Z","kind":"message","message":{"role":"system","content":"be brief"}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:03Z","kind":"message","message":{"role":"user","content":"plant an oak"}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:04Z","kind":"message","message":{"role":"assistant","content":"digging","reasoning_content":"first a hole\nthen the oak","tool_calls":[{"id":"c1","type":"function","function":{"name":"dig","arguments":"{\"deep\":1}"}}]}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","ms":250,"message":{"role":"tool","tool_call_id":"c1","name":"dig","content":"\na hole\nand a stone"}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:06Z","kind":"message","ms":61500,"message":{"role":"tool","tool_call_id":"c2","name":"rake","content":""}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:07Z","kind":"notice","text":"it rains"}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:08Z","kind":"settings","model":"birch","merge_thinking":false}"#,
    "\n",
);

fn oaks() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    fs::write(scratch.store().join("oaks/history.jsonl"), HISTORY).expect("scratch");
    scratch
}

/// What is shown, without the times.
fn shown(scratch: &Scratch, words: &[&str]) -> String {
    let text = scratch.ok(&[&["show", "oaks"], words].concat());
    let untimed = |line: &str| line.split("  20").next().unwrap_or_default().to_owned();
    text.lines().map(untimed).collect::<Vec<_>>().join("\n")
}

#[test]
fn folded_it_is_an_outline_and_in_full_everything_that_was_said() {
    let scratch = oaks();
    let folded = "  · settings: willow, thinking merged, 2 tools

system
be brief

user
plant an oak

assistant
  ~ reasoning 2 lines
digging
  → dig {\"deep\":1}
  ← dig 250ms, 3 lines: a hole
  ← rake 61.5s, empty
  · notice: it rains
  · settings: birch, thinking apart";
    assert_eq!(shown(&scratch, &[]), folded);

    let full = folded
        .replace("  ~ reasoning 2 lines\n", "first a hole\nthen the oak\n")
        .replace("3 lines: a hole\n", "3 lines\n\na hole\nand a stone\n")
        .replace("empty\n", "empty\n\n");
    assert_eq!(shown(&scratch, &["--full"]), full);
}

#[test]
fn each_part_can_be_shown_alone() {
    let scratch = oaks();
    for (part, wanted) in [
        ("user", "user\nplant an oak"),
        ("assistant", "system\nbe brief\n\nassistant\ndigging"),
        ("reasoning", "assistant\n  ~ reasoning 2 lines"),
        ("notice", "  · notice: it rains"),
        ("settings", "  · settings: willow, thinking merged, 2 tools\n  · settings: birch, thinking apart"),
    ] {
        assert_eq!(shown(&scratch, &["--only", part]), wanted, "{part}");
    }
}
