//! What the verbs that wait cost: the processor time of ten seconds in which nothing happens. Printed, and not judged.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const SESSION: &str = env!("CARGO_BIN_EXE_session");
const TIME: Duration = Duration::from_secs(10);

fn main() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let run = |words: &[&str]| start(scratch.path(), words).wait().expect("it ends");
    assert!(run(&["new", "oaks"]).success() && run(&["notice", "oaks", "begun"]).success());
    assert!(run(&["run", "-q", "oaks", "--persistent", "--", "echo ready; exec sleep 600"]).success());
    let turn = start(scratch.path(), &["turn", "oaks", "--", "sleep", "600"]);
    while !scratch.path().join("oaks/proc/turn.pid").exists() {
        thread::yield_now();
    }
    let waiting = [
        ("the turn", turn),
        ("logs -f", start(scratch.path(), &["logs", "oaks", "bg1", "-f"])),
        ("wait", start(scratch.path(), &["wait", "oaks", "bg1"])),
        ("wait --until", start(scratch.path(), &["wait", "oaks", "bg1", "--until", "^oak"])),
        ("tail -f", start(scratch.path(), &["tail", "oaks", "-f"])),
        ("tail -f --until idle", start(scratch.path(), &["tail", "oaks", "-f", "--until", "idle"])),
        ("steer --wait", start(scratch.path(), &["steer", "--wait", "use tabs"])),
    ];
    // Each has begun to wait.
    thread::sleep(Duration::from_secs(1));
    let before = waiting.each_ref().map(|(_, child)| used_ns(child));
    thread::sleep(TIME);
    for ((what, child), before) in waiting.iter().zip(before) {
        tell(what, used_ns(child) - before);
    }
    for (_, mut child) in waiting {
        child.kill().expect("it waits");
        child.wait().expect("it was killed");
    }
    run(&["kill", "oaks", "--all", "-y", "--signal", "KILL"]);
}

fn start(store: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(SESSION);
    command.args(words).env("KVIT_CODER_SESSIONS_DIR", store);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("the program was built")
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn tell(what: &str, used_ns: u64) {
    let used_ms = Duration::from_nanos(used_ns).as_secs_f64() * 1000.0;
    let percent = used_ms / TIME.as_secs_f64() / 10.0;
    println!("{what:<22} {used_ms:>8.2} ms of {:>5.1} s  {percent:.3} % of a core", TIME.as_secs_f64());
}

/// The processor time of a process, in nanoseconds.
fn used_ns(child: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).expect("it runs");
    stat.split(' ').next().and_then(|ns| ns.parse().ok()).expect("the kernel counts")
}
