//! What the inbox costs per message, with a thousand and with ten thousand of them. Printed, and not judged.
//!
//! If the cost of one message grows with their number, something has become quadratic.

use session_core::{Event, Message};
use session_proc::Identity;
use session_store::{
    Access, Durability, History, HistoryView, Inbox, InboxMessage, Options, SessionPaths, USER_LINE, record_inbox_ids,
    recorded_inbox_ids,
};
use std::time::Instant;

fn main() {
    for durability in [Durability::Os, Durability::Data] {
        for messages in [1_000, 10_000] {
            run(durability, messages);
        }
    }
}

fn run(durability: Durability, messages: u32) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let paths = SessionPaths::new(scratch.path());
    let inbox = Inbox::new(paths.clone(), "demo", durability);
    let tell = |what: &str, begun: Instant| tell(&format!("{messages:>6} {durability:?}: {what}"), begun, messages);

    let begun = Instant::now();
    for n in 0..messages {
        inbox.deliver(&InboxMessage::now(USER_LINE, n.to_string())).expect("it can be delivered");
    }
    tell("deliver", begun);

    let begun = Instant::now();
    assert_eq!(inbox.list().expect("it can be read").len(), messages as usize);
    tell("list", begun);

    let own = Identity::own().expect("there is a /proc");
    let drainer = inbox.drainer(Access::LockHolder, &own).expect("there is a /proc").expect("the lock is enough");
    let view = || HistoryView::open(&paths, Default::default());
    let begun = Instant::now();
    let drained = inbox.claim(&drainer, |ids| recorded_inbox_ids(&view()?, ids)).expect("it can be drained").messages;
    assert_eq!(drained.len(), messages as usize);
    tell("claim", begun);

    let begun = Instant::now();
    let events: Vec<Event> = drained
        .iter()
        .map(|claimed| {
            let mut event = Event::message(claimed.message.at, Message::user(&claimed.message.text));
            record_inbox_ids(&mut event, [claimed.id.as_str()]);
            event
        })
        .collect();
    let mut history = History::new(paths.clone(), "demo", Options { durability, ..Options::default() });
    history.append(&events, Vec::new).expect("it can be written");
    tell("record", begun);

    let begun = Instant::now();
    inbox.acknowledge(drained.iter().map(|claimed| claimed.id.as_str())).expect("they were claimed");
    tell("acknowledge", begun);
}

#[expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]
fn tell(what: &str, begun: Instant, messages: u32) {
    let took = begun.elapsed();
    let each_us = took.as_secs_f64() * 1e6 / f64::from(messages);
    println!("{what:<26} {:>9.1} ms  {each_us:>8.1} µs each", took.as_secs_f64() * 1e3);
}
