//! `session import`: folders, exit statuses, what stays of a source, and importing again.

use crate::support::{Scratch, json, tree};
use std::fs;

const HEADER: &str = r#"{"type":"session","version":1,"id":"s1","cwd":"/w","timestamp":"2026-01-02T03:04:05Z"}"#;
const PROMPT: &str =
    r#"{"type":"message","timestamp":"2026-01-02T03:04:06Z","message":{"role":"user","content":"plant three oaks"}}"#;

fn put(scratch: &Scratch, path: &str, lines: &[&str]) {
    let path = scratch.work().join(path);
    fs::create_dir_all(path.parent().expect("it is in a directory")).expect("it can be made");
    fs::write(path, lines.join("\n") + "\n").expect("the directory is there");
}

#[test]
fn what_comes_in_has_the_times_the_title_and_the_origin_of_the_file() {
    let scratch = Scratch::new();
    put(&scratch, "s1.jsonl", &[HEADER, PROMPT]);
    let done = json(&scratch.ok(&["import", "s1.jsonl", "--name", "oaks", "--json"]));
    assert_eq!((&done["schema"], &done["complete"]), (&"session/import.v1".into(), &true.into()));
    let file = &done["files"][0];
    assert_eq!((&file["format"], &file["sessions"][0]["name"]), (&"pi".into(), &"oaks".into()));
    let listed = json(&scratch.ok(&["list", "--json"]));
    let session = &listed["sessions"][0];
    assert_eq!(session["created"], "2026-01-02T03:04:05Z");
    assert_eq!((&session["workspace"], &session["title"]), (&"/w".into(), &"plant three oaks".into()));
    let meta = fs::read_to_string(scratch.store().join("oaks/meta.json")).expect("it is there");
    assert!(meta.contains(file["sha256"].as_str().expect("it is a text")), "{meta}");
}

#[test]
fn importing_again_changes_nothing_and_says_what_is_there() {
    let scratch = Scratch::new();
    put(&scratch, "s1.jsonl", &[HEADER, PROMPT]);
    scratch.ok(&["import", "s1.jsonl", "--name", "oaks"]);
    let before = tree(&scratch.store());
    put(&scratch, "again.jsonl", &[HEADER, PROMPT]);
    for again in [&["import", "again.jsonl"][..], &["import", "s1.jsonl", "-n"]] {
        let ran = scratch.run(again);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, "oaks\tknown\t1\tpi\tplant three oaks\n"), "{}", ran.stderr);
    }
    assert_eq!(tree(&scratch.store()), before);
}

#[test]
fn a_dry_run_and_a_refusal_leave_no_store() {
    let scratch = Scratch::new();
    put(&scratch, "s1.jsonl", &[HEADER, PROMPT]);
    put(&scratch, "odd.jsonl", &[HEADER, PROMPT, r#"{"hello":1}"#]);
    put(&scratch, "none.jsonl", &["17"]);
    assert_eq!(scratch.ok(&["import", "-n", "s1.jsonl"]), "-\tplanned\t1\tpi\tplant three oaks\n");
    for refused in ["odd.jsonl", "none.jsonl", "nowhere.jsonl"] {
        let ran = scratch.run(&["import", refused]);
        assert_eq!(ran.code, 2, "{refused}: {}", ran.stderr);
        assert!(ran.stderr.contains(refused), "{}", ran.stderr);
    }
    assert!(!scratch.store().exists());
    let lossy = scratch.run(&["import", "odd.jsonl", "--lossy", "--name", "odd"]);
    assert_eq!(lossy.code, 3, "{}", lossy.stderr);
    assert!(lossy.stderr.contains("not understood: 1 × record without a type, first in line 3"), "{}", lossy.stderr);
}

#[test]
fn of_several_files_the_good_ones_come_in_and_the_answer_is_in_part() {
    let scratch = Scratch::new();
    put(&scratch, "s1.jsonl", &[HEADER, PROMPT]);
    put(&scratch, "none.jsonl", &["17"]);
    let ran = scratch.run(&["import", "none.jsonl", "s1.jsonl", "--json"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let done = json(&ran.stdout);
    let files = [&done["files"][0], &done["files"][1]];
    assert_eq!((&files[0]["refused"], &files[1]["refused"]), (&true.into(), &false.into()));
    assert_eq!((&done["complete"], &files[1]["sessions"][0]["state"]), (&false.into(), &"imported".into()));
}

#[test]
fn a_file_that_is_named_twice_comes_in_once() {
    let scratch = Scratch::new();
    put(&scratch, "s1.jsonl", &[HEADER, PROMPT]);
    put(&scratch, "copy.jsonl", &[HEADER, PROMPT]);
    let done = json(&scratch.ok(&["import", "s1.jsonl", "s1.jsonl", "copy.jsonl", "--json"]));
    let states: Vec<_> = (0..3).map(|n| done["files"][n]["sessions"][0]["state"].clone()).collect();
    assert_eq!(states, ["imported", "known", "known"]);
    assert_eq!(json(&scratch.ok(&["list", "--json"]))["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn one_name_is_not_given_to_two_sessions() {
    let scratch = Scratch::new();
    let two = r#"[[{"role":"user","content":"a"}],[{"role":"user","content":"b"}]]"#;
    let ran = scratch.run_with(&["import", "-", "--name", "oaks"], two);
    assert_eq!((ran.code, scratch.store().exists()), (2, false), "{}", ran.stderr);
    assert_eq!(scratch.ok_with(&["import", "-"], two).lines().count(), 2);
}

#[test]
fn a_taken_name_is_busy() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    put(&scratch, "s1.jsonl", &[HEADER, PROMPT]);
    assert_eq!(scratch.run(&["import", "s1.jsonl", "--name", "oaks"]).code, 5);
}

#[test]
fn a_folder_of_claude_code_gives_its_sessions_and_those_of_its_sub_agents_with_their_parent() {
    let scratch = Scratch::new();
    let line = |uuid: &str, is_side: bool, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","sessionId":"s1","agentId":"a1","isSidechain":{is_side},"message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    put(&scratch, "project/s1.jsonl", &[&line("u1", false, "plant")]);
    put(&scratch, "project/s1/subagents/agent-a1.jsonl", &[&line("u2", true, "look around")]);
    put(&scratch, "project/notes.txt", &["nothing"]);
    let done = json(&scratch.ok(&["import", "project", "--json"]));
    let name = |file: usize| done["files"][file]["sessions"][0]["name"].as_str().expect("it came in").to_owned();
    let listed = json(&scratch.ok(&["list", "--json"]));
    let sessions = listed["sessions"].as_array().expect("it is a list");
    let side = sessions.iter().find(|session| session["name"] == name(1).as_str()).expect("it is listed");
    assert_eq!(side["parent"], name(0).as_str());
    assert_eq!(scratch.run(&["import", "project"]).code, 1);
}

#[test]
fn a_folder_of_openhands_is_one_session() {
    let scratch = Scratch::new();
    put(
        &scratch,
        "oh/base_state.json",
        &[r#"{"id":"o1","agent":{"llm":{"model":"m1"}},"workspace":{"working_dir":"/w"}}"#],
    );
    for (number, text) in ["plant", "water"].iter().enumerate() {
        let event = format!(
            r#"{{"id":"e{number}","timestamp":"2026-01-02T03:04:05","source":"user","kind":"MessageEvent","llm_message":{{"role":"user","content":"{text}"}}}}"#
        );
        put(&scratch, &format!("oh/events/event-0000{number}-x.json"), &[&event]);
    }
    scratch.ok(&["import", "oh", "--name", "oaks"]);
    assert_eq!(
        scratch.ok(&["load", "oaks"]),
        "{\"role\":\"user\",\"content\":\"plant\"}\n{\"role\":\"user\",\"content\":\"water\"}\n"
    );
    let empty = scratch.run(&["import", "."]);
    assert_eq!(empty.code, 2, "{}", empty.stderr);
}

#[test]
fn pictures_are_files_of_the_session_and_what_is_not_known_is_kept_beside_it() {
    let scratch = Scratch::new();
    let picture = r#"{"type":"message","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]}}"#;
    put(&scratch, "s1.jsonl", &[HEADER, picture, r#"{"type":"dream","about":"oaks"}"#]);
    assert_eq!(scratch.run(&["import", "s1.jsonl", "--name", "oaks"]).code, 3);
    let session = scratch.store().join("oaks");
    assert_eq!(fs::read(session.join("tmp/import-2cf24dba5fb0a30e.png")).expect("it is there"), b"hello");
    let kept = fs::read_to_string(session.join(".raw/unknown.jsonl")).expect("it is there");
    assert_eq!(kept, "{\"type\":\"dream\",\"about\":\"oaks\"}\n");
}
