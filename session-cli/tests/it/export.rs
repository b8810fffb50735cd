//! Exports from the command line.

use crate::support::{Scratch, json, tree};
use std::fs;

const HISTORY: &str = concat!(
    r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:06Z","kind":"message","message":{"role":"assistant","content":"wrong"}}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:07Z","kind":"rollback","dropped":1}"#,
    "\n",
    r#"{"ts":"2026-01-02T03:04:08Z","kind":"message","message":{"role":"assistant","content":"digging"}}"#,
    "\n",
);
const FORMATS: [&str; 5] = ["md", "html", "json", "jsonl", "openai"];

fn oaks() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.store().join("oaks")).expect("a directory of this test");
    fs::write(scratch.store().join("oaks/history.jsonl"), HISTORY).expect("a file of this test");
    scratch
}

#[test]
fn e04_what_was_taken_back_is_left_out_and_told_in_every_format() {
    let scratch = oaks();
    let before = tree(&scratch.store());
    for format in FORMATS {
        let ran = scratch.run(&["export", "oaks", "--format", format]);
        assert_eq!(ran.code, 0, "{format}: {}", ran.stderr);
        assert!(ran.stdout.contains("digging") && !ran.stdout.contains("wrong"), "{format}: {}", ran.stdout);
        assert_eq!(ran.stderr, "note: oaks: 1 message that was taken back is left out; --raw includes it\n");
    }
    for format in ["md", "json"] {
        assert!(scratch.ok(&["export", "oaks", "--raw", "--format", format]).contains("wrong"));
    }
    assert_eq!(scratch.ok(&["export", "oaks", "--raw", "--no-redact", "--format", "jsonl"]), HISTORY);
    assert_eq!(scratch.ok(&["export", "oaks", "--raw", "--format", "jsonl"]), HISTORY);
    assert_eq!(scratch.run(&["export", "oaks", "--raw", "--format", "openai"]).code, 2);
    assert_eq!(tree(&scratch.store()), before);
}

#[test]
fn e03_lines_of_an_export_make_a_session_with_the_same_conversation() {
    let scratch = oaks();
    let lines = scratch.ok(&["-q", "export", "oaks", "--format", "jsonl"]);
    scratch.ok_with(&["append", "--create", "copy"], &lines);
    assert_eq!(scratch.ok(&["load", "copy"]), scratch.ok(&["load", "oaks"]));
    let again = scratch.ok(&["-q", "export", "copy", "--format", "jsonl"]);
    let messages =
        |text: &str| text.lines().filter(|line| line.contains("\"message\"")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(messages(&again), messages(&lines));
}

#[test]
fn a_file_is_there_whole_or_not_at_all_and_never_overwritten_unasked() {
    let scratch = oaks();
    let path = scratch.work().join("oaks.md");
    let row = scratch.ok(&["-q", "export", "oaks", "-o", "oaks.md"]);
    assert_eq!(row, "oaks\toaks.md\n");
    let page = fs::read_to_string(&path).expect("it was written");
    assert_eq!(page, scratch.ok(&["-q", "export", "oaks", "--format", "md"]));
    fs::write(&path, "mine").expect("a file of this test");
    let refused = scratch.run(&["export", "oaks", "-o", "oaks.md"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (6, ""));
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "mine");
    let told = json(&scratch.ok(&["export", "oaks", "-o", "oaks.md", "--force", "--json"]));
    assert_eq!((&told["schema"], &told["complete"]), (&"session/export.v1".into(), &true.into()));
    assert_eq!(told["files"][0]["rolled_back"], 1);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), page);
    assert_eq!(scratch.run(&["export", "oaks", "-o", "none/oaks.md"]).code, 2);
    assert_eq!(scratch.run(&["export", "oaks", "-o", "/dev/null", "--force"]).code, 2);
    let names: Vec<_> = tree(&scratch.work()).into_keys().collect();
    assert_eq!(names, ["oaks.md"]);
}

#[test]
fn several_sessions_go_into_a_directory_or_none_does() {
    let scratch = oaks();
    scratch.ok(&["new", "elms"]);
    assert_eq!(scratch.run(&["export", "oaks", "elms"]).code, 2);
    assert_eq!(scratch.run(&["export", "oaks", "elms", "-o", "one.md"]).code, 2);
    assert_eq!(scratch.run(&["export", "oaks", "nosuch", "-o", "out/"]).code, 4);
    assert!(!scratch.work().join("out").exists());
    scratch.ok(&["-q", "export", "oaks", "elms", "oaks", "-o", "out/"]);
    let names: Vec<_> = tree(&scratch.work().join("out")).into_keys().collect();
    assert_eq!(names, ["elms.md", "oaks.md"]);
    fs::remove_file(scratch.work().join("out/elms.md")).expect("it was written");
    assert_eq!(scratch.run(&["export", "oaks", "elms", "-o", "out"]).code, 6);
    assert!(!scratch.work().join("out/elms.md").exists(), "what exists is looked for before anything is written");
}

#[test]
fn a_damaged_history_is_exported_in_part() {
    let scratch = oaks();
    fs::write(scratch.store().join("oaks/history.jsonl"), format!("{{\"kind\":\n{HISTORY}"))
        .expect("a file of this test");
    for format in FORMATS {
        let ran = scratch.run(&["export", "oaks", "--format", format]);
        assert_eq!(ran.code, 3, "{format}");
        assert!(
            ran.stdout.contains("digging") && ran.stderr.contains("warning: oaks: line 1"),
            "{format}: {}",
            ran.stderr
        );
    }
    let document = json(&scratch.run(&["export", "oaks", "--format", "json"]).stdout);
    assert_eq!((&document["complete"], &document["diagnostics"][0]["line"]), (&false.into(), &1.into()));
    assert_eq!(json(&scratch.run(&["export", "oaks", "-o", "x.md", "--json"]).stdout)["complete"], false);
}

#[test]
fn s01_secrets_are_masked_in_every_format_unless_told_otherwise() {
    let scratch = Scratch::new();
    // Made here, so that nobody's scanner takes this file for a leak.
    let secret = format!("ghp_{}", "aB3dE5fG7h".repeat(4).chars().take(36).collect::<String>());
    let lines = [
        format!(r#"{{"role":"user","content":"plant with {secret}"}}"#),
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"id":"c1","type":"function","function":{{"name":"Shell","arguments":"{{\"command\":\"dig {secret}\"}}"}}}}]}}"#
        ),
        format!(r#"{{"role":"tool","tool_call_id":"c1","name":"Shell","content":"dug with {secret}"}}"#),
    ];
    scratch.ok_with(&["append", "--create", "oaks"], &(lines.join("\n") + "\n"));
    scratch.ok(&["title", "oaks", &format!("With {secret}")]);
    for format in FORMATS {
        let masked = scratch.run(&["export", "oaks", "--format", format]);
        assert_eq!(masked.code, 0, "{format}: {}", masked.stderr);
        assert!(masked.stdout.contains("c1") || format == "md", "{format}: an id stays: {}", masked.stdout);
        assert!(masked.stdout.contains("dug with") && !masked.stdout.contains(&secret), "{format}: {}", masked.stdout);
        assert!(masked.stderr.contains("secrets in 4 events are masked"), "{format}: {}", masked.stderr);
        let whole = scratch.ok(&["export", "oaks", "--format", format, "--no-redact"]);
        assert!(whole.matches(&secret).count() >= 3, "{format}: {whole}");
    }
    let raw = scratch.ok(&["export", "oaks", "--raw", "--format", "jsonl"]);
    assert!(raw.contains("dug with") && !raw.contains(&secret), "{raw}");
    let told = json(&scratch.ok(&["export", "oaks", "-o", "oaks.md", "--json"]));
    assert_eq!(told["files"][0]["redacted"], 4);
}

#[test]
fn s01_a_secret_that_stands_alone_is_masked_in_every_format_where_the_session_tells_that_it_is_one() {
    let scratch = Scratch::new();
    let secret = "Birch-and-9-oaks";
    let lines = [
        format!(r#"{{"role":"user","content":"before: {secret}"}}"#),
        format!(r#"{{"role":"assistant","content":"postgres://oak:{secret}@db.example.org/"}}"#),
        format!(r#"{{"role":"user","content":"it said {secret}"}}"#),
    ];
    scratch.ok_with(&["append", "--create", "oaks"], &(lines.join("\n") + "\n"));
    for format in FORMATS {
        let masked = scratch.run(&["export", "oaks", "--format", format]);
        assert!(masked.stdout.contains("it said") && !masked.stdout.contains(secret), "{format}: {}", masked.stdout);
        assert!(masked.stderr.contains("secrets in 3 events are masked"), "{format}: {}", masked.stderr);
    }
    // Told by a file beside the history only.
    scratch.ok_with(&["append", "--create", "elms"], &(lines[2].clone() + "\n"));
    fs::create_dir_all(scratch.store().join("elms/tmp")).expect("a directory of this test");
    fs::write(scratch.store().join("elms/tmp/shell-1.txt"), &lines[1]).expect("a file of this test");
    let masked = scratch.ok(&["export", "elms"]);
    assert!(masked.contains("it said") && !masked.contains(secret), "{masked}");
}

#[test]
fn a_page_says_which_events_it_has_also_where_it_has_none() {
    let scratch = oaks();
    for (range, told) in [("1..2", "Events 1 to 2 of 4."), ("9..12", "None of 4 events.")] {
        let page = scratch.ok(&["export", "oaks", "--format", "html", "--range", range]);
        assert!(page.contains(told), "{range}: {told}");
    }
}
