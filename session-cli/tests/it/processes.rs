//! Background processes: `run`, `ps`, `wait`, `logs`, `kill`, and what deleting a session does about them.

use crate::support::{Ran, Scratch, eventually, json, running};
use std::fs;
use std::process::Stdio;

/// A session that can be named.
fn oaks() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    scratch.ok_with(&["append", "oaks"], "{\"role\":\"user\",\"content\":\"plant\"}\n");
    scratch
}

/// Starts one, and gives its id.
fn run(scratch: &Scratch, words: &[&str]) -> String {
    scratch.ok(&[&["run", "-q", "oaks"], words].concat()).trim_end().to_owned()
}

/// The same, and waits for its end.
fn run_to_its_end(scratch: &Scratch, words: &[&str]) {
    let id = run(scratch, words);
    scratch.run(&["wait", "oaks", &id, "--timeout", "30s"]);
}

/// A record as the reference writes it.
fn record(scratch: &Scratch, pid: u32, started: &str) {
    let record = format!(
        "{{\"id\":\"bg1\",\"command\":\"oak\",\"cwd\":\".\",\"pid\":{pid},\"started\":\"{started}\",\"state\":\"running\"}}"
    );
    fs::create_dir_all(scratch.store().join("oaks/proc")).expect("ours");
    fs::write(scratch.store().join("oaks/proc/bg1.json"), record).expect("ours");
}

/// What the program prints on a terminal.
fn on_terminal(scratch: &Scratch, words: &str) -> String {
    let script = format!("script -qec '{} {words}' /dev/null", crate::support::SESSION);
    let shown = scratch.command("sh").args(["-c", &script]).output().expect("there is a shell");
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

#[test]
fn a_process_is_started_shown_read_waited_for_and_stopped() {
    let scratch = oaks();
    let id = run(&scratch, &["--name", "digger", "--env", "TREE=oak", "--", "echo \"$TREE\"; echo 2 >&2; exit 3"]);
    assert_eq!(id, "bg1");
    let waited = scratch.run(&["wait", "oaks", "bg1"]);
    assert_eq!((waited.code, waited.stdout.as_str()), (1, "oaks\tbg1\texited\t3\t\n"));
    let logs = scratch.run(&["logs", "oaks", "bg1"]);
    assert_eq!((logs.stdout.as_str(), logs.stderr.as_str()), ("oak\n2\n", "cursor: 6\n"));
    let logs = scratch.run(&["logs", "oaks", "bg1", "--cursor", "4", "--json"]);
    assert_eq!(logs.stdout, "{\"id\":\"bg1\",\"cursor\":6,\"skipped_bytes\":0,\"text\":\"2\\n\"}\n");

    let id = run(&scratch, &["--persistent", "--cwd", "/", "--", "pwd; exec sleep 600"]);
    let rows = scratch.ok(&["ps", "oaks"]);
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!((&rows[0][..4], rows[0][5]), (&["oaks", "bg1", "", "exited"][..], "echo \"$TREE\"; echo 2 >&2; exit 3"));
    assert_eq!((rows[1][0], rows[1][3], rows[1].len()), ("oaks", "running", 6));
    let document = json(&scratch.ok(&["ps", "--json"]));
    let process = &document["processes"][1];
    assert_eq!(
        (&process["lifetime"], &process["cwd"], &process["name"]),
        (&"persistent".into(), &"/".into(), &().into())
    );
    assert_eq!((process["pid"].to_string().as_str(), &document["lost"]), (rows[1][2], &Vec::<String>::new().into()));

    assert_eq!(scratch.run(&["wait", "oaks", &id, "--timeout", "50ms"]).code, 124);
    let refused = scratch.run(&["kill", "oaks", &id]);
    assert!(
        refused.code == 6 && refused.stderr.contains("bg2: pwd; exec sleep 600, running, to be stopped"),
        "{refused:?}"
    );
    assert_eq!(scratch.ok(&["kill", "oaks", &id, "-n"]), "bg2: pwd; exec sleep 600, running, to be stopped\n");
    assert_eq!(scratch.ok(&["kill", "oaks", &id, "-y"]), "oaks\tbg2\tkilled\t\n");
    eventually("nothing is left", || running(&scratch).is_empty());
    assert_eq!(scratch.ok(&["kill", "oaks", "--all", "-y"]), "", "there is nothing to stop");
    for verb in ["wait", "logs", "kill"] {
        let none = scratch.run(&[verb, "oaks", "bg9"]);
        assert!(none.code == 4 && none.stderr.contains("session ps"), "{none:?}");
        assert_eq!(scratch.run(&[verb, "oaks", "../bg1"]).code, 2);
    }
}

#[test]
fn waiting_for_a_line_says_whether_it_came() {
    let scratch = oaks();
    let ready = scratch.run(&[
        "run",
        "-q",
        "oaks",
        "--until",
        "^ready",
        "--timeout",
        "30s",
        "--",
        "echo ready; exec sleep 600",
    ]);
    assert_eq!((ready.code, ready.stdout.as_str()), (0, "bg1\n"));
    let matched = scratch.run(&["wait", "oaks", "bg1", "--until", "rea"]);
    assert_eq!((matched.code, matched.stdout.as_str()), (0, "oaks\tbg1\trunning\t\tready\n"));
    let ended = scratch.run(&["run", "-q", "oaks", "--until", "^ready", "--json", "--", "echo steady; exit 0"]);
    let document = json(&ended.stdout);
    assert_eq!((ended.code, &document["matched"], &document["process"]["exit_code"]), (1, &().into(), &0.into()));
    let late = scratch.run(&["run", "-q", "oaks", "--until", "^ready", "--timeout", "50ms", "--", "exec sleep 600"]);
    assert_eq!((late.code, late.stdout.as_str()), (124, "bg3\n"), "its id is known, and it runs on");
    assert_eq!(scratch.run(&["wait", "oaks", "bg1", "--until", "("]).code, 2);
    scratch.ok(&["kill", "oaks", "--all", "-y"]);
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn several_words_are_taken_as_they_stand() {
    let scratch = oaks();
    run_to_its_end(&scratch, &["--", "printf", "%s|", "a b", "$HOME", "it's", ""]);
    assert_eq!(scratch.ok(&["logs", "-q", "oaks", "bg1"]), "a b|$HOME|it's||");
    assert_eq!(scratch.run(&["run", "oaks", "--", " "]).code, 2);
    assert_eq!(scratch.run(&["run", "oaks", "--cwd", "/no/such/dir", "--", "true"]).code, 2);
    assert_eq!(scratch.ok(&["ps"]).lines().count(), 1, "what cannot start leaves nothing");
}

#[test]
fn what_a_command_is_called_cannot_pose_as_fields_or_steer_the_terminal() {
    let scratch = oaks();
    run_to_its_end(&scratch, &["--", "true\t# \u{1b}]0;owned\u{7}\nfalse"]);
    let row = scratch.ok(&["ps"]);
    assert!(row.lines().count() == 1 && row.trim_end().split('\t').count() == 6, "{row:?}");
    let plan = scratch.run(&["kill", "oaks", "bg1", "-n"]).stdout;
    assert!(plan.contains("true\\t# \\x1b]0;owned\\x07\\nfalse"), "{plan:?}");
    let shown = on_terminal(&scratch, "ps --color never");
    assert!(!shown.contains("\u{1b}]0") && shown.contains("\\x1b]0;owned") && shown.contains("COMMAND"), "{shown:?}");
}

#[test]
fn p03_a_record_whose_pid_another_process_has_says_so_and_stopping_hurts_nobody() {
    let scratch = oaks();
    let stranger = scratch.command("sleep").arg("600").spawn();
    let mut stranger = stranger.expect("sleep can be run");
    // Long before that process.
    record(&scratch, stranger.id(), "2026-01-02T03:04:05Z");
    assert!(on_terminal(&scratch, "ps").contains("gone (pid reused)"));
    assert_eq!(json(&scratch.ok(&["ps", "--json"]))["processes"][0]["gone"], "pid_reused");
    assert_eq!(scratch.ok(&["kill", "oaks", "--all", "-y"]), "");
    assert_eq!(scratch.ok(&["kill", "oaks", "bg1", "-y"]), "oaks\tbg1\tgone\t\n");
    assert!(stranger.try_wait().expect("it is our child").is_none());
    stranger.kill().and_then(|()| stranger.wait()).expect("it is our child");
}

#[test]
fn a_log_is_followed_to_its_end() {
    let scratch = oaks();
    let gate = scratch.work().join("gate");
    run(&scratch, &["--", "echo one; until [ -e gate ]; do sleep 0.01; done; seq 1 20000; printf 'no end'"]);
    let mut command = scratch.command(crate::support::SESSION);
    let followed = command.args(["logs", "oaks", "bg1", "-f"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let followed = followed.spawn().expect("the program was built");
    fs::write(gate, "").expect("the name is free");
    let followed = Ran::of(&followed.wait_with_output().expect("it ends"));
    let numbers: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(followed.stdout, format!("one\n{numbers}no end"));
    assert_eq!((followed.code, followed.stderr), (0, format!("cursor: {}\n", followed.stdout.len())));
}

#[test]
fn p04_who_survives_is_named() {
    let scratch = oaks();
    // Whoever stops descends from this very process, which a record takes for its own.
    let now = scratch.command("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().expect("there is a clock").stdout;
    record(&scratch, std::process::id(), String::from_utf8_lossy(&now).trim_end());
    let killed = scratch.run(&["kill", "oaks", "--all", "--grace", "100ms", "-y", "--json"]);
    let document = json(&killed.stdout);
    let survivor = &document["stopped"][0]["survivors"][0];
    assert_eq!((killed.code, &document["complete"]), (1, &false.into()));
    assert_eq!(
        (&survivor["pid"], &survivor["why"]),
        (&std::process::id().into(), &"whoever asks belongs to it".into())
    );
    let refused = scratch.run(&["rm", "oaks", "-y"]);
    assert!(refused.code == 5 && refused.stderr.contains(&format!("process {}", std::process::id())), "{refused:?}");
    assert!(scratch.store().join("oaks/history.jsonl").exists());
}

#[test]
fn p01_deleting_a_session_says_what_it_stops_and_stops_it() {
    let scratch = oaks();
    run(&scratch, &["--persistent", "--", "setsid sleep 600 & exec sleep 600"]);
    let plan = scratch.ok(&["rm", "oaks", "-n"]);
    let wanted =
        "oaks: bg1: setsid sleep 600 & exec sleep 600, running, to be stopped\noaks: to be moved to the trash\n";
    assert_eq!(plan, wanted);
    scratch.ok(&["rm", "oaks", "-y"]);
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn p01_what_a_process_that_has_ended_left_running_is_shown_planned_and_stopped() {
    let scratch = oaks();
    run_to_its_end(&scratch, &["--persistent", "--", "env -i sleep 600 & exit 0"]);
    let shown = || scratch.ok(&["ps", "oaks", "--orphans"]);
    eventually("it is shown by its name", || shown().ends_with("\tsleep\n"));
    let row = shown();
    let row: Vec<&str> = row.trim_end().split('\t').collect();
    assert_eq!((&row[..2], row[3], row.len()), (&["oaks", "bg1"][..], "lost", 6));
    let planned = format!("bg1: process {} (sleep), which outlived it, to be stopped\n", row[2]);
    assert_eq!(scratch.ok(&["kill", "oaks", "--all", "-n"]), planned);
    assert_eq!(scratch.ok(&["rm", "oaks", "-n"]), format!("oaks: {planned}oaks: to be moved to the trash\n"));
    let document = json(&scratch.ok(&["ps", "oaks", "--json"]));
    assert_eq!(
        (&document["lost"][0]["why"], &document["processes"][0]["state"]),
        (&"outlived".into(), &"exited".into())
    );
    assert_eq!(scratch.ok(&["kill", "oaks", "--all", "-y"]), "oaks\tbg1\texited\t\n");
    assert_eq!(shown(), "");
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn one_of_several_that_cannot_be_stopped_is_named_and_the_others_are_told() {
    let scratch = oaks();
    run(&scratch, &["--", "exec sleep 600"]);
    // A record under another name is shown, and not acted upon.
    let record = "{\"id\":\"bg4\",\"command\":\"oak\",\"cwd\":\".\",\"pid\":1,\"state\":\"exited\"}";
    fs::write(scratch.store().join("oaks/proc/bg2.json"), record).expect("the name is free");
    assert_eq!(scratch.run(&["kill", "oaks", "bg2", "-y"]).code, 6, "alone it is the answer");
    let killed = scratch.run(&["kill", "oaks", "bg2", "bg1", "-y", "--json"]);
    let document = json(&killed.stdout);
    assert_eq!((killed.code, &document["complete"]), (3, &false.into()));
    let diagnostic = &document["diagnostics"][0];
    assert_eq!((&diagnostic["code"], &diagnostic["session"]), (&"not-stopped".into(), &"oaks".into()));
    let text = diagnostic["text"].as_str().expect("a text");
    assert!(text.starts_with("bg2: ") && text.contains("bg2.json"), "{text}");
    let stopped = &document["stopped"];
    assert_eq!((&stopped[0]["id"], &stopped[0]["state"]), (&"bg1".into(), &"killed".into()));
    let again = scratch.run(&["kill", "oaks", "bg1", "bg2", "-y"]);
    assert_eq!((again.code, again.stdout.as_str()), (3, "oaks\tbg1\tkilled\t\n"));
    assert!(again.stderr.starts_with("warning: oaks: bg2: "), "{again:?}");
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn a_pattern_that_is_none_starts_nothing() {
    let scratch = oaks();
    let refused = scratch.run(&["run", "-q", "oaks", "--until", "(", "--", "exec sleep 600"]);
    assert!(refused.code == 2 && refused.stderr.contains("--until"), "{refused:?}");
    assert_eq!(scratch.ok(&["ps", "oaks"]), "");
    let refused = scratch.run(&["wait", "oaks", "bg1", "--until", "("]);
    assert!(refused.code == 2 && refused.stderr.contains("--until"), "{refused:?}");
}

#[test]
fn p08_a_process_whose_record_is_lost_is_shown_and_stopped() {
    let scratch = oaks();
    run(&scratch, &["--", "exec sleep 600"]);
    fs::remove_file(scratch.store().join("oaks/proc/bg1.json")).expect("it is there");
    let rows = scratch.ok(&["ps", "--orphans"]);
    assert!(rows.starts_with("oaks\tbg1\t") && rows.contains("\tlost\t"), "{rows}");
    assert_eq!(scratch.run(&["doctor", "oaks"]).code, 1);
    let document = json(&scratch.ok(&["ps", "oaks", "--json"]));
    assert_eq!(
        (&document["lost"][0]["why"], &document["processes"]),
        (&"no_record".into(), &Vec::<String>::new().into())
    );
    assert_eq!(scratch.ok(&["kill", "oaks", "--all", "-y", "--signal", "KILL"]), "oaks\tbg1\tlost\t\n");
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn the_ids_of_a_sessions_processes_are_completed_as_they_are_now() {
    let scratch = oaks();
    run_to_its_end(&scratch, &["--", "true"]);
    run(&scratch, &["--", "exec sleep 600"]);
    let completed = |words: &[&str]| {
        let mut command = scratch.command(crate::support::SESSION);
        let output = command.env("COMPLETE", "fish").args(["--", "session"]).args(words).output();
        String::from_utf8_lossy(&output.expect("the program was built").stdout).into_owned()
    };
    assert_eq!(completed(&["logs", "oa", "b"]).matches("bg").count(), 2);
    let running = completed(&["kill", "-y", "oaks", "b"]);
    assert!(running.contains("bg2\texec sleep 600") && !running.contains("bg1"), "{running}");
    scratch.ok(&["kill", "oaks", "--all", "-y"]);
}

#[test]
fn a_compaction_leaves_processes_where_they_are_and_they_are_reached_from_its_successor() {
    let scratch = oaks();
    run(&scratch, &["--", "echo dug; exec sleep 600"]);
    run(&scratch, &["--", "exec sleep 600"]);
    scratch.ok_with(&["compact", "oaks", "elms", "--summary", "-"], "one oak stands\n");
    scratch.ok(&["wait", "elms", "bg1", "--until", "dug", "--timeout", "30s"]);
    assert_eq!(scratch.ok(&["logs", "elms", "bg1"]), "dug\n");
    assert_eq!(
        scratch.ok(&["kill", "elms", "bg1", "-n"]),
        "oaks: bg1: echo dug; exec sleep 600, running, to be stopped\n"
    );
    // Its own come first.
    assert_eq!(scratch.ok(&["run", "-q", "elms", "--", "exec sleep 600"]), "bg1\n");
    assert_eq!(scratch.ok(&["kill", "elms", "bg1", "bg2", "-y"]), "elms\tbg1\tkilled\t\noaks\tbg2\tkilled\t\n");
    assert_eq!(scratch.ok(&["kill", "elms", "--all", "-y"]), "oaks\tbg1\tkilled\t\n");
    eventually("nothing is left", || running(&scratch).is_empty());
}
