//! Ctrl-C while nothing was begun that would have to be ended.

use crate::support::{SESSION, Scratch, eventually, tree};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};

fn interrupt(child: &Child) {
    kill(Pid::from_raw(i32::try_from(child.id()).expect("small")), Signal::SIGINT).expect("it is our child");
}

fn sleeps(child: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('S'))
}

#[test]
fn a_compaction_that_waits_for_a_turn_is_over_when_it_is_interrupted() {
    let scratch = Scratch::new();
    scratch.ok(&["new", "oaks"]);
    scratch.ok_with(&["append", "oaks"], "{\"role\":\"user\",\"content\":\"plant\"}\n");
    fs::write(scratch.work().join("summary"), "three oaks stand\n").expect("it is ours");
    let mut turn = scratch.command(SESSION);
    let mut turn = turn.args(["turn", "oaks", "--", "sh", "-c", "touch ready; exec sleep 600"]).spawn().expect("built");
    eventually("the turn", || scratch.work().join("ready").exists());
    let mut waiting = scratch.command(SESSION);
    waiting.args(["compact", "oaks", "elms", "--summary", "summary", "--wait", "20s"]);
    let mut waiting = waiting.stderr(Stdio::null()).spawn().expect("the program was built");
    eventually("it waits", || sleeps(&waiting));
    interrupt(&waiting);
    // What it waits for ends soon after: who is still there would go on.
    interrupt(&turn);
    assert_eq!(waiting.wait().expect("it is our child").signal(), Some(Signal::SIGINT as i32));
    turn.wait().expect("it is our child");
    assert!(!scratch.store().join("elms").exists());
    assert_eq!(scratch.ok(&["lineage", "oaks"]).lines().count(), 1);
}

#[test]
fn an_import_that_reads_standard_input_is_over_when_it_is_interrupted() {
    let scratch = Scratch::without_processes();
    scratch.ok(&["new", "oaks"]);
    let before = tree(&scratch.store());
    let mut command = scratch.command(SESSION);
    let mut child = command.args(["import", "-"]).stdin(Stdio::piped()).spawn().expect("the program was built");
    let mut stdin = child.stdin.take().expect("it is piped");
    // More than a pipe holds: it is being read.
    stdin.write_all(&[b' '; 1 << 20]).expect("it is read");
    interrupt(&child);
    drop(stdin);
    assert_eq!(child.wait().expect("it is our child").signal(), Some(Signal::SIGINT as i32));
    assert_eq!(tree(&scratch.store()), before);
}
