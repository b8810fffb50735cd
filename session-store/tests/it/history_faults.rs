//! Every file operation of an append fails, or is the last one, in turn.

use crate::support::{Session, line, said, texts, ts};
use session_core::{Event, Extension, SessionHeader};
use session_disk::faults::{self, Fault};
use session_store::{History, Options, StoreError};

const STUB: &[u8] = br#"{"ts":"2026-01-02T03:04:05Z","kind":"message","mess"#;

fn first() -> Vec<Event> {
    vec![Extension::Session(SessionHeader { format: 1, ..Default::default() }).into_event(ts())]
}

fn call() -> [Event; 3] {
    [said("a"), said("b"), said("c")]
}

/// A state's name, its history, and what can be read there.
type State = (&'static str, Option<Vec<u8>>, Vec<&'static str>);

/// The states that an append may find.
fn states() -> [State; 4] {
    let old = line(&said("old"));
    [
        ("no history", None, vec![]),
        ("an empty history", Some(vec![]), vec![]),
        ("a whole one", Some(old.clone()), vec!["old"]),
        ("a torn one", Some([&old[..], STUB].concat()), vec!["old"]),
    ]
}

fn prepare(history: Option<&[u8]>) -> (Session, History) {
    let session = Session::in_memory();
    history.iter().for_each(|bytes| session.write(bytes));
    let history = session.history_with(Options::default());
    (session, history)
}

/// Runs an append under each fault, until one is not reached any more.
fn each(fault: impl Fn(u64) -> Fault, mut check: impl FnMut(&str, &[&str], &Session, History, Result<(), StoreError>)) {
    for (state, bytes, before) in states() {
        for at in 0.. {
            let (session, mut history) = prepare(bytes.as_deref());
            let run = faults::with(fault(at), || history.append(&call(), first).map(drop));
            check(&format!("{state}, operation {at} of {:?}", run.ops), &before, &session, history, run.result);
            if !run.hit {
                assert!(at > 2, "an append has operations");
                break;
            }
        }
    }
}

/// Of the three events, those that an error leaves in the file.
fn whole_events(result: &Result<(), StoreError>) -> usize {
    match result {
        Ok(()) => 3,
        Err(StoreError::Append { whole_events, .. }) => *whole_events,
        Err(StoreError::Disk(_)) => 0,
        Err(error) => panic!("{error}"),
    }
}

fn check_stub(session: &Session, state: &str) {
    if state.starts_with("a torn one") {
        let in_place = session.bytes().windows(STUB.len()).filter(|bytes| *bytes == STUB).count();
        let kept = session.quarantined().iter().filter(|bytes| *bytes == STUB).count();
        assert!(in_place + kept >= 1, "{state}: the stub is lost");
    }
}

#[test]
fn h08_i22_when_any_operation_fails_a_retry_leaves_exactly_one_copy() {
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }] {
        each(fault, |state, before, session, mut history, result| {
            let whole = whole_events(&result);
            let found = if session.paths.history().exists() { session.texts() } else { Vec::new() };
            assert_eq!(found, [before, &["a", "b", "c"][..whole]].concat(), "{state}: {result:?}");
            history.append(&call()[whole..], first).expect("nothing fails any more");
            assert_eq!(session.texts(), [before, &["a", "b", "c"]].concat(), "{state}: {result:?}");
            check_stub(session, state);
            if before.is_empty() {
                assert!(session.load().defects.is_empty(), "{state}");
                let headers = session.bytes().windows(9).filter(|bytes| bytes == b"x.session").count();
                assert_eq!(headers, 1, "{state}: {result:?}");
            }
        });
    }
}

#[test]
fn an_append_that_fails_leaves_nothing_of_its_call_unless_blanking_fails_too() {
    // One operation fails: then the blanking, a later one, works.
    for fault in [|at| Fault::Fail { at }, |at| Fault::Full { at }] {
        each(fault, |state, _, _, _, result| {
            let whole = whole_events(&result);
            assert!(whole == 0 || result.is_ok(), "{state}: {result:?}");
        });
    }
}

#[test]
fn i21_when_the_process_dies_at_any_operation_nothing_acknowledged_is_missing_and_nothing_doubled() {
    each(
        |at| Fault::Stop { at },
        |state, before, session, history, result| {
            let acknowledged = result.is_ok();
            let told = whole_events(&result);
            drop(history);
            let found = if session.paths.history().exists() { session.texts() } else { Vec::new() };
            let whole = found.len() - before.len();
            assert_eq!(found, [before, &["a", "b", "c"][..whole]].concat(), "{state}: {result:?}");
            assert!(!acknowledged || whole == 3, "{state}");
            assert_eq!(told, whole, "{state}: {result:?}");
            session.append(&[said("next")]).expect("nothing fails any more");
            assert_eq!(session.texts(), [&found[..], &["next".to_owned()]].concat(), "{state}");
            check_stub(session, state);
        },
    );
}

#[test]
fn when_the_process_dies_in_the_middle_of_its_write_the_whole_lines_of_it_stay_and_the_next_append_is_intact() {
    let all: Vec<u8> = call().iter().flat_map(line).collect();
    for cut in 0..=all.len() {
        let session = Session::in_memory();
        session.write(&[line(&said("old")), all[..cut].to_vec()].concat());
        session.append(&[said("next")]).expect("it can be written");
        let found = texts(&session.load());
        let whole = found.len() - 2;
        assert_eq!(found, [&["old"], &["a", "b", "c"][..whole], &["next"]].concat(), "cut at {cut}");
        assert_eq!(session.load().defects, [], "cut at {cut}");
    }
}
