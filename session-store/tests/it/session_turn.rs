//! A session in use: appends, turns, and what they leave behind.

use super::process::Player;
use session_core::{Event, Extension, Item, Message, SessionName, TurnPhase, Usage, parse_time};
use session_disk::faults::{self, Fault};
use session_proc::{Lifetime, Start, State, Stop, Which};
use session_store::{Drained, InboxMessage, NewSession, PreviewSize, Session, Store, StoreError, USER_LINE};
use std::fs;
use std::thread;
use tempfile::TempDir;

pub(crate) fn session() -> (TempDir, Store, Session) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let session = store.create(&NewSession::default()).expect("it can be created");
    (dir, store, session)
}

pub(crate) fn events(session: &Session) -> Vec<Event> {
    let view = session.view().expect("it can be read");
    let items = view.forwards().map(|item| item.expect("it can be read"));
    items
        .map(|item| match item {
            Item::Record(record) => *record.event,
            Item::Defect(defect) => panic!("{defect:?}"),
        })
        .collect()
}

pub(crate) fn kinds(session: &Session) -> Vec<String> {
    events(session).iter().map(|event| event.kind.to_string()).collect()
}

fn usage() -> Event {
    let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
    Extension::Usage(Usage { model: "oak".into(), cost: Some(0.5), ..Usage::default() }).into_event(ts)
}

#[test]
fn an_empty_session_has_no_history() {
    let (_dir, store, session) = session();
    assert_eq!(session.load().expect("it can be read").messages, []);
    assert!(!session.paths().history().exists());
    let name: SessionName = session.name().parse().expect("it is a name");
    assert_eq!((store.exists(&name), store.has_history(&name)), (true, false));
    assert_eq!(session.append(&[]).expect("it is nothing").events, 0);
    assert!(!session.paths().history().exists());
}

#[test]
fn events_of_ours_do_not_begin_a_history_and_are_written_with_the_one_that_does() {
    let (_dir, store, session) = session();
    let waits = session.append(&[usage()]).expect("it can wait");
    assert_eq!((waits.events, waits.waiting), (0, 1));
    assert!(!session.paths().history().exists());
    let appended = session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    assert_eq!(kinds(&session), ["x.session", "x.usage", "message"]);
    let bytes = fs::read(session.paths().history()).expect("it is there");
    let own = &bytes[usize::try_from(appended.offset).expect("it is small")..];
    assert_eq!((appended.events, appended.waiting, appended.bytes), (1, 0, own.len() as u64));
    assert!(own.starts_with(b"{\"ts\":\"") && own.ends_with(b"plant three oaks\"}}\n"));
    session.append(&[usage()]).expect("it can be appended to");
    assert_eq!(kinds(&session).len(), 4);
    assert!(store.has_history(&session.name().parse().expect("it is a name")));
}

#[test]
fn a_history_that_another_program_began_gets_no_first_line() {
    let (_dir, _store, session) = session();
    let theirs = "{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"notice\",\"text\":\"theirs\"}\n";
    fs::write(session.paths().history(), theirs).expect("it can be written");
    session.notice("ours").expect("it can be appended to");
    assert_eq!(kinds(&session), ["notice", "notice"]);
}

#[test]
fn a_turn_is_marked_and_told() {
    let (_dir, _store, session) = session();
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    let marker = session.paths().proc().join("turn.pid");
    assert_eq!(fs::read_to_string(&marker).expect("it is there"), format!("{}\n", std::process::id()));
    let again = session.begin_turn(&lock, "t2").expect_err("one runs");
    assert!(matches!(again, StoreError::LiveTurn { .. }), "{again}");
    session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    turn.end("done", Some(3)).expect("it can be ended");
    assert!(!marker.exists() && !session.paths().proc().join(".turn").exists());
    let marks: Vec<_> = events(&session)
        .iter()
        .filter_map(|event| match event.extension() {
            Some(Extension::Turn(mark)) => Some((mark.id, mark.phase, mark.outcome, mark.checkpoint)),
            _ => None,
        })
        .collect();
    assert_eq!(
        marks,
        [("t1".into(), TurnPhase::Start, String::new(), None), ("t1".into(), TurnPhase::End, "done".into(), Some(3))]
    );
}

#[test]
fn an_empty_turn_leaves_nothing() {
    let (_dir, _store, session) = session();
    let lock = session.lock().expect("nobody has it");
    session.begin_turn(&lock, "t1").expect("none runs").end("done", None).expect("it can be ended");
    drop(session.begin_turn(&lock, "t2").expect("none runs"));
    assert!(!session.paths().history().exists());
    session.notice("later").expect("it can be appended to");
    assert_eq!(kinds(&session), ["x.session", "notice"]);
}

/// The turns that a history tells of: id, which end, and how it ended.
pub(crate) fn turns(session: &Session) -> Vec<(String, TurnPhase, String)> {
    let mark = |event: &Event| match event.extension() {
        Some(Extension::Turn(mark)) => Some((mark.id, mark.phase, mark.outcome)),
        _ => None,
    };
    events(session).iter().filter_map(mark).collect()
}

#[test]
fn whoever_appends_first_says_that_the_turn_has_started_and_nobody_else_does() {
    let (_dir, store, session) = session();
    let name: SessionName = session.name().parse().expect("it is a name");
    for n in 0..20 {
        let lock = session.lock().expect("nobody has it");
        let turn = session.begin_turn(&lock, &format!("t{n}")).expect("none runs");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| store.open(&name).expect("it opens").notice("here").expect("it can be appended to"));
            }
        });
        session.notice("there").expect("it can be appended to");
        turn.end("done", None).expect("it can be ended");
        lock.release().expect("it is held");
        session.notice("between").expect("it can be appended to");
    }
    let wanted = (0..20).flat_map(|n| {
        [(format!("t{n}"), TurnPhase::Start, String::new()), (format!("t{n}"), TurnPhase::End, "done".to_owned())]
    });
    assert_eq!(turns(&session), wanted.collect::<Vec<_>>());
    assert_eq!(kinds(&session)[..3], ["x.session", "x.turn", "notice"]);
    let last = kinds(&session).len();
    assert_eq!(kinds(&session)[last - 2..], ["x.turn", "notice"], "what comes after a turn is not of it");
}

#[test]
fn h22_a_start_whose_write_failed_is_written_with_the_next_append() {
    let (_dir, _store, session) = session();
    session.notice("before").expect("it can be appended to");
    let lock = session.lock().expect("nobody has it");
    for at in 0.. {
        let turn = session.begin_turn(&lock, &format!("t{at}")).expect("none runs");
        let before = turns(&session).len();
        let run = faults::with(Fault::Fail { at }, || session.notice("here").map(drop));
        if run.result.is_err() {
            assert_eq!(turns(&session).len(), before, "{:?}", run.ops);
            session.notice("again").expect("it can be appended to");
        }
        let told = turns(&session);
        assert_eq!((told.len(), &*told[before].0), (before + 1, &*format!("t{at}")), "{:?}", run.ops);
        turn.end("done", None).expect("it can be ended");
        if !run.hit {
            assert!(at > 1);
            break;
        }
    }
}

#[test]
fn what_ends_with_the_turn_is_stopped_and_the_rest_runs_on() {
    let (dir, _store, session) = session();
    let registry = session.registry().expect("it is no link");
    let start = |lifetime| {
        let start = Start::new("exec sleep 600", dir.path()).lifetime(lifetime);
        registry.start(&start).expect("it starts").id
    };
    let before = start(Lifetime::Ephemeral);
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    let (ends, stays) = (start(Lifetime::Ephemeral), start(Lifetime::Persistent));
    let stopped = turn.end("done", None).expect("it can be ended").stopped;
    assert_eq!(stopped.iter().map(|stopped| &stopped.id).collect::<Vec<_>>(), [&ends]);
    let state = |id| registry.look(id).expect("recorded").state;
    assert_eq!([state(&before), state(&ends), state(&stays)], [State::Running, State::Killed, State::Running]);
    assert!(!session.paths().history().exists(), "starting something is no event");
    registry.stop_all(Which::All, &Stop::default()).expect("it can be stopped");
}

#[test]
fn a_marker_that_the_reference_removed_is_put_back_by_the_next_append() {
    let (_dir, _store, session) = session();
    let lock = session.lock().expect("nobody has it");
    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    let marker = session.paths().proc().join("turn.pid");
    fs::remove_file(&marker).expect("it is there");
    session.notice("here").expect("it can be appended to");
    assert!(marker.exists());
    turn.end("done", None).expect("it can be ended");
    session.notice("after").expect("it can be appended to");
    assert!(!marker.exists());
}

#[test]
fn a_turn_needs_the_lock_of_its_own_session() {
    let (_dir, store, session) = session();
    let other = store.create(&NewSession::default()).expect("it can be created");
    let lock = other.lock().expect("nobody has it");
    assert!(matches!(session.begin_turn(&lock, "t1"), Err(StoreError::NotLocked { .. })));
    let name: SessionName = session.name().parse().expect("it is a name");
    let lock = store.lock(&name).expect("nobody has it");
    session.begin_turn(&lock, "t1").expect("none runs").end("done", None).expect("it can be ended");
}

#[test]
fn an_append_under_a_lock_that_was_lost_writes_nothing() {
    let (_dir, _store, session) = session();
    let _lock = session.lock().expect("nobody has it");
    session.notice("here").expect("it can be appended to");
    let before = fs::read(session.paths().history()).expect("it is there");
    fs::remove_file(session.paths().lock()).expect("it is there");
    session.notice("retaken").expect("nobody else took it");
    fs::remove_file(session.paths().lock()).expect("it is there");
    let mut thief = Player::start("reference holds", session.dir(), "");
    assert_eq!(thief.hears(), "held");
    assert!(matches!(session.notice("lost"), Err(StoreError::LockLost { .. })));
    let after = fs::read_to_string(session.paths().history()).expect("it is there");
    assert!(after.as_bytes().starts_with(&before) && after.contains("retaken") && !after.contains("lost"));
}

#[test]
fn the_time_of_the_last_change_is_written_at_once_and_when_the_session_is_closed() {
    let (_dir, store, session) = session();
    let name: SessionName = session.name().parse().expect("it is a name");
    let updated = || store.read_meta(&name).expect("it can be read").meta.updated;
    let created = updated();
    session.notice("first").expect("it can be appended to");
    let first = updated();
    assert!(first > created);
    for n in 0..50 {
        session.notice(n.to_string()).expect("it can be appended to");
    }
    session.close().expect("it can be closed");
    let last = updated();
    assert!(last > first);
    drop(store.open(&name).expect("it opens"));
    assert_eq!(updated(), last, "opening and closing is no change");
}

#[test]
fn several_threads_append_through_one_session() {
    let (_dir, _store, session) = session();
    thread::scope(|scope| {
        for thread in 0..4 {
            let session = &session;
            scope.spawn(move || {
                for n in 0..25 {
                    session.notice(format!("{thread}/{n}")).expect("it can be appended to");
                }
            });
        }
    });
    let events = events(&session);
    assert_eq!(events.len(), 101, "the first line, and theirs");
}

#[test]
fn an_inbox_is_drained_by_who_may() {
    let (_dir, store, session) = session();
    let deliver = |text: &str| {
        session.inbox().deliver(&InboxMessage::now(USER_LINE, text)).expect("it can be delivered");
    };
    let texts = |drained: Drained| -> Vec<String> {
        drained.messages.into_iter().map(|claimed| claimed.message.text).collect()
    };
    deliver("use tabs");
    assert_eq!(texts(session.drain_inbox().expect("no turn is live")), ["use tabs"]);

    let name: SessionName = session.name().parse().expect("it is a name");
    let lock = session.lock().expect("the drain gave it back");
    deliver("or spaces");
    let other = store.open(&name).expect("it opens");
    assert!(matches!(other.drain_inbox(), Err(StoreError::Locked { .. })), "another handle holds the lock");
    assert_eq!(texts(session.drain_inbox().expect("it holds the lock")), ["or spaces"]);

    let turn = session.begin_turn(&lock, "t1").expect("none runs");
    deliver("or both");
    assert_eq!(texts(other.drain_inbox().expect("it is of the turn's process")), ["or both"]);
    turn.end("done", None).expect("it can be ended");
}

#[test]
fn spilled_output_stands_in_the_session() {
    let (_dir, _store, session) = session();
    let spilled = session.spill().bytes("build", b"much output", PreviewSize::default()).expect("it can be written");
    assert_eq!(fs::read(session.dir().join(spilled.in_session())).expect("it is there"), b"much output");
}
