//! Processes that append to one history at the same time, the reference among them, which takes no lock.

use crate::child::{self, Running};
use crate::support::{Session, line, quick, said};
use session_core::{Conversation, Limits};
use session_store::{History, HistoryView, Options, SessionPaths};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a race runs: long enough to meet what it looks for, and longer on demand.
fn length() -> Duration {
    session_testing::usually(Duration::from_millis(1500), Duration::from_secs(30))
}

/// How much a racer writes at most, in bytes of text: all of it is read back at once, and the scratch may be in memory.
const MOST_BYTES: usize = 256 << 20;
/// How much of it as fast as it can.
const FAST_BYTES: usize = 64 << 20;

struct Racer {
    name: &'static str,
    part: &'static str,
    /// The size of the texts, in bytes.
    size: &'static str,
}

/// Runs the racers and returns how many events each of them says are in the history.
fn race(session: &Session, racers: &[Racer]) -> BTreeMap<&'static str, usize> {
    let length_ms = length().as_millis().to_string();
    let dir = session.paths.dir().display().to_string();
    let report = |name: &str| session.base().join(name);
    let start = |racer: &Racer| {
        let report = report(racer.name).display().to_string();
        Running::start(child::command(racer.part, &[&dir, racer.name, &report, &length_ms, racer.size]))
    };
    let mut running: Vec<Running> = racers.iter().map(start).collect();
    running.iter_mut().for_each(|child| assert!(child.wait().success()));
    racers.iter().map(|racer| (racer.name, lines(&report(racer.name)))).collect()
}

fn lines(path: &Path) -> usize {
    fs::read(path).expect("the child has reported").iter().filter(|&&byte| byte == b'\n').count()
}

/// What a racer does until the time is over, or it is killed: one event after the other, a line in its report after
/// each.
fn run(append: impl FnOnce(&SessionPaths) -> Box<dyn FnMut(&[u8], &str)>) {
    let Some(task) = child::task() else { return };
    let [dir, name, report, length_ms, size] = &task[..] else { panic!("{task:?}") };
    let paths = SessionPaths::new(dir);
    let mut report = File::create(report).expect("the report can be written");
    let size: usize = size.parse().expect("a number");
    let length = Duration::from_millis(length_ms.parse().expect("a number"));
    let (start, mut written) = (Instant::now(), 0);
    let mut append = append(&paths);
    for n in 0.. {
        // Long lines among short ones.
        let text = format!("{name} {n} {}", "x".repeat(if n % 8 == 0 { size } else { 10 }));
        append(&line(&said(&text)), &text);
        report.write_all(b"\n").expect("the report can be written");
        if start.elapsed() > length || written > MOST_BYTES || child::is_orphan() {
            break;
        }
        // The rest evenly over the time, so that a longer race is no larger one.
        written += text.len();
        let share = written.saturating_sub(FAST_BYTES) as f64 / (MOST_BYTES - FAST_BYTES) as f64;
        thread::sleep(length.mul_f64(share).saturating_sub(start.elapsed()));
    }
}

#[test]
fn appender() {
    run(|paths| {
        let mut history = History::new(paths.clone(), "demo", quick());
        Box::new(move |_, text| history.append(&[said(text)], Vec::new).map(drop).expect("it can be written"))
    });
}

/// As [`appender`], with a sync after each event.
#[test]
fn durable_appender() {
    run(|paths| {
        let mut history = History::new(paths.clone(), "demo", Options::default());
        Box::new(move |_, text| history.append(&[said(text)], Vec::new).map(drop).expect("it can be written"))
    });
}

fn open_plain(paths: &SessionPaths) -> File {
    OpenOptions::new().append(true).create(true).open(paths.history()).expect("the history can be opened")
}

/// The reference: it opens the file for each event and writes its line at once.
#[test]
fn reference() {
    run(|paths| {
        let paths = paths.clone();
        Box::new(move |line, _| open_plain(&paths).write_all(line).expect("it can be written"))
    });
}

/// A program whose write reaches the file in two parts.
#[test]
fn slow_reference() {
    run(|paths| {
        let paths = paths.clone();
        Box::new(move |line, _| {
            let mut file = open_plain(&paths);
            let (first, second) = line.split_at(line.len() / 2);
            file.write_all(first).expect("it can be written");
            thread::sleep(Duration::from_millis(1));
            file.write_all(second).expect("it can be written");
        })
    });
}

/// How often each racer's events are in the history, by name and number.
fn found(conversation: &Conversation) -> BTreeMap<String, BTreeMap<usize, usize>> {
    let mut found: BTreeMap<String, BTreeMap<usize, usize>> = BTreeMap::new();
    for message in &conversation.messages {
        let text = message.content.text();
        let mut words = text.split(' ');
        let name = words.next().expect("a text has a first word").to_owned();
        let n = words.next().and_then(|n| n.parse().ok()).expect("and a number");
        *found.entry(name).or_default().entry(n).or_default() += 1;
    }
    found
}

fn assert_each_once(found: &BTreeMap<String, BTreeMap<usize, usize>>, name: &str, count: usize) {
    let expected: BTreeMap<usize, usize> = (0..count).map(|n| (n, 1)).collect();
    assert!(count > 10, "{name} has run");
    assert_eq!(found.get(name), Some(&expected), "{name}");
}

#[test]
fn h09_i23_racing_appends_of_ours_and_of_the_reference_interleave_by_whole_lines() {
    let session = Session::new();
    let counts = race(
        &session,
        &[
            Racer { name: "ours", part: "history_race::appender", size: "100000" },
            Racer { name: "durable", part: "history_race::durable_appender", size: "100000" },
            Racer { name: "theirs", part: "history_race::reference", size: "4000000" },
        ],
    );
    let conversation = session.load();
    assert_eq!(conversation.defects, []);
    let found = found(&conversation);
    counts.iter().for_each(|(name, &count)| assert_each_once(&found, name, count));
    // The reference loads it too: each line is whole JSON or blank, and shorter than its limit.
    for line in session.bytes().split(|&byte| byte == b'\n') {
        assert!(line.trim_ascii().is_empty() || serde_json::from_slice::<serde_json::Value>(line).is_ok());
    }
    assert_eq!(session.quarantined(), [] as [Vec<u8>; 0], "a write in flight is no torn one");
}

#[test]
fn beside_a_writer_in_two_parts_no_event_of_anybody_else_is_lost() {
    let session = Session::new();
    let counts = race(
        &session,
        &[
            Racer { name: "ours", part: "history_race::appender", size: "1000" },
            Racer { name: "also", part: "history_race::appender", size: "1000" },
            Racer { name: "theirs", part: "history_race::reference", size: "1000" },
            Racer { name: "slow", part: "history_race::slow_reference", size: "1000" },
        ],
    );
    let found = found(&session.load());
    for name in ["ours", "also", "theirs"] {
        assert_each_once(&found, name, counts[name]);
    }
    assert!(found.get("slow").is_none_or(|events| events.values().all(|&times| times == 1)));
}

#[test]
fn a_reader_beside_writers_never_fails_and_sees_no_less_than_before() {
    let session = Session::new();
    let dir = session.paths.dir().display().to_string();
    let length_ms = length().as_millis().to_string();
    let report = session.base().join("report").display().to_string();
    let task = [&*dir, "ours", &*report, &*length_ms, "500000"];
    let mut writer = Running::start(child::command("history_race::appender", &task));
    let end = Instant::now() + length();
    let mut seen = 0;
    while Instant::now() < end {
        let view = HistoryView::open(&session.paths, Limits::default()).expect("it can be opened");
        let now = view.count().expect("it can be read").messages;
        assert!(now >= seen);
        seen = now;
        let last = view.last_messages(1).expect("it can be read").messages.len() as u64;
        assert_eq!(last, now.min(1));
    }
    assert!(writer.wait().success());
    assert!(seen > 10);
}

#[test]
fn killed_at_any_moment_a_writer_loses_nothing_that_it_was_told_is_there() {
    let session = Session::new();
    let dir = session.paths.dir().display().to_string();
    let mut before = 0;
    for round in 0..12_u64 {
        let name = format!("writer{round}");
        let report = session.base().join(&name);
        let task = [&*dir, &*name, &*report.display().to_string(), "600000", "3000000"];
        let mut writer = Running::start(child::command("history_race::appender", &task));
        let limit = Instant::now() + Duration::from_secs(60);
        // As soon as it works, and then at some moment: that of the next long line, in most rounds.
        while !report.exists() || lines(&report) < 8 + usize::try_from(round).expect("it is small") {
            assert!(Instant::now() < limit, "the writer does not work");
            thread::yield_now();
        }
        writer.kill();
        let told = lines(&report);
        session.append(&[said(&format!("next {round}"))]).expect("it can be written");
        let conversation = session.load();
        assert_eq!(conversation.defects, [], "round {round}");
        let found = found(&conversation);
        let events = &found[&name];
        // What was being written when it died may be there, and need not.
        assert!(events.len() == told || events.len() == told + 1, "round {round}: {told} told");
        assert!(events.iter().enumerate().all(|(n, (&number, &times))| n == number && times == 1), "round {round}");
        let now: usize = found.values().map(BTreeMap::len).sum();
        assert_eq!(now, before + events.len() + 1, "round {round}");
        before = now;
    }
}

#[test]
fn a_child_of_a_writer_does_not_keep_its_lock() {
    let session = Session::new();
    let mut history = session.history();
    history.append(&[said("a")], Vec::new).expect("it can be written");
    let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().expect("there is a sleep");
    session.append(&[said("b")]).expect("nobody has the lock");
    history.append(&[said("c")], Vec::new).expect("nobody has the lock");
    sleeper.kill().expect("it sleeps");
    sleeper.wait().expect("it was killed");
    assert_eq!(session.texts(), ["a", "b", "c"]);
}
