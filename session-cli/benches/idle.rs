//! What waiting verbs cost: the processor time of ten seconds in which nothing happens. Printed, and not judged.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(10);
/// What starting takes is not waiting.
const START: Duration = Duration::from_secs(1);

fn main() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    run(scratch.path(), &["new", "oaks"]);
    run(scratch.path(), &["notice", "oaks", "here"]);
    run(scratch.path(), &["run", "-q", "oaks", "--", "echo ready; exec sleep 600"]);
    for words in [
        &["logs", "oaks", "bg1", "-f"][..],
        &["wait", "oaks", "bg1"],
        &["wait", "oaks", "bg1", "--until", "^oak"],
        &["tail", "oaks", "-f"],
        &["turn", "oaks", "--", "sleep", "600"],
    ] {
        measure(scratch.path(), words);
    }
    run(scratch.path(), &["kill", "oaks", "--all", "-y", "--signal", "KILL"]);
}

fn command(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_session"));
    command.args(words).env("KVIT_CODER_SESSIONS_DIR", dir.join("store")).current_dir(dir);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(dir: &Path, words: &[&str]) {
    assert!(command(dir, words).status().expect("the program was built").success(), "{words:?}");
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn measure(dir: &Path, words: &[&str]) {
    let mut child = command(dir, words).spawn().expect("the program was built");
    thread::sleep(START);
    let before = used_ns(&child);
    thread::sleep(TIME);
    let used_ms = (used_ns(&child) - before) as f64 / 1e6;
    child.kill().expect("it is our child");
    child.wait().expect("it is our child");
    let percent = used_ms / 10.0 / TIME.as_secs_f64();
    println!("session {:<32} {used_ms:>6.1} ms of {} s  {percent:.3} % of a core", words.join(" "), TIME.as_secs());
}

/// The processor time of a process, in nanoseconds. It has one thread.
fn used_ns(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).expect("it runs");
    stat.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}
