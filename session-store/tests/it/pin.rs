//! Pinning.

use crate::scratch::{Scratch, name, user};
use session_store::{NewSession, SessionName};
use std::fs;

fn noted(scratch: &Scratch) -> usize {
    let history = fs::read_to_string(scratch.path("demo/history.jsonl")).expect("there is one");
    history.matches("\"pinned\"").count() + history.matches("\"unpinned\"").count()
}

#[test]
fn a_pin_is_an_event_and_survives_the_loss_of_the_metadata() {
    let scratch = Scratch::new();
    scratch.session("demo", &[user(1, "plant three oaks")]);
    let open = || scratch.store().open(&name("demo")).expect("it is there");
    assert!(!open().is_pinned().expect("it can be read"));
    open().pin().expect("nothing forbids it");
    open().pin().expect("again is nothing new");
    assert!(open().is_pinned().expect("it can be read"));
    assert_eq!(noted(&scratch), 1);
    for file in ["demo/meta.json", "demo/.meta.json"] {
        fs::remove_file(scratch.path(file)).expect("it was written");
    }
    assert!(open().is_pinned().expect("it can be read"), "the history says it");
    open().unpin().expect("nothing forbids it");
    assert!(!open().is_pinned().expect("it can be read"));
    assert_eq!(noted(&scratch), 2);
}

#[test]
fn a_session_without_a_history_is_pinned_too_and_none_is_made() {
    let scratch = Scratch::new();
    let named = NewSession { name: SessionName::new("demo").ok(), ..NewSession::default() };
    let session = scratch.store().create(&named).expect("its name is free");
    session.pin().expect("nothing forbids it");
    assert!(session.is_pinned().expect("it can be read"));
    assert!(!scratch.path("demo/history.jsonl").exists());
}
