//! Every file operation of the inbox fails, or is the last one, in turn.

use crate::inbox_deliver::user_line;
use crate::support::{Session, said};
use session_core::Event;
use session_disk::faults::{self, Fault};
use session_proc::Identity;
use session_store::{Access, Durability, History, Inbox, Options, Result, record_inbox_ids};

const FAULTS: [fn(u64) -> Fault; 3] = [|at| Fault::Fail { at }, |at| Fault::Full { at }, |at| Fault::Stop { at }];

fn inbox(session: &Session) -> Inbox {
    Inbox::new(session.paths.clone(), "demo", Durability::Data)
}

/// Runs the whole way of a message from its claim on, and says what was acknowledged to have been recorded.
fn drain(session: &Session, owner: &Identity) -> Result<usize> {
    let inbox = inbox(session);
    let drainer = inbox.drainer(Access::LockHolder, owner)?.expect("the lock is enough");
    let drained = inbox.claim(&drainer, |ids| session.recorded(ids))?;
    let events: Vec<Event> = drained
        .messages
        .iter()
        .map(|claimed| {
            let mut event = said(&claimed.message.text);
            record_inbox_ids(&mut event, [&*claimed.id]);
            event
        })
        .collect();
    History::new(session.paths.clone(), "demo", Options::default()).append(&events, Vec::new)?;
    inbox.acknowledge(drained.messages.iter().map(|claimed| &*claimed.id))?;
    Ok(events.len())
}

fn dead() -> Identity {
    let own = Identity::own().expect("there is a /proc");
    Identity { start_ticks: own.start_ticks + 1, ..own }
}

#[test]
fn when_a_delivery_fails_nothing_is_delivered_and_when_it_does_not_the_message_is_there() {
    for fault in FAULTS {
        for at in 0.. {
            let session = Session::in_memory();
            let run = faults::with(fault(at), || inbox(&session).deliver(&user_line("a")));
            let waits = inbox(&session).list().expect("it can be read").len();
            match (&run.result, fault(at)) {
                (Ok(_), _) => assert_eq!(waits, 1, "{:?}", run.ops),
                // A process that died at the very last step has delivered, and could not say so.
                (Err(_), Fault::Stop { .. }) => assert!(waits <= 1, "{:?}", run.ops),
                (Err(_), _) => assert_eq!(waits, 0, "{at} of {:?}", run.ops),
            }
            if run.result.is_err() && waits == 0 {
                inbox(&session).deliver(&user_line("a")).expect("nothing fails any more");
            }
            let texts: Vec<String> = session.claim().messages.into_iter().map(|c| c.message.text).collect();
            assert_eq!(texts, ["a"], "{at} of {:?}", run.ops);
            if !run.hit {
                break;
            }
        }
    }
}

#[test]
fn i01_when_any_operation_from_the_claim_to_the_acknowledgement_fails_each_message_is_recorded_exactly_once() {
    for fault in FAULTS {
        for at in 0.. {
            let session = Session::in_memory();
            ["a", "b"].iter().for_each(|text| {
                inbox(&session).deliver(&user_line(text)).expect("nothing fails yet");
            });
            // The one who claims dies afterwards, whatever went wrong.
            let run = faults::with(fault(at), || drain(&session, &dead()));
            let own = Identity::own().expect("there is a /proc");
            drain(&session, &own).expect("nothing fails any more");
            let mut texts = session.texts();
            texts.sort();
            assert_eq!(texts, ["a", "b"], "{at} of {:?}: {:?}", run.ops, run.result);
            let left = crate::support::files(&session.paths.inbox().join(".claims"));
            assert!(left.is_empty(), "{at} of {:?}: {left:?}", run.ops);
            if !run.hit {
                break;
            }
        }
    }
}

#[test]
fn when_moving_aside_fails_the_file_is_still_somewhere() {
    for fault in FAULTS {
        for at in 0.. {
            let session = Session::in_memory();
            inbox(&session).deliver(&user_line("a")).expect("nothing fails yet");
            std::fs::write(session.paths.inbox().join("large"), vec![b'x'; 65_537]).expect("there is room");
            let run = faults::with(fault(at), || drain(&session, &dead()));
            let own = Identity::own().expect("there is a /proc");
            drain(&session, &own).expect("nothing fails any more");
            let kept = crate::support::files(&session.paths.inbox().join(".failed"));
            let large = kept.iter().filter(|path| path.metadata().expect("it was just listed").len() == 65_537).count();
            assert_eq!(large, 1, "{at} of {:?}", run.ops);
            assert_eq!(session.texts(), ["a"], "{at} of {:?}", run.ops);
            if !run.hit {
                break;
            }
        }
    }
}
