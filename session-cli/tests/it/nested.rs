//! A background process that starts another one: each is stopped when it is meant, and not with the other.

use crate::support::{SESSION, Scratch, eventually, json, running};
use std::fs;
use std::process::Stdio;

/// Two sessions, and in the second a process that one of the first has started.
struct Nested(Scratch);

impl Nested {
    /// `outer` goes on with the shell script of the outer one.
    fn new(inner: &str, outer: &str) -> Nested {
        let scratch = Scratch::new();
        scratch.ok(&["new", "oaks"]);
        scratch.ok(&["new", "elms"]);
        let script = format!("\"$SESSION\" run -q elms --persistent -- {inner:?} && touch started; {outer}");
        scratch.ok(&["run", "-q", "oaks", "--persistent", "--", &script]);
        eventually("the inner one runs", || scratch.work().join("started").exists());
        Nested(scratch)
    }

    fn inner_runs(&self) -> bool {
        states(&self.0, "elms") == ["running"]
    }

    /// Nothing of the outer one is left, its supervisor included: what runs names the second session.
    fn outer_is_gone(&self) -> bool {
        let is_of_inner = |pid: &i32| {
            let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&read("environ")).contains("/elms/proc")
        };
        running(&self.0).iter().all(is_of_inner)
    }
}

fn states(scratch: &Scratch, session: &str) -> Vec<String> {
    let rows = scratch.ok(&["ps", session]);
    rows.lines().filter_map(|row| Some(row.split('\t').nth(3)?.to_owned())).collect()
}

#[test]
fn p01_stopping_a_process_leaves_alone_what_it_has_started_in_another_session() {
    let nested = Nested::new("exec sleep 600", "exec sleep 600");
    let Nested(scratch) = &nested;
    assert_eq!(scratch.ok(&["kill", "oaks", "bg1", "-y"]).split('\t').nth(2), Some("killed"));
    assert!(nested.inner_runs());
    eventually("its supervisor has ended", || nested.outer_is_gone());
    // Nothing of it is left to be reached, also by whoever asks once more.
    scratch.ok(&["kill", "oaks", "bg1", "-y"]);
    assert!(nested.inner_runs());
    scratch.ok(&["kill", "elms", "bg1", "-y"]);
    eventually("nothing is left", || running(scratch).is_empty());
}

#[test]
fn p01_a_process_that_has_ended_leaves_nothing_that_waits_for_what_it_has_started_elsewhere() {
    // Deaf to being asked, so that only a kill would end it.
    let nested = Nested::new("trap '' TERM; while :; do sleep 600; done", "exit 0");
    let Nested(scratch) = &nested;
    eventually("the outer one has ended", || states(scratch, "oaks") == ["exited"]);
    eventually("its supervisor has ended", || nested.outer_is_gone());
    scratch.ok(&["rm", "oaks", "-y"]);
    assert!(nested.inner_runs());
    scratch.ok(&["kill", "elms", "bg1", "-y", "--signal", "KILL"]);
    eventually("nothing is left", || running(scratch).is_empty());
}

#[test]
fn p01_the_end_of_a_turn_leaves_a_persistent_process_alone_whoever_has_started_it() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    let inner = "\"$SESSION\" run -q oaks --persistent -- 'exec sleep 600'; \"$SESSION\" run -q oaks -- 'exec sleep 600'; \
        touch started; exec sleep 600";
    let script = "\"$SESSION\" run -q oaks -- \"$INNER\"; until [ -e started ]; do sleep 0.01; done";
    let mut turn = scratch.command(SESSION);
    turn.args(["turn", "oaks", "--", "sh", "-c", script]).env("INNER", inner).stdin(Stdio::null());
    assert!(turn.stdout(Stdio::null()).status().expect("the program was built").success());
    // The outer one, the persistent one, and one that is meant to end with the turn.
    assert_eq!(states(&scratch, "oaks"), ["killed", "running", "killed"]);
    scratch.ok(&["kill", "oaks", "--all", "-y"]);
    eventually("nothing is left", || running(&scratch).is_empty());
}

#[test]
fn p01_who_was_started_by_a_process_that_was_stopped_is_shown_and_stopped_by_its_own_record() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    let script = "\"$SESSION\" run -q oaks -- 'exec sleep 600'; touch started; exec sleep 600";
    scratch.ok(&["run", "-q", "oaks", "--", script]);
    eventually("the inner one runs", || scratch.work().join("started").exists());
    scratch.ok(&["kill", "oaks", "bg1", "-y"]);
    assert_eq!(states(&scratch, "oaks"), ["killed", "running"]);
    let shown = json(&scratch.ok(&["ps", "oaks", "--orphans", "--json"]));
    assert_eq!((&shown["processes"][0]["id"], &shown["lost"]), (&"bg2".into(), &Vec::<String>::new().into()));
    scratch.ok(&["kill", "oaks", "--all", "-y"]);
    eventually("nothing is left", || running(&scratch).is_empty());
}
