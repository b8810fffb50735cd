//! Appending.

use crate::support::{Session, files, line, quick, said, texts, ts};
use session_core::{Content, Event, Extension, Kind, Message, Parts, Role, SessionHeader, layout};
use session_store::{History, HistoryView, LongLines, Options, StoreError};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const U1: &str =
    r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}"#;

fn header() -> Vec<Event> {
    vec![Extension::Session(SessionHeader { format: 1, name: "demo".into(), ..Default::default() }).into_event(ts())]
}

#[test]
fn the_first_append_creates_the_history_with_its_first_lines() {
    let session = Session::new();
    let mut history = session.history_with(Options::default());
    let appended = history.append(&[said("a"), said("b")], header).expect("it can be written");
    let first = line(&header()[0]);
    let lines = [line(&said("a")), line(&said("b"))].concat();
    assert_eq!(session.bytes(), [first.clone(), lines.clone()].concat());
    assert_eq!((appended.events, appended.offset), (2, first.len() as u64));
    assert_eq!(appended.bytes, lines.len() as u64);
    assert!(appended.isolated.is_empty());

    let again = history.append(&[said("c")], || unreachable!("there is a history")).expect("it can be written");
    assert_eq!(again.offset, (first.len() + lines.len()) as u64);
    assert_eq!(session.texts(), ["a", "b", "c"]);
    assert_eq!(fs::metadata(session.paths.history()).expect("it is there").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_history_of_another_that_is_empty_gets_the_first_lines_too() {
    let session = Session::with_history(b"");
    session.history().append(&[said("a")], header).expect("it can be written");
    assert_eq!(session.bytes(), [line(&header()[0]), line(&said("a"))].concat());
}

#[test]
fn nothing_is_created_for_no_events() {
    let session = Session::new();
    let appended = session.history().append(&[], header).expect("there is nothing to do");
    assert_eq!(appended.events, 0);
    assert!(files(session.paths.dir()).is_empty());
}

#[test]
fn h01_i24_a_torn_last_line_is_isolated_and_quarantined() {
    let emoji = r#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"木"#;
    let stubs: [&[u8]; 5] = [
        &U1.as_bytes()[..40],
        &emoji.as_bytes()[..emoji.len() - 1],
        br#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"\uD8"#,
        b"{",
        b"\0\0\0\0\0\0\0\0",
    ];
    for stub in stubs {
        let before = [U1.as_bytes(), b"\n"].concat();
        let session = Session::with_history(&[&before[..], stub].concat());
        let mut appended = session.append(&[said("next")]).expect("it can be written");
        assert_eq!(session.texts(), ["plant three oaks", "next"]);
        assert_eq!(session.load().defects, []);
        let isolated = appended.isolated.pop().expect("the stub was isolated");
        assert_eq!((isolated.offset, isolated.len), (before.len() as u64, stub.len() as u64));
        let kept = isolated.quarantine.expect("there is room for the copy");
        assert_eq!(fs::read(&kept).expect("the copy is there"), stub);
        assert_eq!(fs::metadata(&kept).expect("the copy is there").permissions().mode() & 0o777, 0o600);
        let expected = [&before[..], &vec![b' '; stub.len()], b"\n", &line(&said("next"))].concat();
        assert_eq!(session.bytes(), expected);
    }
}

#[test]
fn a_long_stub_is_blanked_with_a_newline_every_4096_bytes() {
    let stub = [&U1.as_bytes()[..60], &vec![b'x'; 700_000][..]].concat();
    let session = Session::with_history(&stub);
    let appended = session.append(&[said("next")]).expect("it can be written");
    assert_eq!(appended.isolated.len(), 1);
    assert_eq!(session.quarantined(), std::slice::from_ref(&stub));
    let blanked = &session.bytes()[..stub.len()];
    for (at, &byte) in blanked.iter().enumerate() {
        assert_eq!(byte, if at % 4096 == 4095 { b'\n' } else { b' ' }, "byte {at}");
    }
    assert_eq!(session.texts(), ["next"]);
}

#[test]
fn whole_json_without_a_newline_is_an_event_and_is_left_alone() {
    let session = Session::with_history(U1.as_bytes());
    let appended = session.append(&[said("next")]).expect("it can be written");
    assert!(appended.isolated.is_empty());
    assert_eq!(session.bytes(), [U1.as_bytes(), b"\n", &line(&said("next"))].concat());
    assert_eq!(session.quarantined(), [] as [Vec<u8>; 0]);
}

#[test]
fn of_a_torn_line_with_an_event_glued_to_it_only_the_torn_part_goes() {
    let glued = [&U1.as_bytes()[..40], U1.as_bytes()].concat();
    let session = Session::with_history(&glued);
    session.append(&[said("next")]).expect("it can be written");
    assert_eq!(session.quarantined(), [U1.as_bytes()[..40].to_vec()]);
    assert_eq!(session.texts(), ["plant three oaks", "next"]);
    assert_eq!(session.load().defects, []);
}

#[test]
fn h01_a_stub_that_another_left_since_the_last_append_through_the_same_value_is_isolated() {
    let session = Session::new();
    let mut history = session.history();
    history.append(&[said("a")], Vec::new).expect("it can be written");
    let stub = &U1.as_bytes()[..40];
    session.write(&[&session.bytes()[..], stub].concat());
    history.append(&[said("b")], Vec::new).expect("it can be written");
    assert_eq!(session.bytes(), [&line(&said("a"))[..], &[b' '; 40], b"\n", &line(&said("b"))].concat());
    assert_eq!(session.quarantined(), [stub.to_vec()]);
}

#[test]
fn an_unterminated_line_that_stays_as_it_is_belongs_to_what_is_read() {
    let session = Session::with_history(U1.as_bytes());
    let conversation = session.load();
    assert_eq!(texts(&conversation), ["plant three oaks"]);
    assert!(conversation.is_complete() && conversation.defects.len() == 1);

    session.write(&U1.as_bytes()[..40]);
    let conversation = session.load();
    assert!(!conversation.is_complete() && conversation.defects.len() == 1);
}

#[test]
fn an_unterminated_line_that_grows_is_left_out_and_is_no_defect() {
    let session = Session::with_history(&[U1.as_bytes(), b"\n", &U1.as_bytes()[..40]].concat());
    let (stop, stopped) = mpsc::channel::<()>();
    let path = session.paths.history();
    let writer = thread::spawn(move || {
        let mut file = fs::OpenOptions::new().append(true).open(path).expect("it is there");
        while stopped.recv_timeout(Duration::from_millis(1)) == Err(mpsc::RecvTimeoutError::Timeout) {
            file.write_all(b"x").expect("it can be written");
        }
    });
    // The writer may be kept waiting for 20 ms now and then, but not always.
    let limit = Instant::now() + Duration::from_secs(60);
    let conversation = loop {
        let conversation = session.load();
        if conversation.defects.is_empty() || Instant::now() > limit {
            break conversation;
        }
    };
    drop(stop);
    writer.join().expect("the writer does not fail");
    assert_eq!(conversation.defects, []);
    assert_eq!(texts(&conversation), ["plant three oaks"]);
}

#[test]
fn h04_what_is_odd_elsewhere_is_left_as_it_is() {
    let before = [b"\x01", U1.as_bytes(), b"\n{\"ts\":\n\0\0\0\n", U1.as_bytes(), b"\n"].concat();
    let session = Session::with_history(&before);
    let inode = fs::metadata(session.paths.history()).expect("it is there").ino();
    session.append(&[said("next")]).expect("it can be written");
    assert_eq!(session.bytes(), [&before[..], &line(&said("next"))].concat());
    assert_eq!(fs::metadata(session.paths.history()).expect("it is there").ino(), inode);
    assert_eq!(session.texts(), ["plant three oaks", "plant three oaks", "next"]);
}

#[test]
fn h02_reading_goes_on_behind_a_bad_line() {
    let session = Session::with_history(&[U1, "{\"ts\":", U1, ""].join("\n").into_bytes());
    let conversation = session.load();
    assert_eq!(texts(&conversation), ["plant three oaks", "plant three oaks"]);
    assert!(!conversation.is_complete());
    assert_eq!(conversation.defects.iter().map(|defect| defect.place.line).collect::<Vec<_>>(), [Some(2)]);
}

#[test]
fn ls07_an_append_to_a_deleted_session_fails_and_creates_nothing() {
    let session = Session::new();
    let mut open = session.history();
    let mut unused = session.history();
    open.append(&[said("a")], Vec::new).expect("it can be written");
    fs::remove_dir_all(session.paths.dir()).expect("it is there");
    for history in [&mut open, &mut unused] {
        let error = history.append(&[said("b")], Vec::new).expect_err("the session is gone");
        assert!(matches!(error, StoreError::Deleted { ref name, .. } if name == "demo"), "{error}");
    }
    assert!(files(session.base()).is_empty());

    // One that was made anew under the same name is another session.
    fs::create_dir(session.paths.dir()).expect("the name is free");
    session.append(&[said("new")]).expect("it can be written");
    let before = session.bytes();
    for history in [&mut open, &mut unused] {
        let error = history.append(&[said("b")], Vec::new).expect_err("the session is gone");
        assert!(matches!(error, StoreError::Deleted { .. }), "{error}");
    }
    assert_eq!(session.bytes(), before);
}

#[test]
fn a_history_that_was_removed_is_not_created_again() {
    let session = Session::new();
    let mut history = session.history();
    history.append(&[said("a")], Vec::new).expect("it can be written");
    fs::remove_file(session.paths.history()).expect("it is there");
    let error = history.append(&[said("b")], Vec::new).expect_err("the history is gone");
    assert!(matches!(error, StoreError::Deleted { .. }), "{error}");
    assert!(files(session.paths.dir()).is_empty());
}

#[test]
fn a_history_that_was_repaired_meanwhile_is_opened_again() {
    let session = Session::new();
    let mut history = session.history();
    history.append(&[said("a")], Vec::new).expect("it can be written");
    let repaired = session.paths.dir().join(".repaired");
    fs::write(&repaired, line(&said("repaired"))).expect("there is room");
    fs::rename(&repaired, session.paths.history()).expect("it can be replaced");
    history.append(&[said("b")], Vec::new).expect("it can be written");
    assert_eq!(session.texts(), ["repaired", "b"]);
}

#[test]
fn h06_a_line_that_the_reference_cannot_read_is_refused_before_anything_is_written() {
    let session = Session::new();
    let frame = line(&said("")).len() - 1 + r#","content":"""#.len();
    let fits = said(&"a".repeat(usize::try_from(layout::MAX_REFERENCE_LINE).expect("it fits") - 1 - frame));
    assert_eq!(line(&fits).len() as u64, layout::MAX_REFERENCE_LINE);
    session.append(std::slice::from_ref(&fits)).expect("this one can be read");
    let before = session.bytes();
    let long = said(&"a".repeat(usize::try_from(layout::MAX_REFERENCE_LINE).expect("it fits") - frame));
    let error = session.append(&[said("first"), long.clone()]).expect_err("the line is too long");
    let StoreError::LineTooLong { event, bytes, limit, .. } = error else { panic!("{error}") };
    assert_eq!((event, bytes, limit), (1, layout::MAX_REFERENCE_LINE, layout::MAX_REFERENCE_LINE));
    assert_eq!(session.bytes(), before);

    let options = Options { long_lines: LongLines::Write, ..quick() };
    session.history_with(options).append(&[long], Vec::new).expect("it is asked for");
    assert_eq!(session.load().messages.len(), 2);
}

#[test]
fn h03_a_history_of_a_newer_format_is_read_and_not_written() {
    let newer = [r#"{"ts":"2026-01-02T03:04:05Z","kind":"x.session","x":{"format":2}}"#, U1, ""].join("\n");
    // Blank lines in front change nothing, and a format that is no number is beyond any.
    let odd = format!("\u{feff}{newer}");
    for history in [newer.clone(), odd, format!("  \n{newer}"), newer.replace(":2}", ":\"2026-b\"}")] {
        let session = Session::with_history(history.as_bytes());
        let error = session.append(&[said("a")]).expect_err("the format is newer");
        assert!(matches!(error, StoreError::NewerFormat { format, .. } if format >= 2), "{error}");
        assert_eq!(session.bytes(), history.as_bytes());
        assert_eq!(session.texts(), ["plant three oaks"]);
    }
}

/// What says nothing at the start of a history, each more than any buffer holds: what is left of a first append that
/// failed, and what others have left.
fn nothings() -> [Vec<u8>; 5] {
    let blank = [" ".repeat(4095), "\n".into()].concat().repeat(18);
    let all = [blank.as_str(), "\u{a0}\n", "null\n", "\0\0\n"].concat();
    [blank, "\u{a0}\n".into(), " null \n".into(), "\0\0\n".into(), all].map(String::into_bytes)
}

#[test]
fn h03_a_newer_format_is_found_behind_all_that_says_nothing() {
    let newer = [r#"{"ts":"2026-01-02T03:04:05Z","kind":"x.session","x":{"format":2}}"#, U1, ""].join("\n");
    for before in nothings() {
        let history = [before, newer.clone().into_bytes()].concat();
        let session = Session::with_history(&history);
        let refused = session.append(&[said("a")]);
        assert!(matches!(refused, Err(StoreError::NewerFormat { format: 2, .. })), "{refused:?}");
        assert_eq!(session.bytes(), history);
    }
}

#[test]
fn a_history_in_which_nothing_is_said_gets_the_first_lines() {
    let stub = U1.as_bytes()[..40].to_vec();
    for before in nothings().into_iter().chain([b" ".to_vec(), b"\0".to_vec(), stub]) {
        let session = Session::with_history(&before);
        let mut history = session.history();
        history.append(&[said("a")], header).expect("it can be written");
        history.append(&[said("b")], || unreachable!("it has begun")).expect("it can be written");
        session.history().append(&[said("c")], || unreachable!("it has begun")).expect("it can be written");
        let view = HistoryView::open(&session.paths, Options::default().limits).expect("it can be read");
        let said = view.forwards().filter_map(|item| match item.expect("it can be read") {
            session_core::Item::Record(record) => Some(record.event.kind.as_str().to_owned()),
            session_core::Item::Defect(_) => None,
        });
        assert_eq!(said.collect::<Vec<_>>(), ["x.session", "message", "message", "message"], "{} bytes", before.len());
    }
}

#[test]
fn a_history_that_begins_with_a_line_that_gives_no_event_has_begun() {
    for before in ["not json\n", "[]\n", "{\"ts\":1}{\n"] {
        let session = Session::with_history(before.as_bytes());
        session.history().append(&[said("a")], || unreachable!("it has begun")).expect("it can be written");
        assert_eq!(session.bytes(), [before.as_bytes(), &line(&said("a"))].concat());
    }
}

#[test]
fn a_raw_newline_in_a_list_of_parts_does_not_end_the_line() {
    let session = Session::new();
    let parts = "[\n {\"type\":\"text\",\n\"text\":\"a\"} ]";
    let message = Message {
        role: Role::User,
        content: Content::Parts(Parts::new(parts).expect("it is a list")),
        ..Message::default()
    };
    session.append(&[Event::message(ts(), message), said("b")]).expect("it can be written");
    assert_eq!(session.texts(), ["a", "b"]);
    assert_eq!(session.load().defects, []);
}

#[test]
fn what_stands_in_the_place_of_a_history_is_an_error_and_never_blocks() {
    for make in [
        |path: &std::path::Path| fs::create_dir(path),
        |path: &std::path::Path| std::os::unix::fs::symlink("/dev/null", path),
        |path: &std::path::Path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).map_err(std::io::Error::from),
    ] {
        let session = Session::new();
        make(&session.paths.history()).expect("the name is free");
        let error = HistoryView::open(&session.paths, Default::default()).expect_err("it is no history");
        assert!(matches!(error, StoreError::Read { .. }), "{error}");
        session.append(&[said("a")]).expect_err("it is no history");
    }
}

#[test]
fn h23_a_missing_history_is_an_empty_conversation() {
    let session = Session::new();
    let view = HistoryView::open(&session.paths, Default::default()).expect("there is nothing to fail");
    assert!(!view.exists());
    assert_eq!(view.load().expect("there is nothing to fail"), Default::default());
    assert_eq!(view.last_model().expect("there is nothing to fail"), None);
    assert_eq!(view.count().expect("there is nothing to fail"), Default::default());
    assert!(files(session.paths.dir()).is_empty());
}

#[test]
fn the_end_is_found_from_the_end() {
    let session = Session::new();
    let mut events: Vec<Event> = (0..50).map(|n| said(&n.to_string())).collect();
    events.push(Event::settings(ts(), "larch", false, Vec::new()));
    events.push(Event::rollback(ts(), 2));
    session.append(&events).expect("it can be written");
    let view = HistoryView::open(&session.paths, Default::default()).expect("it is there");
    assert_eq!(texts(&view.last_messages(3).expect("it can be read")), ["45", "46", "47"]);
    assert_eq!(view.last_model().expect("it can be read").as_deref(), Some("larch"));
    assert_eq!(view.count().expect("it can be read").messages, 48);
    assert_eq!(view.forwards().count(), view.backwards().expect("it can be read").count());
    assert_eq!(view.last_report().expect("it can be read"), None);
    assert_eq!(view.live_events().expect("it can be read").events.len(), 52);
}

#[test]
fn an_unknown_kind_is_appended_as_it_is() {
    let session = Session::new();
    let event = Event::new(ts(), Kind::from("weather"));
    session.append(std::slice::from_ref(&event)).expect("it can be written");
    assert_eq!(session.bytes(), line(&event));
}

#[test]
fn two_values_on_one_history_see_each_others_appends() {
    let session = Session::new();
    let (mut a, mut b): (History, History) = (session.history(), session.history());
    for n in 0..10 {
        a.append(&[said(&format!("a{n}"))], header).expect("it can be written");
        b.append(&[said(&format!("b{n}"))], header).expect("it can be written");
    }
    assert_eq!(session.texts().len(), 20);
    let headers = session.bytes().windows(9).filter(|bytes| bytes == b"x.session").count();
    assert_eq!(headers, 1);
}
