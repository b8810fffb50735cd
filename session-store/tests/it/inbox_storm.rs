//! Many senders, and a turn that is killed again and again.

use crate::child::{self, Running};
use crate::parts;
use crate::support::Session;
use rand::RngExt as _;
use session_core::Item;
use session_store::{Durability, HistoryView, Inbox, InboxMessage, SessionPaths, USER_LINE, inbox_ids};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const SENDERS: usize = 4;
/// How many messages the senders let pile up.
const PILE: usize = 80;

/// Sends, and lets the turn keep up.
#[test]
fn child_that_sends() {
    let Some(task) = child::task() else { return };
    let [dir, sender, count] = &task[..] else { panic!("{task:?}") };
    let paths = SessionPaths::new(dir);
    let inbox = Inbox::new(paths.clone(), "demo", Durability::Os);
    for n in 0..count.parse::<usize>().expect("a number") {
        inbox.deliver(&InboxMessage::now(USER_LINE, format!("{sender} {n}"))).expect("it can be delivered");
        while fs::read_dir(paths.inbox()).is_ok_and(|entries| entries.count() > PILE) {
            if child::is_orphan() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Runs a turn, and takes what comes until it is killed.
#[test]
fn child_that_runs_a_turn() {
    let Some(task) = child::task() else { return };
    let [dir] = &task[..] else { panic!("{task:?}") };
    let session = parts::open(Path::new(dir));
    let lock = session.lock().expect("who held it is dead");
    let _turn = session.begin_turn(&lock, "t").expect("no turn is live");
    let mut steering = session.steering();
    while !child::is_orphan() {
        let steered = steering.take().expect("nothing fails");
        assert!(steered.error.is_none() && steered.failed.is_empty(), "{steered:?}");
        if steered.messages.is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn i01_i05_i28_each_message_of_four_senders_is_recorded_once_and_in_order_by_a_turn_that_is_killed_again_and_again() {
    let (messages, kills) = session_testing::usually((1_200, 6), (10_000, 50));
    let each = messages / SENDERS;
    let session = Session::in_memory();
    let dir = session.paths.dir().display().to_string();
    let count = each.to_string();
    let mut senders: Vec<Running> = (0..SENDERS)
        .map(|n| Running::start(child::command("inbox_storm::child_that_sends", &[&dir, &n.to_string(), &count])))
        .collect();
    let turn = || Running::start(child::command("inbox_storm::child_that_runs_a_turn", &[&dir]));
    let recorded = || fs::metadata(session.paths.history()).map_or(0, |metadata| metadata.len());
    let limit = Instant::now() + Duration::from_secs(300);
    let mut at_work = 0;
    for _ in 0..kills {
        let before = recorded();
        let mut running = turn();
        // Each gets something done before it dies, at a random moment.
        while recorded() == before && session.inbox().list().is_ok_and(|waiting| !waiting.is_empty()) {
            assert!(Instant::now() < limit, "nobody takes anything");
            thread::yield_now();
        }
        let moment = Instant::now() + Duration::from_micros(rand::rng().random_range(0..8_000));
        while Instant::now() < moment {
            thread::yield_now();
        }
        running.kill();
        at_work += usize::from(recorded() > before);
    }
    assert!(at_work > kills / 2, "{at_work} of {kills} were killed at work");
    let _last = turn();
    senders.iter_mut().for_each(|sender| assert!(sender.wait().success()));
    while session.inbox().undelivered().is_ok_and(|left| !left.is_empty()) {
        assert!(Instant::now() < limit, "nobody takes the rest");
        thread::sleep(Duration::from_millis(2));
    }

    let texts = session.texts();
    assert_eq!(texts.len(), each * SENDERS);
    for sender in 0..SENDERS {
        let begins = format!("{sender} ");
        let its: Vec<&String> = texts.iter().filter(|text| text.starts_with(&begins)).collect();
        let wanted: Vec<String> = (0..each).map(|n| format!("{sender} {n}")).collect();
        assert!(its.into_iter().eq(&wanted), "sender {sender}");
    }
    let view = HistoryView::open(&session.paths, Default::default()).expect("it can be opened");
    let mut ids = BTreeSet::new();
    for item in view.forwards() {
        let Item::Record(record) = item.expect("it can be read") else { continue };
        inbox_ids(&record.event).into_iter().for_each(|id| assert!(ids.insert(id), "{record:?}"));
    }
    assert_eq!(ids.len(), each * SENDERS);
}
