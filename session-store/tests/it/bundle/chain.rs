//! Several sessions in one bundle, and how they name each other.

use super::{Elsewhere, bundle, how, import, imported};
use crate::garden::Garden;
use crate::scratch::{name, user};
use session_core::Message;
use session_store::{BundleImport, Compaction, NewFork, Store};

/// A session that a second one goes on with, and a fork of the second.
pub(super) fn family() -> Garden {
    let garden = Garden::of_two_turns();
    let store = garden.quick();
    let source = store.open(&name("demo")).expect("it is there");
    let lock = source.lock().expect("it is free");
    let plan = Compaction { name: Some(name("demo-b")), summary: "three oaks were planted".into() };
    store.compact(&source, &lock, &plan, None).map(drop).expect("nothing forbids it");
    lock.release().expect("it is held");
    let fork = NewFork { name: Some(name("fork")), ..NewFork::default() };
    store.fork(&name("demo-b"), &fork, None).expect("nothing forbids it");
    garden
}

const FAMILY: [&str; 3] = ["demo", "demo-b", "fork"];

/// Parent and successor of a session.
fn links(store: &Store, session: &str) -> [String; 2] {
    let meta = store.read_meta(&name(session)).expect("it can be read").meta;
    [meta.parent, meta.succeeded_by]
}

#[test]
fn e03_a_family_comes_back_as_it_was() {
    let garden = family();
    let first = bundle(&garden.store(), &FAMILY);
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    assert_eq!(imported(&store, &first), FAMILY);
    for session in FAMILY {
        assert_eq!(links(&store, session), links(&garden.store(), session));
    }
    assert!(bundle(&store, &FAMILY) == first);
    assert_eq!(store.open(&name("demo")).expect("it is there").name(), "demo-b", "opening follows");
}

#[test]
fn e03_where_names_are_taken_the_family_keeps_together() {
    let garden = family();
    let store = garden.store();
    let came = imported(&store, &bundle(&store, &FAMILY));
    assert_eq!(came, ["demo-2", "demo-b-2", "fork-2"]);
    assert_eq!(links(&store, "demo-2"), ["", "demo-b-2"]);
    assert_eq!(links(&store, "demo-b-2"), ["demo-2", ""]);
    assert_eq!(links(&store, "fork-2"), ["demo-b-2", ""]);
    assert_eq!(links(&store, "demo"), ["", "demo-b"]);
    let session = store.open(&name("demo-2")).expect("it is there");
    assert_eq!(session.name(), "demo-b-2");
    session.append_messages([Message::user("more")]).expect("nothing forbids it");
    // The link is a fact of the history too.
    for file in ["meta.json", ".meta.json"] {
        std::fs::remove_file(garden.scratch.path("demo-2").join(file)).expect("it was there");
    }
    assert_eq!(links(&store, "demo-2")[1], "demo-b-2");
}

#[test]
fn e03_a_name_that_only_one_of_the_family_had_to_give_up_is_told_to_the_others() {
    let garden = family();
    let elsewhere = Elsewhere::new();
    elsewhere.0.session("demo-b", &[user(5, "somebody else's")]);
    let store = elsewhere.store();
    assert_eq!(imported(&store, &bundle(&garden.store(), &FAMILY)), ["demo", "demo-b-2", "fork"]);
    assert_eq!(store.open(&name("demo")).expect("it is there").name(), "demo-b-2");
    assert_eq!(links(&store, "fork"), ["demo-b-2", ""]);
}

#[test]
fn e03_one_of_a_family_names_the_others_wherever_they_are() {
    let garden = family();
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    let own = bundle(&garden.store(), &["demo"]);
    let told = {
        let store = garden.store();
        let mut plan = store.bundle(session_store::BundleSecrets::Keep);
        plan.add(&name("demo"), None, &mut |_| {}).expect("nothing forbids it").succeeded_by.clone()
    };
    assert_eq!(told, "demo-b");
    imported(&store, &own);
    let session = store.open(&name("demo")).expect("it is there");
    assert_eq!((session.name(), session.dangling_successor()), ("demo", Some("demo-b")));
    // The other one comes later, and they know each other.
    let other = bundle(&garden.store(), &["demo-b"]);
    let late = BundleImport { sha256: "cd", ..how() };
    store.import_bundle(&late, &other[..]).expect("it is a good one");
    assert_eq!(store.open(&name("demo")).expect("it is there").name(), "demo-b");
}

#[test]
fn e03_what_came_in_before_stays_and_the_rest_comes() {
    let garden = family();
    let bundle = bundle(&garden.store(), &FAMILY);
    let elsewhere = Elsewhere::new();
    let store = elsewhere.store();
    imported(&store, &bundle);
    store.rename(&name("demo-b"), &name("oaks")).expect("nothing forbids it");
    store.delete(&name("demo"), session_store::Deletion::Careful).expect("nothing forbids it");
    let came = import(&store, &bundle).expect("it is a good one");
    let told: Vec<(&str, bool)> = came.iter().map(|came| (came.name.as_str(), came.is_known)).collect();
    assert_eq!(told, [("demo", false), ("oaks", true), ("fork", true)]);
    assert_eq!(links(&store, "demo"), ["", "oaks"], "it follows the one that was renamed");
}
