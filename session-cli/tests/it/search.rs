//! `session search`: what it prints, and its exit statuses.

use crate::support::{Scratch, json};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

const OAKS: &str = concat!(
    r#"{"role":"user","content":"plant three \"Oaks\""}"#,
    "\n",
    r#"{"role":"assistant","content":"digging\nfor the oaks\nnow","tool_calls":[{"id":"c1","type":"function","function":{"name":"Shell","arguments":"{\"cmd\":\"echo \\\"oaks\\\"\"}"}}]}"#,
    "\n",
    r#"{"role":"tool","tool_call_id":"c1","name":"Shell","content":"3 oaks\tand \u001b[31mred"}"#,
    "\n",
);

fn oaks() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "birches"]);
    scratch.ok_with(&["append", "birches"], "{\"role\":\"user\",\"content\":\"plant a birch\"}\n");
    scratch.ok(&["new", "oaks"]);
    scratch.ok_with(&["append", "oaks"], OAKS);
    scratch
}

#[test]
fn a_hit_is_a_row_of_name_event_role_state_and_text() {
    let scratch = oaks();
    scratch.ok(&["rollback", "oaks", "1"]);
    let wanted = "oaks\t2\tuser\tlive\tplant three \"Oaks\"\noaks\t3\tassistant\tlive\tfor the oaks\n\
oaks\t3\targs\tlive\t{\"cmd\":\"echo \\\"oaks\\\"\"}\noaks\t4\ttool\trolled-back\t3 oaks\\tand \u{1b}[31mred\n";
    assert_eq!(scratch.ok(&["search", "oaks"]), wanted);
    assert_eq!(
        scratch.ok(&["search", "three \"Oaks\"", "oak"]),
        wanted.lines().next().expect("a row").to_owned() + "\n"
    );
    assert_eq!(scratch.ok(&["search", "echo \"oaks\""]), "oaks\t3\targs\tlive\techo \"oaks\"\n");
}

#[test]
fn flags_choose_the_pattern_and_the_texts() {
    let scratch = oaks();
    let events = |words: &[&str]| -> String {
        let ran = scratch.run(&[&["search"], words].concat());
        let column = |row: &str, n| row.split('\t').nth(n).unwrap_or_default().to_owned();
        let rows = ran.stdout.lines().map(|row| format!("{}{}", column(row, 1), &column(row, 2)[..1]));
        format!("{}: {}", ran.code, rows.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(events(&["Oaks"]), "0: 2u");
    assert_eq!(events(&["-i", "OAKS"]), "0: 2u 3a 3a 4t");
    assert_eq!(events(&["oak", "-w"]), "1: ");
    assert_eq!(events(&["-e", r"digging\nfor"]), "0: 3a");
    assert_eq!(events(&["-e", "oak.", "--in", "user,tool"]), "0: 2u 4t");
    assert_eq!(events(&["oaks", "--in", "user,all"]), "0: 2u 3a 3a 4t");
    assert_eq!(events(&["oaks", "--tool", "shell"]), "0: 3a 4t");
    assert_eq!(events(&["oaks", "--limit", "2"]), "0: 2u 3a");
    assert_eq!(events(&["oaks", "birches"]), "1: ");
    assert_eq!(events(&["oaks", "--workspace"]), "0: 2u 3a 3a 4t", "new sessions work here");
    assert_eq!(events(&["oaks", "--since", "2999-01-01T00:00:00Z"]), "1: ");
    assert_eq!(events(&["oaks", "nowhere"]), "4: ");
}

#[test]
fn names_and_counts_are_one_row_a_session() {
    let scratch = oaks();
    assert_eq!(scratch.ok(&["search", "-l", "plant"]), "oaks\nbirches\n");
    assert_eq!(scratch.ok(&["search", "-c", "oaks"]), "oaks\t4\n");
    assert_eq!(scratch.ok(&["search", "-c", "plant", "--limit", "1"]), "oaks\t1\n");
    assert_eq!(scratch.ok(&["search", "-l", "plant", "--limit", "1"]), "oaks\n");
}

#[test]
fn the_document_has_hits_what_was_searched_and_what_was_not() {
    let scratch = oaks();
    let history = scratch.store().join("birches/history.jsonl");
    fs::remove_file(&history).expect("it is ours");
    assert!(Command::new("mkfifo").arg(&history).status().expect("it can be run").success());
    let ran = scratch.run(&["search", "für? the oaks", "--json", "-e", "f.r the (oaks)"]);
    assert_eq!(ran.code, 4, "with -e the first word is a session: {ran:?}");
    let ran = scratch.run(&["search", "--json", "-e", "f.r the (oaks)"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""));
    let document = json(&ran.stdout);
    assert_eq!((&document["schema"], &document["complete"]), (&"session/search.v1".into(), &false.into()));
    let hit = document["hits"][0].as_object().expect("a hit is an object");
    let mut members: Vec<&str> = hit.keys().map(String::as_str).collect();
    members.sort_unstable();
    let wanted = [
        "cut_before",
        "cut_behind",
        "event",
        "line",
        "live",
        "matches",
        "offset",
        "role",
        "session",
        "text",
        "tool",
        "ts",
    ];
    assert_eq!(members, wanted);
    assert_eq!((&hit["text"], &hit["matches"]), (&"for the oaks".into(), &serde_json::json!([[0, 12]])));
    assert_eq!(document["counts"], serde_json::json!([{"session": "oaks", "hits": 1}]));
    assert_eq!((&document["searched"]["sessions"], &document["searched"]["stopped"]), (&1.into(), &false.into()));
    assert_eq!(
        (&document["skipped"][0]["session"], &document["skipped"][0]["reason"]),
        (&"birches".into(), &"unreadable".into())
    );
    let ran = scratch.run(&["search", "oaks"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (3, 4));
    assert!(ran.stderr.contains("birches: not searched") && ran.stderr.contains("regular file"), "{}", ran.stderr);
}

#[test]
fn a_bad_pattern_is_wrong_usage_and_shows_the_place() {
    let scratch = oaks();
    let ran = scratch.run(&["search", "-e", "oak("]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("oak(\n") && ran.stderr.contains('^') && ran.stderr.contains("hint:"),
        "{}",
        ran.stderr
    );
    assert_eq!(scratch.run(&["search"]).code, 2);
    assert_eq!(scratch.run(&["search", ""]).code, 2);
    assert_eq!(scratch.ok(&["search", "oak", "--limit", "1", "--in", "user"]).lines().count(), 1);
}

/// A store that takes long enough to search to be interrupted.
fn large() -> Scratch {
    let scratch = oaks();
    let history = scratch.store().join("oaks/history.jsonl");
    let lines = fs::read_to_string(&history).expect("it is ours").repeat(20_000);
    fs::write(&history, lines).expect("there is room");
    scratch
}

#[test]
fn a_reader_that_goes_away_ends_the_search_in_silence() {
    let scratch = large();
    let script = "\"$SESSION\" search oaks | head -n 1; echo done";
    let output = scratch.command("bash").args(["-o", "pipefail", "-c", script]).output().expect("there is a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "oaks\t2\tuser\tlive\tplant three \"Oaks\"\ndone\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn ctrl_c_ends_the_search_with_its_own_status() {
    let scratch = large();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_session"));
    command.args(["search", "oaks"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program was built");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut row = String::new();
    stdout.read_line(&mut row).expect("it prints");
    kill(Pid::from_raw(i32::try_from(child.id()).expect("it is small")), Signal::SIGINT).expect("it runs");
    // It waits for its reader as a rule; it ends once somebody reads on.
    let rest = stdout.lines().map_while(Result::ok).collect::<Vec<_>>();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(rest.iter().all(|row| row.split('\t').count() == 5), "no row is cut in half");
}
