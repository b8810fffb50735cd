//! Sending a message, its terms, what becomes of it, and the turn's side of it.

use crate::child::{self, Running};
use crate::inbox_claim::dead;
use crate::inbox_deliver::user_line;
use crate::parts;
use crate::support::{Session, files, ts};
use chrono::{TimeDelta, Utc};
use session_disk::faults::{self, Fault};
use session_proc::TurnMarker;
use session_store::{
    Access, Durability, Fate, InboxMessage, Options, Outcome, StoreError, Terms, USER_LINE, Unfit, Waited,
};
use std::ffi::OsStr;
use std::fs;
use std::thread;
use std::time::Duration;

const LONG: Option<Duration> = Some(Duration::from_secs(60));
const NONE: Option<Duration> = Some(Duration::ZERO);

fn open(scratch: &Session) -> session_store::Session {
    parts::open(scratch.paths.dir())
}

fn with(text: &str, terms: Terms) -> InboxMessage {
    InboxMessage { terms, ..InboxMessage::now(USER_LINE, text) }
}

fn past() -> Terms {
    Terms { expires: Some(ts()), turn: None }
}

fn for_turn(id: &str) -> Terms {
    Terms { expires: None, turn: Some(id.to_owned()) }
}

#[test]
fn i03_the_answer_is_queued_then_claimed_then_delivered_with_the_id_and_place_in_the_history() {
    let scratch = Session::new();
    let session = open(&scratch);
    session.append(&[crate::support::said("before")]).expect("it can be written");
    let sent = session.inbox().steer(InboxMessage::now(USER_LINE, "use tabs")).expect("it can be delivered");
    assert_eq!(sent.outcome().expect("it can be read"), Outcome::Queued);
    let drained = session.drain_inbox().expect("it can be drained");
    let pid = i32::try_from(std::process::id()).expect("it is small");
    assert_eq!(sent.outcome().expect("it can be read"), Outcome::Claimed { pid });

    let mut event = crate::support::said("use tabs");
    session_store::record_inbox_ids(&mut event, [drained.messages[0].id.as_str()]);
    let appended = session.append(&[event]).expect("it can be written");
    // The append may still fail for its caller: only the acknowledgement says that it did not.
    assert_eq!(sent.outcome().expect("it can be read"), Outcome::Claimed { pid });
    session.inbox().acknowledge([drained.messages[0].id.as_str()]).expect("it was claimed");
    let Outcome::Delivered(recorded) = sent.outcome().expect("it can be read") else { panic!("it was recorded") };
    assert_eq!((recorded.id.as_str(), recorded.offset), (drained.messages[0].id.as_str(), appended.offset));
    assert!(recorded.id.starts_with(sent.id()));
    assert_eq!(session.inbox().fate(OsStr::new(sent.id())).expect("it can be read"), Fate::Recorded(recorded));
}

#[test]
fn i03_a_message_is_found_in_a_history_that_has_taken_the_place_of_the_one_it_was_sent_to() {
    let scratch = Session::new();
    let session = open(&scratch);
    session.append(&[crate::support::said(&"before".repeat(100))]).expect("it can be written");
    let sent = session.inbox().steer(InboxMessage::now(USER_LINE, "use tabs")).expect("it can be delivered");
    assert_eq!(session.steering().take().expect("it can be drained").messages.len(), 1);
    let Outcome::Delivered(recorded) = sent.outcome().expect("it can be read") else { panic!("it was recorded") };
    // As a copy of another machine may: shorter before the event.
    let bytes = scratch.bytes();
    let at = usize::try_from(recorded.offset).expect("it is small");
    let other = scratch.base().join("other");
    fs::write(&other, &bytes[at..]).expect("there is room");
    fs::rename(other, scratch.paths.history()).expect("it is ours");
    let Outcome::Delivered(found) = sent.outcome().expect("it can be read") else { panic!("it is there") };
    assert_eq!((found.id, found.offset), (recorded.id, 0));
}

#[test]
fn i03_a_message_that_expired_is_moved_aside_by_whoever_looks_first_and_never_given_out() {
    for drains_first in [true, false] {
        let scratch = Session::new();
        let session = open(&scratch);
        let sent = session.inbox().steer(with("late", past())).expect("it can be delivered");
        session.inbox().deliver(&user_line("kept")).expect("it can be delivered");
        if !drains_first {
            assert!(matches!(sent.outcome().expect("it can be read"), Outcome::Expired { .. }));
        }
        let steered = session.steering().take().expect("it can be drained");
        let told: Vec<_> = steered.failed.iter().map(|failed| &failed.why).collect();
        assert!(told.len() == usize::from(drains_first) && told.iter().all(|why| why.is_expiry()), "{told:?}");
        assert_eq!(scratch.texts(), ["kept"]);
        let Outcome::Expired { why } = sent.outcome().expect("it can be read") else { panic!("it expired") };
        assert_eq!(why, "it expired at 2026-01-02T03:04:05Z");
        let kept = files(&scratch.paths.inbox().join(".failed"));
        assert_eq!(kept.len(), 2, "the message and the reason: {kept:?}");
        assert_eq!(sent.wait(None).expect("it is settled"), Waited::Settled(sent.outcome().expect("it can be read")));
    }
}

#[test]
fn i03_a_message_whose_taker_died_expires_too_and_only_if_nobody_has_recorded_it() {
    let scratch = Session::new();
    let session = open(&scratch);
    let terms = Terms { expires: Some((Utc::now() + TimeDelta::milliseconds(80)).fixed_offset()), turn: None };
    let sent = session.inbox().steer(with("a", terms)).expect("it can be delivered");
    let drained = session.drain_inbox_for(&dead(), Access::Forced).expect("it can be drained");
    assert_eq!(drained.messages.len(), 1, "it was taken in time");
    let waited = sent.wait_for_any_turn(LONG).expect("it can be waited for");
    assert!(matches!(waited, Waited::Settled(Outcome::Expired { .. })), "{waited:?}");
    assert!(session.drain_inbox().expect("it can be drained").is_empty());
}

#[test]
fn i03_a_message_for_one_turn_is_given_to_no_other_one() {
    let scratch = Session::new();
    let session = open(&scratch);
    let inbox = session.inbox();
    let lock = session.lock().expect("nobody else wants it");
    let turn = session.begin_turn(&lock, "t1").expect("no turn is live");
    let in_time = inbox.steer(with("in time", for_turn("t1"))).expect("it can be delivered");
    drop(session.steering().take().expect("it can be drained"));
    let late = inbox.steer(with("late", for_turn("t1"))).expect("it can be delivered");
    let later = inbox.steer(with("later", for_turn("t1"))).expect("it can be delivered");
    assert_eq!(late.wait(NONE).expect("it can be read"), Waited::TimedOut(Outcome::Queued));
    turn.end("done", None).expect("it is this process's");
    assert!(matches!(in_time.wait(LONG).expect("it can be read"), Waited::Settled(Outcome::Delivered(_))));
    // Its sender finds out, or the next turn does.
    assert!(matches!(late.wait(LONG).expect("it can be read"), Waited::Settled(Outcome::Expired { .. })));

    let turn = session.begin_turn(&lock, "t2").expect("the other one is over");
    let steered = session.steering().take().expect("it can be drained");
    assert!(steered.messages.is_empty(), "{steered:?}");
    assert!(matches!(&steered.failed[0].why, Unfit::OtherTurn { turn } if turn == "t1"), "{steered:?}");
    assert!(matches!(later.wait(LONG).expect("it can be read"), Waited::Settled(Outcome::Expired { .. })));
    turn.end("done", None).expect("it is this process's");
    assert_eq!(scratch.texts(), ["in time"]);
}

#[test]
fn waiting_ends_when_no_turn_is_live_and_goes_on_for_the_next_one_if_that_is_wanted() {
    let scratch = Session::new();
    let session = open(&scratch);
    let sent = session.inbox().steer(user_line("a")).expect("it can be delivered");
    assert_eq!(sent.wait(LONG).expect("it can be read"), Waited::NoTurn(Outcome::Queued));
    assert_eq!(sent.wait_for_any_turn(NONE).expect("it can be read"), Waited::TimedOut(Outcome::Queued));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| sent.wait_for_any_turn(LONG).expect("it can be read"));
        drop(session.steering().take().expect("it can be drained"));
        let waited = waiting.join().expect("it does not panic");
        assert!(matches!(waited, Waited::Settled(Outcome::Delivered(_))), "{waited:?}");
    });
}

/// Runs a turn that takes nothing, until it is killed.
#[test]
fn child_with_an_idle_turn() {
    let Some(task) = child::task() else { return };
    let _turn = TurnMarker::start(&session_store::SessionPaths::new(&task[0]).proc(), "t").expect("no turn is live");
    while !child::is_orphan() {
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn waiting_ends_when_the_turn_is_killed() {
    let scratch = Session::new();
    let session = open(&scratch);
    let dir = scratch.paths.dir().display().to_string();
    let mut turn = Running::start(child::command("inbox_steer::child_with_an_idle_turn", &[&dir]));
    while TurnMarker::read(&scratch.paths.proc()).expect("there is a /proc").is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let sent = session.inbox().steer(user_line("a")).expect("it can be delivered");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| sent.wait(LONG).expect("it can be read"));
        turn.kill();
        assert_eq!(waiting.join().expect("it does not panic"), Waited::NoTurn(Outcome::Queued));
    });
}

#[test]
fn a_message_that_the_reference_takes_leaves_no_trace_and_is_not_called_delivered() {
    let scratch = Session::new();
    let session = open(&scratch);
    let sent = session.inbox().steer(user_line("a")).expect("it can be delivered");
    // As the reference does: read, remove, append.
    fs::remove_file(scratch.paths.inbox().join(sent.id())).expect("it waits");
    session.append(&[crate::support::said("a")]).expect("it can be written");
    assert_eq!(sent.wait(LONG).expect("it can be read"), Waited::Settled(Outcome::Gone));
}

#[test]
fn a_message_is_taken_back_until_somebody_has_it_and_again_when_that_one_is_dead() {
    let scratch = Session::new();
    let session = open(&scratch);
    let inbox = session.inbox();
    let send = |text: &str| inbox.deliver(&InboxMessage::now(USER_LINE, text)).expect("it can be delivered");
    let cancel = |name: &str| inbox.cancel(OsStr::new(name)).expect("it can be tried").and_then(|it| it.message);
    let waits = send("waits");
    assert_eq!(cancel(&waits).map(|message| message.text), Some("waits".to_owned()));
    let lost = send("lost");
    assert_eq!(session.drain_inbox_for(&dead(), Access::Forced).expect("it can be drained").messages.len(), 1);
    assert_eq!(cancel(&lost).map(|message| message.text), Some("lost".to_owned()));
    let taken = send("taken");
    let mut steering = session.steering();
    let drained = session.drain_inbox().expect("it can be drained");
    assert_eq!((drained.messages.len(), cancel(&taken)), (1, None), "a live process has it");
    drop(steering.take().expect("it can be drained"));
    assert_eq!(inbox.fate(OsStr::new(&lost)).expect("it can be read"), Fate::Gone);
}

#[test]
fn many_large_messages_are_taken_in_pieces_and_none_is_left() {
    let scratch = Session::in_memory();
    let session = open(&scratch);
    let large = "x".repeat(60_000);
    for n in 0..300 {
        let text = format!("{n:03} {large}");
        session.inbox().deliver(&InboxMessage::now(USER_LINE, text)).expect("it can be delivered");
    }
    let first = session.drain_inbox().expect("it can be drained");
    assert!(first.has_more && (100..200).contains(&first.messages.len()), "{}", first.messages.len());
    let mut texts: Vec<_> = first.messages.into_iter().map(|claimed| claimed.message.text).collect();
    loop {
        let drained = session.drain_inbox().expect("it can be drained");
        texts.extend(drained.messages.into_iter().map(|claimed| claimed.message.text));
        if !drained.has_more {
            break;
        }
    }
    assert!(texts.len() == 300 && texts.is_sorted());
}

#[test]
fn i01_when_any_operation_of_the_turn_fails_it_records_each_message_exactly_once_and_in_order() {
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }] {
        for at in 0.. {
            let scratch = Session::in_memory();
            let options = Options { durability: Durability::Data, ..Options::default() };
            let session = session_store::Session::open_dir(scratch.paths.dir(), options).expect("it can be opened");
            ["a", "b"].iter().for_each(|text| {
                session.inbox().deliver(&InboxMessage::now(USER_LINE, *text)).expect("nothing fails yet");
            });
            let mut steering = session.steering();
            let run = faults::with(fault(at), || steering.take().map(|steered| steered.messages.len()));
            if at % 2 == 0 {
                // The next turn has a value of its own.
                drop(steering);
                steering = session.steering();
            }
            let again = steering.take().expect("nothing fails any more");
            assert!(again.error.is_none(), "{at} of {:?}: {again:?}", run.ops);
            assert_eq!(scratch.texts(), ["a", "b"], "{at} of {:?}: {:?}", run.ops, run.result);
            let told = run.result.as_ref().map_or(0, |told| *told);
            assert_eq!(told + again.messages.len(), 2, "each is told once: {at} of {:?}", run.ops);
            let left = scratch.inbox().undelivered().expect("it can be read");
            assert!(left.is_empty(), "{at} of {:?}: {left:?}", run.ops);
            if !run.hit {
                break;
            }
        }
    }
}

#[test]
fn what_cannot_be_appended_waits_again_when_the_turn_gives_up() {
    let scratch = Session::new();
    let session = open(&scratch);
    session.inbox().deliver(&user_line("a")).expect("it can be delivered");
    fs::create_dir(scratch.paths.history()).expect("there is no history yet");
    let mut steering = session.steering();
    let error = steering.take().expect_err("a directory is no history");
    assert!(!matches!(error, StoreError::Append { .. }), "{error}");
    fs::remove_dir(scratch.paths.history()).expect("it is empty");
    assert!(session.inbox().list().expect("it can be read").is_empty());
    drop(steering);
    assert_eq!(session.inbox().list().expect("it can be read").len(), 1);
}
