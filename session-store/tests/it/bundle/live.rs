//! Bundles of a session while others work on it.

use super::{Elsewhere, bundle_with, imported};
use crate::garden::Garden;
use crate::scratch::{lines, name};
use session_core::Message;
use session_store::{BundleSecrets, InboxMessage, PreviewSize, StoreError, USER_LINE};
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// How many bundles are taken of the busy session.
const BUNDLES: usize = 40;

#[test]
fn e03_a_bundle_of_a_busy_session_is_the_session_at_one_moment() {
    let garden = Garden::new();
    let session = garden.create("demo");
    let is_over = AtomicBool::new(false);
    let bundles: Vec<Vec<u8>> = thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0_u32.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                // A message comes in, is taken and recorded; then output is kept, and its preview said.
                let text = format!("message {number}");
                session.inbox().deliver(&InboxMessage::now(USER_LINE, text)).expect("there is room");
                let lock = session.lock().expect("nobody else takes it");
                let turn = session.begin_turn(&lock, "t").expect("nothing runs");
                assert_eq!(session.steering().take().expect("nothing forbids it").messages.len(), 1);
                let spilled = session.spill().bytes("shell", "oak\n".repeat(20_000).as_bytes(), PreviewSize::default());
                let preview = spilled.expect("there is room").text();
                session.append_messages([Message::tool_result("c", "Shell", preview)]).expect("nothing forbids it");
                turn.end("done", None).expect("it runs");
                lock.release().expect("it is held");
            }
        });
        let take = |_| match bundle_with(&garden.quick(), &["demo"], BundleSecrets::Keep) {
            Ok(bundle) => Some(bundle),
            // It never stood still for long enough, which is said and is no bundle.
            Err(StoreError::KeepsChanging { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        let bundles = (0..BUNDLES).filter_map(take).collect();
        is_over.store(true, Ordering::Relaxed);
        bundles
    });
    assert!(!bundles.is_empty());
    let whole = fs::read(garden.scratch.path("demo/history.jsonl")).expect("it is there");
    for bundle in bundles {
        let elsewhere = Elsewhere::new();
        imported(&elsewhere.store(), &bundle);
        let copy = fs::read(elsewhere.0.path("demo/history.jsonl")).unwrap_or_default();
        assert!(whole.starts_with(&copy) && (copy.is_empty() || copy.ends_with(b"\n")));
        assert!(!elsewhere.0.path("demo/proc/turn.pid").exists());
        for line in lines(&copy).iter().filter(|line| line.contains("all of it is in ")) {
            let path = line.split("all of it is in ").nth(1).and_then(|rest| rest.split(']').next()).expect("a path");
            assert!(elsewhere.0.path("demo").join(path).exists(), "{path}");
        }
        // Each message that came in is delivered once, by the history or by what waits.
        let store = elsewhere.store();
        let copied = store.open(&name("demo")).expect("it is there");
        let lock = copied.lock().expect("nobody holds it");
        let turn = copied.begin_turn(&lock, "u").expect("nothing runs in a copy");
        drop(copied.steering().take().expect("nothing forbids it"));
        let said = crate::support::texts(&copied.load().expect("it can be read"));
        let messages: Vec<&String> = said.iter().filter(|text| text.starts_with("message ")).collect();
        let different: BTreeSet<&String> = messages.iter().copied().collect();
        assert_eq!(different.len(), messages.len(), "none comes twice");
        let wanted: BTreeSet<String> = (0..messages.len()).map(|number| format!("message {number}")).collect();
        assert!(wanted.iter().eq(different), "none is lost");
        turn.end("done", None).expect("it runs");
        lock.release().expect("it is held");
    }
}

#[test]
fn e03_a_file_that_is_another_one_when_it_is_written_is_told() {
    let garden = Garden::new();
    garden.scratch.session("oaks", &[crate::scratch::user(5, "plant")]);
    let spill = garden.scratch.put("oaks/tmp/x", "three oaks");
    let store = garden.store();
    for change in ["three elms", "three", "three oaks and more"] {
        fs::write(&spill, "three oaks").expect("it is ours");
        let mut plan = store.bundle(BundleSecrets::Keep);
        plan.add(&name("oaks"), None, &mut |_| {}).expect("nothing forbids it");
        fs::write(&spill, change).expect("it is ours");
        let written = plan.write(&mut Vec::new(), &mut |_| {});
        match change.len() {
            // What is appended does not count.
            19 => written.expect("the beginning is the same"),
            _ => assert!(matches!(written, Err(StoreError::KeepsChanging { path }) if path == spill), "{change}"),
        }
    }
}
