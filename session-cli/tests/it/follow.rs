//! `session tail -f`.

use crate::support::{SESSION, Scratch};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

/// A `tail -f` whose lines are read one by one. It is killed when it is dropped.
struct Tail {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Tail {
    fn start(scratch: &Scratch, more: &[&str]) -> Self {
        let mut command = scratch.command(SESSION);
        command.args(["tail", "oaks", "-f", "-n", "1"]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program was built");
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        Tail { child, out }
    }

    /// What the next message says.
    fn hears(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.out.read_line(&mut line).expect("it can be read");
            if !line.contains("\tx.session\t") {
                return line.trim_end().rsplit('\t').next().unwrap_or_default().to_owned();
            }
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn say(scratch: &Scratch, text: &str) {
    scratch.ok_with(&["append", "oaks", "--create"], &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n"));
}

#[test]
fn tail_goes_on_when_the_history_is_replaced_and_when_it_is_deleted_and_comes_again() {
    let scratch = Scratch::new();
    say(&scratch, "one");
    let history = scratch.store().join("oaks/history.jsonl");
    let mut tail = Tail::start(&scratch, &["--timeout", "60s"]);
    assert_eq!(tail.hears(), "one");
    say(&scratch, "two");
    assert_eq!(tail.hears(), "two");

    let bytes = fs::read(&history).expect("it is ours");
    let beside = scratch.store().join("oaks/.beside");
    fs::write(&beside, String::from_utf8_lossy(&bytes).replace("one", "uno")).expect("there is room");
    fs::rename(&beside, &history).expect("it is ours");
    assert_eq!([tail.hears(), tail.hears()], ["uno", "two"], "another file is read from its start");

    fs::remove_file(&history).expect("it is ours");
    fs::write(&history, bytes).expect("there is room");
    assert_eq!([tail.hears(), tail.hears()], ["one", "two"]);
    say(&scratch, "three");
    assert_eq!(tail.hears(), "three");
}

#[test]
fn tail_ends_with_the_turn_also_when_that_is_killed() {
    let scratch = Scratch::new();
    say(&scratch, "one");
    for signal in ["", "-KILL"] {
        let mut turn = scratch.command(SESSION);
        turn.args(["turn", "oaks", "--", "sh", "-c", "read line"]).stdin(Stdio::piped());
        let mut turn = turn.spawn().expect("the program was built");
        while scratch.ok(&["active"]).is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        let mut tail = Tail::start(&scratch, &["--until", "idle", "--timeout", "60s"]);
        assert_eq!(tail.hears(), "one");
        assert!(tail.child.try_wait().expect("it is our child").is_none(), "the turn is live");
        if signal.is_empty() {
            drop(turn.stdin.take());
        } else {
            turn.kill().expect("it is our child");
        }
        turn.wait().expect("it is our child");
        assert_eq!(tail.child.wait().expect("it is our child").code(), Some(0), "{signal}");
    }
}
