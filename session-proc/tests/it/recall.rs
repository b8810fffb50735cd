//! What is told of long runs and long outputs, and of logs that are not the ones they were.

use crate::support::{Job, Session, eventually};
use chrono::{TimeDelta, Utc};
use session_proc::{EventKind, OUTPUT_BYTES, Start, Until, Waited};
use std::time::Duration;

fn texts(session: &Session) -> Vec<String> {
    session.registry.events().expect("readable").into_iter().map(|event| event.text).collect()
}

fn matched(session: &Session) -> Vec<String> {
    let events = session.registry.events().expect("readable").into_iter();
    let lines = events.filter_map(|event| match event.kind {
        EventKind::Matched { lines, .. } => Some(lines),
        _ => None,
    });
    lines.flatten().collect()
}

/// Makes a running process look as if it had been started so long ago.
fn put_running(session: &Session, job: &Job, ago: TimeDelta, watch: &serde_json::Value) {
    let started = session_core::format_time(&(Utc::now() - ago).fixed_offset());
    let record = format!(
        r#"{{"id":"bg1","command":"c","cwd":".","pid":{},"started":"{started}","state":"running"}}"#,
        job.pid()
    );
    let process = serde_json::to_value(job.identity()).expect("it serializes");
    session.put(".bg1.id", &serde_json::json!({ "process": process, "watch": watch }).to_string());
    session.put("bg1.json", &record);
}

#[test]
fn how_long_it_has_been_running_is_told_in_units_that_fit() {
    let job = Job::idle();
    let (seconds, minutes, hours) = (TimeDelta::seconds(1), TimeDelta::minutes(1), TimeDelta::hours(1));
    for (ago, told) in [
        (seconds * 30, "30 s"),
        (minutes * 5 + seconds * 30, "5 min 30 s"),
        (hours * 2 + minutes * 7 + seconds * 30, "2 h 7 min"),
        (hours * 50 + seconds * 30, "50 h 0 min"),
    ] {
        let session = Session::unsupervised();
        put_running(&session, &job, ago, &serde_json::json!({ "remind_every_s": 0 }));
        let text = texts(&session).remove(0);
        // Some seconds may pass between the writing and the look.
        let seconds = text.replace("31 s", "30 s").replace("32 s", "30 s");
        assert_eq!(seconds, format!("Background process bg1 has been running for {told}."));
    }
}

#[test]
fn reminders_can_be_asked_for_with_the_start() {
    let session = Session::supervised();
    for (id, every_s) in [("bg1", 0), ("bg2", 3600)] {
        let start = Start::new("sleep 600", session.cwd()).remind_every_s(every_s);
        assert_eq!(session.registry.start(&start).expect("it starts").id.as_str(), id);
    }
    for _ in 0..2 {
        let events = session.registry.events().expect("readable");
        let told: Vec<_> = events.iter().map(|event| (event.id.as_str(), &event.kind)).collect();
        assert_eq!(told, [("bg1", &EventKind::StillRunning)]);
    }
}

#[test]
fn of_much_output_the_end_is_told_under_a_line_that_says_how_much_is_left_out() {
    let session = Session::supervised();
    let status = session.run("seq 1 100000");
    let len = std::fs::metadata(session.registry.log_path(&status.id)).expect("it is there").len();
    let text = texts(&session).remove(0);
    let skipped = len - OUTPUT_BYTES as u64;
    let head =
        format!("Background process bg1 exited with status 0.\nIts last output:\n[{skipped} earlier bytes skipped]\n");
    assert!(text.starts_with(&head) && text.ends_with("\n100000\n"), "{:?}", text.get(..120));
    assert_eq!(text.len() - head.len(), OUTPUT_BYTES);
}

#[test]
fn a_log_that_is_replaced_by_a_shorter_one_is_searched_from_its_beginning() {
    let (session, job) = (Session::unsupervised(), Job::idle());
    put_running(&session, &job, TimeDelta::seconds(1), &serde_json::json!({ "pattern": "^listening on \\d" }));
    session.put("bg1.log", "some noise before it\nlistening on 80");
    assert_eq!(matched(&session), ["listening on 80"]);
    assert_eq!(matched(&session), [] as [&str; 0]);
    // Its line starts before the place where the other one's did, and has not been told.
    session.put("bg1.log", "listening on 9");
    assert_eq!(matched(&session), ["listening on 9"]);
    session.put("bg1.log", "");
    assert_eq!(matched(&session), [] as [&str; 0]);
    session.put("bg1.log", "listening on 7, and on many more than the one before");
    assert_eq!(matched(&session), ["listening on 7, and on many more than the one before"]);
}

#[test]
fn a_log_that_was_emptied_is_searched_from_its_beginning_however_long_it_has_become() {
    let (session, job) = (Session::unsupervised(), Job::idle());
    put_running(&session, &job, TimeDelta::seconds(1), &serde_json::json!({ "pattern": "^listening on \\d" }));
    session.put("bg1.log", "some noise before it\n");
    assert_eq!(matched(&session), [] as [&str; 0]);
    session.put("bg1.log", "");
    assert_eq!(matched(&session), [] as [&str; 0]);
    session.put("bg1.log", "listening on 80 and on more\n");
    assert_eq!(matched(&session), ["listening on 80 and on more"]);
}

#[test]
fn who_waits_for_a_line_finds_it_in_the_log_that_took_the_place_of_a_longer_one() {
    let (session, job) = (Session::unsupervised(), Job::idle());
    put_running(&session, &job, TimeDelta::seconds(1), &serde_json::json!({}));
    session.put("bg1.log", "some noise before it\nand more\n");
    let id = "bg1".parse().expect("an id");
    let until = Until::Match { pattern: "^ready$".to_owned(), from: 0 };
    let waited = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| session.registry.wait(&id, &until, Some(Duration::from_secs(30))));
        // Long enough for the first search; where it comes later, there is less to find out.
        std::thread::sleep(Duration::from_millis(100));
        session.put("bg1.log", "ready\n");
        waiting.join().expect("it does not panic").expect("it can be waited for")
    });
    assert!(matches!(&waited, Waited::Matched { line, .. } if line == "ready"), "{waited:?}");
}

#[test]
fn a_line_that_was_told_and_then_cut_out_of_the_log_hides_no_line_after_it() {
    let session = Session::unsupervised();
    session.gates(2);
    // The open line stands behind the head that a cut keeps.
    let script = "head -c 9000 /dev/zero | tr '\\0' '\\n'; printf ready; read x <go1; seq 1 20000; read x <go2";
    let start = Start::new(script, session.cwd()).log_cap_bytes(16 * 1024).tell_matches("^(ready|[0-9]+)$");
    session.registry.start(&start).expect("it starts");
    eventually("it is ready", || session.text("bg1.log").expect("a log").ends_with("ready"));
    assert_eq!(matched(&session), ["ready"]);
    session.go(1);
    eventually("it has counted", || session.text("bg1.log").expect("a log").ends_with("\n20000\n"));
    let events = session.registry.events().expect("readable");
    let EventKind::Matched { lines, more } = &events[0].kind else { panic!("{events:?}") };
    let log = session.text("bg1.log").expect("a log");
    let (_, kept) = log.split_once("bytes of output are not kept]\n").expect("it was cut");
    assert_eq!(lines[..], kept.lines().take(20).collect::<Vec<_>>());
    assert_eq!(lines.len() as u64 + more, kept.lines().count() as u64);
    let told = format!("[{more} more lines matched]");
    assert!(events[0].text.ends_with(&told), "{}", events[0].text);
}
