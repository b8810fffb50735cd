//! The program, killed with SIGKILL at any request that it makes.

use super::{command, ok, run};
use crate::support::{Scratch, eventually};
use session_testing::s3::{S3, Trouble};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The numbers of the requests at which it is killed, and how: all of them, or a sample.
fn points() -> impl Iterator<Item = (usize, Trouble)> {
    let step = session_testing::usually(5, 1);
    let both = |at| [(at, Trouble::HoldBefore), (at, Trouble::HoldAfter)];
    (0..).flat_map(both).step_by(step)
}

/// Runs a command, leaves its n-th request without an answer, and kills it there. False: it has fewer, and ended well.
fn is_killed(server: &S3, (n, how): (usize, Trouble), mut command: Command) -> bool {
    let before = server.held();
    server.trouble(n, how);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program was built");
    let mut ended = None;
    eventually("it waits for an answer, or ends", || {
        ended = child.try_wait().expect("it is our child");
        ended.is_some() || server.held() > before
    });
    child.kill().expect("it is our child");
    child.wait().expect("it is our child");
    server.recovers();
    assert!(ended.is_none_or(|status| status.success()), "{n} {how:?}: {ended:?}");
    ended.is_none()
}

fn history(scratch: &Scratch, machine: &str) -> Vec<u8> {
    fs::read(session(scratch, machine).join("history.jsonl")).unwrap_or_default()
}

fn session(scratch: &Scratch, machine: &str) -> PathBuf {
    scratch.store().join(machine).join("demo")
}

/// The texts of a history's notices, in its order.
fn notices(scratch: &Scratch, machine: &str) -> Vec<String> {
    let events = String::from_utf8(history(scratch, machine)).expect("it is text");
    let events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("it is JSON"));
    events.filter(|event| event["kind"] == "notice").map(|event| event["text"].to_string()).collect()
}

fn says(scratch: &Scratch, server: &S3, machine: &str, texts: &[&str]) {
    for text in texts {
        ok(scratch, server, machine, &["notice", "demo", text]);
    }
}

/// That a machine which had nothing gets all that `oak` has, each event once, and that every object is whole.
fn is_whole(scratch: &Scratch, server: &S3, texts: &[&str], what: &str) {
    let ash = scratch.store().join("ash");
    if ash.exists() {
        fs::remove_dir_all(&ash).expect("it is there");
    }
    ok(scratch, server, "ash", &["pull", "demo"]);
    assert_eq!(history(scratch, "ash"), history(scratch, "oak"), "{what}");
    let wanted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
    assert_eq!(notices(scratch, "ash"), wanted, "{what}");
    assert!(session(scratch, "ash").join("tmp/out").exists(), "{what}");
    ok(scratch, server, "ash", &["remote", "verify"]);
}

fn with_session(scratch: &Scratch, server: &S3) {
    ok(scratch, server, "oak", &["new", "demo"]);
    says(scratch, server, "oak", &["one", "two"]);
    fs::write(session(scratch, "oak").join("tmp/out"), "a large output").expect("there is room");
}

#[test]
fn i37_a_push_that_is_killed_at_any_request_is_done_by_the_next_one() {
    for point in points() {
        let (scratch, server) = (Scratch::without_processes(), S3::start());
        with_session(&scratch, &server);
        let what = format!("{point:?}");
        let is_first_killed = is_killed(&server, point, command(&scratch, &server, "oak", &["push", "demo"]));
        // Whoever asks meanwhile gets all or nothing.
        let asked = run(&scratch, &server, "elm", &["pull", "demo"]);
        assert!(matches!(asked.code, 0 | 4), "{what}: {}", asked.stderr);
        let is_there = asked.code == 0;
        assert_eq!(history(&scratch, "elm"), if is_there { history(&scratch, "oak") } else { Vec::new() }, "{what}");
        ok(&scratch, &server, "oak", &["push", "demo"]);
        is_whole(&scratch, &server, &["one", "two"], &what);

        says(&scratch, &server, "oak", &["three"]);
        fs::write(session(&scratch, "oak").join("tmp/more"), "more").expect("there is room");
        let later = (point.0 % 4, point.1);
        assert!(is_killed(&server, later, command(&scratch, &server, "oak", &["push", "demo"])), "{what}");
        ok(&scratch, &server, "oak", &["push", "demo"]);
        is_whole(&scratch, &server, &["one", "two", "three"], &what);
        if !is_first_killed {
            assert!(point.0 > 8, "every request was met: {what}");
            break;
        }
    }
}

#[test]
fn i37_a_pull_that_is_killed_at_any_request_leaves_nothing_or_a_beginning_and_is_done_by_the_next_one() {
    let (scratch, server) = (Scratch::without_processes(), S3::start());
    with_session(&scratch, &server);
    ok(&scratch, &server, "oak", &["push", "demo"]);
    let mut texts = vec!["one", "two"];
    for point in points() {
        let what = format!("{point:?}");
        let pull = || command(&scratch, &server, "elm", &["pull", "demo"]);
        let elm = scratch.store().join("elm");
        let is_new_killed = is_killed(&server, point, pull());
        assert_eq!(session(&scratch, "elm").exists(), !is_new_killed, "{what}: all or nothing");
        ok(&scratch, &server, "elm", &["pull", "demo"]);
        assert_eq!(history(&scratch, "elm"), history(&scratch, "oak"), "{what}");
        assert_eq!(staged(&elm), 0, "{what}: what was left was used");

        says(&scratch, &server, "oak", &["more"]);
        texts.push("more");
        ok(&scratch, &server, "oak", &["push", "demo"]);
        let before = history(&scratch, "elm");
        is_killed(&server, point, pull());
        let now = history(&scratch, "elm");
        assert!(now.starts_with(&before) && history(&scratch, "oak").starts_with(&now), "{what}: a beginning");
        ok(&scratch, &server, "elm", &["pull", "demo"]);
        assert_eq!(history(&scratch, "elm"), history(&scratch, "oak"), "{what}");
        fs::remove_dir_all(&elm).expect("it is there");
        if !is_new_killed {
            assert!(point.0 > 3, "every request was met: {what}");
            break;
        }
    }
    is_whole(&scratch, &server, &texts, "in the end");
}

fn staged(store: &Path) -> usize {
    fs::read_dir(store.join(".session-store/staging")).map_or(0, Iterator::count)
}
