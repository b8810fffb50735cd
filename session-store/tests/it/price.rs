//! The cost in the metadata, against the usage in the history.

use crate::scratch::{Scratch, name};
use crate::support::quick;
use session_core::{Event, Extension, Message, Usage};
use session_store::{NewSession, Session, Store};
use std::fs;

fn usage(response: &str, cost: Option<f64>) -> Event {
    let usage = Usage { response: response.into(), cost, ..Usage::default() };
    Extension::Usage(usage).into_event(crate::support::ts())
}

/// Appends what a response cost, as one process does, and gives the cost that the metadata has then.
fn spend(store: &Store, response: &str, cost: Option<f64>) -> f64 {
    let session = store.open(&name("demo")).expect("it is there");
    session.append(&[usage(response, cost)]).expect("nothing forbids it");
    session.close().expect("nothing forbids it");
    cost_of(store)
}

fn cost_of(store: &Store) -> f64 {
    store.read_meta(&name("demo")).expect("it can be read").meta.cost
}

fn begin(scratch: &Scratch) -> (Store, Session) {
    let store = scratch.store_with(quick());
    let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
    let session = store.create(&new).expect("the name is free");
    session.append_messages([Message::user("plant"), Message::assistant("digging")]).expect("nothing forbids it");
    (store, session)
}

/// What a program of the reference does to the cost.
fn edit(scratch: &Scratch, change: impl Fn(f64) -> f64) {
    let path = scratch.path("demo/meta.json");
    let mut file: serde_json::Value =
        serde_json::from_slice(&fs::read(&path).expect("it is there")).expect("it is JSON");
    file["cost"] = change(file["cost"].as_f64().unwrap_or_default()).into();
    file.as_object_mut().expect("it is one").remove("x");
    fs::write(path, file.to_string()).expect("it can be written");
}

#[test]
fn m10_the_cost_is_that_of_each_response_once_also_of_what_was_rolled_back() {
    let scratch = Scratch::new();
    let (store, session) = begin(&scratch);
    drop(session);
    assert_eq!(spend(&store, "r1", Some(0.5)), 0.5);
    assert_eq!(spend(&store, "r1", Some(0.75)), 0.75);
    assert_eq!(spend(&store, "r2", None), 0.75);
    store.open(&name("demo")).and_then(|session| session.rollback(2)).expect("nothing forbids it");
    assert_eq!(spend(&store, "r3", Some(0.25)), 1.0);
}

#[test]
fn m10_an_unknown_price_leaves_the_cost_unknown() {
    let scratch = Scratch::new();
    let (store, session) = begin(&scratch);
    drop(session);
    assert_eq!(spend(&store, "r1", None), 0.0);
    assert!(!fs::read_to_string(scratch.path("demo/meta.json")).expect("it is there").contains("cost"));
}

#[test]
fn what_the_reference_added_to_the_cost_stays() {
    let scratch = Scratch::new();
    let (store, session) = begin(&scratch);
    drop(session);
    assert_eq!(spend(&store, "r1", Some(0.5)), 0.5);
    edit(&scratch, |cost| cost + 2.0);
    assert_eq!(spend(&store, "r1", Some(1.5)), 3.5);
    assert_eq!(spend(&store, "r2", Some(0.5)), 4.0);
}

#[test]
fn sums_of_dollars_carry_no_rounding_of_the_steps() {
    let scratch = Scratch::new();
    let (store, session) = begin(&scratch);
    for response in 0..50 {
        session.append(&[usage(&format!("r{response}"), Some(0.1))]).expect("nothing forbids it");
    }
    session.close().expect("nothing forbids it");
    let before: f64 = (0..50).map(|_| 0.1).sum();
    assert_eq!(cost_of(&store), before);
    assert_eq!(spend(&store, "r50", Some(0.1)), before + 0.1);
}

#[test]
fn a_cost_that_was_lost_is_rebuilt_and_goes_on() {
    let scratch = Scratch::new();
    let (store, session) = begin(&scratch);
    drop(session);
    spend(&store, "r1", Some(0.5));
    for file in ["meta.json", ".meta.json"] {
        fs::remove_file(scratch.path("demo").join(file)).expect("it is there");
    }
    assert_eq!(cost_of(&store), 0.5);
    assert_eq!(spend(&store, "r2", Some(0.25)), 0.75);
}
