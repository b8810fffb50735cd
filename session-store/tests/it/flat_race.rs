//! Migrating a flat file beside the reference, which migrates the same file at the same moment.
//!
//! The reference is played by this program again, in a process of its own: it looks whether there is a history, reads the
//! flat file, truncates the history and writes it, renames the flat file, and appends. It knows no lock.

use crate::scratch::{Scratch, lines, loaded, name};
use session_core::{Event, Message, Timestamp, scan_bytes};
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const BASE_VARIABLE: &str = "SESSION_TEST_REFERENCE_BASE";

fn long() -> Duration {
    Duration::from_millis(session_testing::usually(1_500, 30_000))
}

/// Spends about so many microseconds, so that the two meet in all their steps.
fn spin(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {}
}

fn event(text: &str) -> Vec<u8> {
    let mut line = Vec::new();
    Event::message(Timestamp::default(), Message::user(text)).encode(&mut line);
    line
}

fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?.write_all(line)
}

/// What the reference does when it opens a session and appends a message.
fn reference(base: &Path, session: &str, delay: u64) -> io::Result<()> {
    let dir = base.join(session);
    let (flat, history) = (base.join(format!("{session}.jsonl")), dir.join("history.jsonl"));
    if !history.exists() && flat.exists() {
        spin(delay);
        let read = fs::read(&flat);
        let events = scan_bytes(read.as_deref().unwrap_or_default()).filter_map(|item| match item {
            session_core::Item::Record(record) => record.event.message,
            session_core::Item::Defect(_) => None,
        });
        let events: Vec<_> = events.map(|message| event(&message.content.text())).collect();
        fs::create_dir_all(&dir)?;
        let mut file = File::create(&history)?;
        for line in events {
            spin(delay / 8);
            file.write_all(&line)?;
        }
        drop(file);
        match fs::rename(&flat, base.join(format!("{session}.jsonl.migrated"))) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            renamed => renamed?,
        }
    }
    append(&history, &event("from the reference"))
}

#[test]
fn the_reference_as_told_by_the_environment() {
    let Some(base) = env::var_os(BASE_VARIABLE) else { return };
    for line in io::stdin().lines() {
        let line = line.expect("the parent speaks UTF-8");
        let (session, delay) = line.split_once(' ').expect("a name and a delay");
        reference(Path::new(&base), session, delay.parse().expect("a number")).expect("nothing is in its way");
        let mut out = io::stdout();
        writeln!(out, "\ndone {session}").and_then(|()| out.flush()).expect("the parent listens");
    }
}

struct Reference {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Reference {
    fn start(base: &Path) -> Self {
        let mut command = Command::new(env::current_exe().expect("the program has a path"));
        command.args(["--exact", "flat_race::the_reference_as_told_by_the_environment", "--nocapture"]);
        command.env(BASE_VARIABLE, base).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program can be run again");
        let to = child.stdin.take().expect("it is a pipe");
        let from = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Reference { child, to, from }
    }

    fn begin(&mut self, session: &str, delay: u64) {
        writeln!(self.to, "{session} {delay}").and_then(|()| self.to.flush()).expect("it listens");
    }

    fn wait(&mut self, session: &str) {
        let mut line = String::new();
        while line.trim_end() != format!("done {session}") {
            line.clear();
            assert!(self.from.read_line(&mut line).expect("it speaks UTF-8") > 0, "it ended early");
        }
    }

    fn end(self) {
        let Reference { mut child, to, from } = self;
        drop((to, from));
        assert!(child.wait().expect("it is our child").code().is_some());
    }
}

#[test]
fn m08_beside_a_reference_that_migrates_the_same_file_no_message_is_lost() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut reference = Reference::start(&scratch.base());
    let texts: Vec<String> = (0..20).map(|n| format!("message {n}")).collect();
    let flat: String = texts.iter().map(|text| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}\n")).collect();
    let start = Instant::now();
    let mut rounds = 0_u64;
    while start.elapsed() < long() || rounds < 10 {
        let session = format!("s{rounds}");
        scratch.put(format!("{session}.jsonl"), &flat);
        reference.begin(&session, rounds * 37 % 700);
        spin(rounds * 53 % 1900);
        let opened = store.open(&name(&session)).unwrap_or_else(|error| panic!("{session}: {error}"));
        opened.append_messages([Message::user("from us")]).unwrap_or_else(|error| panic!("{session}: {error}"));
        reference.wait(&session);
        let loaded = loaded(&store, &session);
        let expected = |text: &str| format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
        for text in &texts {
            assert_eq!(
                loaded.iter().filter(|line| **line == expected(text)).count(),
                1,
                "{session}: {text}: {loaded:?}"
            );
        }
        assert!(loaded.contains(&expected("from us")), "{session}: {loaded:?}");
        assert!(loaded.contains(&expected("from the reference")), "{session}: {loaded:?}");
        let history = fs::read(opened.paths().history()).expect("it is there");
        assert_eq!(lines(&history).len(), texts.len() + 2, "{session}");
        rounds += 1;
    }
    reference.end();
}
