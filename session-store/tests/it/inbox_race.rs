//! Two want the same message at the same moment: one gets it, and both know who.

use crate::parts;
use crate::support::{Session, files};
use chrono::{TimeDelta, Utc};
use rand::RngExt as _;
use session_store::{InboxMessage, Outcome, Sent, Terms, USER_LINE, Waited};
use session_testing::usually;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::hint::spin_loop;
use std::thread;
use std::time::Duration;

/// Some time between nothing and what a step of the other side takes.
fn linger() {
    (0..rand::rng().random_range(0..200_000)).for_each(|_| spin_loop());
}

fn in_history(session: &Session) -> BTreeSet<String> {
    session.texts().into_iter().collect()
}

fn waiting(session: &Session) -> BTreeSet<String> {
    let listed = session.inbox().list().expect("it can be read");
    listed.into_iter().filter_map(|pending| Some(pending.message?.text)).collect()
}

fn message(round: usize, terms: Terms) -> InboxMessage {
    InboxMessage { terms, ..InboxMessage::now(USER_LINE, round.to_string()) }
}

#[test]
fn i03_a_message_to_a_turn_that_ends_at_the_same_moment_is_delivered_only_if_the_history_has_it() {
    let scratch = Session::in_memory();
    let session = parts::open(scratch.paths.dir());
    let (mut delivered, mut queued) = (0, 0);
    for round in 0..usually(60, 3_000) {
        let lock = session.lock().expect("nobody else wants it");
        let turn = session.begin_turn(&lock, &format!("t{round}")).expect("the last one is over");
        let waited = thread::scope(|scope| {
            let steerer = scope.spawn(|| {
                linger();
                let sent = session.inbox().steer(message(round, Terms::default())).expect("it can be delivered");
                sent.wait(Some(Duration::from_secs(60))).expect("it can be waited for")
            });
            linger();
            drop(session.steering().take().expect("it can be drained"));
            turn.end("done", None).expect("it is this process's");
            steerer.join().expect("it does not panic")
        });
        lock.release().expect("it is held");
        let text = round.to_string();
        match waited {
            Waited::Settled(Outcome::Delivered(_)) => {
                assert!(in_history(&scratch).contains(&text) && !waiting(&scratch).contains(&text), "{round}");
                delivered += 1;
            }
            Waited::NoTurn(Outcome::Queued) => {
                assert!(waiting(&scratch).contains(&text) && !in_history(&scratch).contains(&text), "{round}");
                // So that the next turn is about its own message.
                drop(session.steering().take().expect("it can be drained"));
                queued += 1;
            }
            other => panic!("{round}: {other:?}"),
        }
    }
    assert!(delivered > 0 && queued > 0, "both happen: {delivered} delivered, {queued} queued");
}

/// Sends a message in each round while a turn takes; says which ones the sender calls taken back.
fn race(terms: impl Fn(usize) -> Terms + Sync, take_back: impl Fn(&Session, &Sent) -> bool + Sync) -> (Session, usize) {
    let scratch = Session::in_memory();
    let session = parts::open(scratch.paths.dir());
    let mut taken_back = BTreeSet::new();
    for round in 0..usually(100, 5_000) {
        let sent = session.inbox().steer(message(round, terms(round))).expect("it can be delivered");
        thread::scope(|scope| {
            let sender = scope.spawn(|| take_back(&scratch, &sent));
            linger();
            drop(session.steering().take().expect("it can be drained"));
            if sender.join().expect("it does not panic") {
                taken_back.insert(round.to_string());
            }
        });
    }
    let recorded = in_history(&scratch);
    assert_eq!(taken_back.intersection(&recorded).next(), None, "never both");
    assert_eq!(taken_back.len() + recorded.len(), usually(100, 5_000), "never neither");
    assert!(scratch.inbox().undelivered().expect("it can be read").is_empty());
    (scratch, taken_back.len())
}

#[test]
fn a_message_is_cancelled_or_recorded_and_never_both() {
    let cancel = |scratch: &Session, sent: &Sent| {
        linger();
        scratch.inbox().cancel(OsStr::new(sent.id())).expect("it can be tried").is_some()
    };
    let (_, cancelled) = race(|_| Terms::default(), cancel);
    assert!((1..usually(100, 5_000)).contains(&cancelled), "both happen: {cancelled} cancelled");
}

#[test]
fn i03_a_message_is_expired_or_recorded_and_never_both() {
    let soon = |_| {
        let after = TimeDelta::microseconds(rand::rng().random_range(0..1_500));
        Terms { expires: Some((Utc::now() + after).fixed_offset()), turn: None }
    };
    let expire = |_: &Session, sent: &Sent| match sent
        .wait_for_any_turn(Some(Duration::from_secs(60)))
        .expect("it can be waited for")
    {
        Waited::Settled(Outcome::Expired { .. }) => true,
        Waited::Settled(Outcome::Delivered(_)) => false,
        other => panic!("{other:?}"),
    };
    let (scratch, expired) = race(soon, expire);
    let kept = files(&scratch.paths.inbox().join(".failed"));
    assert_eq!(kept.iter().filter(|path| path.extension().is_none()).count(), expired);
}
