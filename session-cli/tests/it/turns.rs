//! Turns: what reaches the command, what is cleaned up after it, and what is left when nobody can.

use crate::support::{Ran, SESSION, Scratch, eventually, json, running};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

fn oaks() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    scratch.ok_with(&["append", "oaks"], "{\"role\":\"user\",\"content\":\"plant\"}\n");
    scratch
}

/// Starts a turn whose command is a shell script.
fn turn(scratch: &Scratch, script: &str) -> Child {
    let mut command = scratch.command(SESSION);
    command.args(["turn", "oaks", "--", "sh", "-c", script]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program was built")
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).expect("small")), signal).expect("it is our child");
}

fn told(scratch: &Scratch, name: &str) {
    eventually(name, || scratch.work().join(name).exists());
}

/// The turns and notices that the history tells of.
fn history(scratch: &Scratch) -> Vec<String> {
    let lines = scratch.ok(&["events", "oaks"]);
    let events = lines.lines().map(|line| json(line)["event"].clone());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    events
        .filter_map(|event| match event["kind"].as_str() {
            Some("x.turn") => {
                Some(format!("{} {}", text(&event["x"]["phase"]), text(&event["x"]["outcome"])).trim_end().to_owned())
            }
            Some("notice") => Some(text(&event["text"])),
            _ => None,
        })
        .collect()
}

#[test]
fn a_turn_is_told_with_the_first_event_that_its_command_appends() {
    let scratch = oaks();
    scratch.ok(&["turn", "oaks", "--", "true"]);
    assert_eq!(history(&scratch), [""; 0], "an empty turn leaves nothing");
    scratch.ok(&["turn", "oaks", "--", SESSION, "notice", "oaks", "here"]);
    assert_eq!(scratch.run(&["turn", "oaks", "--", "sh", "-c", "\"$SESSION\" notice oaks there; exit 7"]).code, 7);
    assert_eq!(history(&scratch), ["start", "here", "end done", "start", "there", "end failed"]);
}

#[test]
fn p01_whatever_ends_a_turn_what_it_started_is_stopped_unless_it_is_persistent() {
    let start = "\"$SESSION\" run oaks -- 'exec sleep 600' && \"$SESSION\" run oaks --persistent -- 'exec sleep 600'";
    for signal in [None, Some(Signal::SIGINT), Some(Signal::SIGTERM), Some(Signal::SIGHUP), Some(Signal::SIGQUIT)] {
        let scratch = oaks();
        let wait = if signal.is_some() { "exec sleep 600" } else { "exit 0" };
        let child = turn(&scratch, &format!("{start} && \"$SESSION\" notice oaks here && touch ready; {wait}"));
        told(&scratch, "ready");
        signal.into_iter().for_each(|signal| send(&child, signal));
        let ran = Ran::of(&child.wait_with_output().expect("it ends"));
        assert_eq!((ran.code, &*ran.stderr), (signal.map_or(0, |signal| 128 + signal as i32), ""), "{signal:?}");
        let states = scratch.ok(&["ps", "oaks"]);
        let states: Vec<&str> = states.lines().filter_map(|row| row.split('\t').nth(3)).collect();
        assert_eq!(states, ["killed", "running"], "{signal:?}");
        let end = if signal.is_some() { "end interrupted" } else { "end done" };
        assert_eq!(history(&scratch), ["start", "here", end]);
        assert_eq!(scratch.ok(&["active"]), "");
        scratch.ok(&["kill", "oaks", "--all", "-y"]);
        eventually("nothing is left", || running(&scratch).is_empty());
    }
}

#[test]
fn a_command_decides_what_a_signal_means() {
    let scratch = oaks();
    let child = turn(&scratch, "trap 'echo saving; exit 4' TERM; touch ready; while :; do sleep 0.01; done");
    told(&scratch, "ready");
    send(&child, Signal::SIGTERM);
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!((ran.code, ran.stdout.as_str()), (4, "saving\n"));
}

#[test]
fn a_second_turn_is_refused_and_told_who_runs_the_first() {
    let scratch = oaks();
    let first = turn(&scratch, "touch ready; exec sleep 600");
    told(&scratch, "ready");
    let second = scratch.run(&["turn", "oaks", "--", "true"]);
    assert!(second.code == 5 && second.stderr.contains(&format!("process {}", first.id())), "{second:?}");
    let active = json(&scratch.ok(&["active", "--json"]));
    assert_eq!((&active["sessions"][0]["name"], &active["sessions"][0]["pid"]), (&"oaks".into(), &first.id().into()));
    assert!(active["sessions"][0]["turn"].is_string());
    assert_eq!(scratch.ok(&["active"]).split('\t').count(), 5);
    send(&first, Signal::SIGTERM);
    first.wait_with_output().expect("it ends");
}

#[test]
fn what_is_deleted_beside_a_session_that_cannot_be_is_told() {
    let scratch = oaks();
    scratch.ok(&["new", "elms"]);
    scratch.ok(&["new", "ashes"]);
    let live = turn(&scratch, "touch ready; exec sleep 600");
    told(&scratch, "ready");
    let deleted = scratch.run(&["rm", "elms", "oaks", "-y"]);
    assert!(deleted.code == 3 && deleted.stdout.starts_with("elms\telms-"), "{deleted:?}");
    assert!(deleted.stderr.starts_with("warning: oaks: ") && deleted.stdout.lines().count() == 1, "{deleted:?}");
    let deleted = scratch.run(&["rm", "oaks", "ashes", "-y", "--json"]);
    let document = json(&deleted.stdout);
    assert_eq!((deleted.code, &document["complete"]), (3, &false.into()));
    let (diagnostic, told) = (&document["diagnostics"][0], &document["deleted"]);
    assert_eq!((&diagnostic["code"], &diagnostic["session"]), (&"not-deleted".into(), &"oaks".into()));
    assert_eq!((&told[0]["session"], told.as_array().map(Vec::len)), (&"ashes".into(), Some(1)));
    assert_eq!(scratch.run(&["rm", "oaks", "-y"]).code, 5, "alone it is the answer");
    send(&live, Signal::SIGTERM);
    live.wait_with_output().expect("it ends");
}

#[test]
fn p01_after_a_turn_is_killed_what_it_left_is_shown_and_killing_all_leaves_nothing() {
    let scratch = oaks();
    let script = "\"$SESSION\" run oaks -- 'sleep 600 & setsid sleep 600 & exec sleep 600' && \
        \"$SESSION\" run oaks --persistent -- 'exec sleep 600' && \"$SESSION\" notice oaks here && \
        { sleep 600 & setsid sleep 600 & } && touch ready && echo $$ >cmd; exec sleep 600";
    let mut child = turn(&scratch, script);
    told(&scratch, "cmd");
    send(&child, Signal::SIGKILL);
    child.wait().expect("it is our child");
    let command = fs::read_to_string(scratch.work().join("cmd")).expect("it told");
    eventually("the command dies with it", || !running(&scratch).contains(&command.trim().parse().expect("a pid")));
    let rows = scratch.ok(&["ps", "--orphans"]);
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
    let mut shown: Vec<(&str, &str)> = rows.iter().map(|row| (row[1], row[3])).collect();
    shown.sort_unstable();
    assert_eq!(shown, [("bg1", "running"), ("bg2", "running"), ("turn", "lost"), ("turn", "lost")]);
    assert!(running(&scratch).len() >= 6, "supervisors included");
    assert_eq!(scratch.run(&["kill", "oaks", "--all", "-y"]).code, 0);
    eventually("no process of the session is left", || running(&scratch).is_empty());
    assert_eq!(scratch.ok(&["ps", "--orphans"]), "");
}

#[test]
fn p01_the_turn_after_one_that_was_killed_stops_what_it_left_and_says_so() {
    let scratch = oaks();
    let script = "\"$SESSION\" run oaks --name web -- 'exec sleep 600' && \"$SESSION\" run oaks --persistent -- 'exec sleep 600' && \
        \"$SESSION\" notice oaks here && { sleep 600 & } && touch ready; exec sleep 600";
    let mut child = turn(&scratch, script);
    told(&scratch, "ready");
    send(&child, Signal::SIGKILL);
    child.wait().expect("it is our child");
    let next = scratch.run(&["turn", "oaks", "--", "true"]);
    assert!(next.code == 0 && next.stderr.contains("crashed"), "{next:?}");
    let history = history(&scratch);
    assert_eq!(
        (history.len(), &history[..3]),
        (4, &["start".to_owned(), "here".to_owned(), "end crashed".to_owned()][..])
    );
    let notice = &history[3];
    let parts = [&*format!("process {}", child.id()), "stopped: bg1 (web).", "still runs: process ", "(sleep)."];
    assert!(parts.iter().all(|part| notice.contains(part)), "{notice}");
    let states = scratch.ok(&["ps", "oaks"]);
    let states: Vec<&str> = states.lines().filter_map(|row| row.split('\t').nth(3)).collect();
    assert_eq!(states, ["killed", "running", "lost"]);
    assert!(!scratch.run(&["turn", "oaks", "--", "true"]).stderr.contains("crashed"), "once");
    scratch.ok(&["kill", "oaks", "--all", "-y"]);
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn whenever_a_turn_is_killed_its_command_dies_with_it() {
    let scratch = oaks();
    let rounds = session_testing::usually(30, 200);
    for round in 0..rounds {
        let mut command = scratch.command(SESSION);
        let mut child = command.args(["turn", "oaks", "--", "sleep", "600"]).spawn().expect("the program was built");
        // Before the command is there, between its fork and its exec, and after.
        thread::sleep(Duration::from_micros(500 * round));
        send(&child, Signal::SIGKILL);
        child.wait().expect("it is our child");
        eventually("nothing is left", || running(&scratch).is_empty());
    }
    assert_eq!(scratch.run(&["turn", "oaks", "--", "true"]).code, 0);
}
