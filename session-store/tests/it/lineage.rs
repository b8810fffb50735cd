//! Where sessions come from and go.

use crate::scratch::{Scratch, name, user};
use crate::support::quick;
use session_core::Message;
use session_store::{Lineage, NewSession, Origin, StoreError};
use std::fmt::Write as _;
use std::fs;

fn meta(scratch: &Scratch, session: &str, parent: &str, successor: &str) {
    let mut meta = format!("{{\"name\":\"{session}\"");
    if !parent.is_empty() {
        write!(meta, ",\"parent\":\"{parent}\"").expect("a string takes everything");
    }
    if !successor.is_empty() {
        write!(meta, ",\"succeeded_by\":\"{successor}\"").expect("a string takes everything");
    }
    scratch.put(format!("{session}/meta.json"), meta + "}");
}

fn told(lineage: &Lineage) -> String {
    let all = lineage.ancestors.iter().chain([&lineage.session]).chain(&lineage.successors);
    let one = |one: &session_store::Relative| {
        format!("{}:{}{}", one.name, one.origin.as_str(), if one.exists { "" } else { "?" })
    };
    all.map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_chain_is_told_from_its_first_parent_to_its_last_successor() {
    let scratch = Scratch::new();
    meta(&scratch, "a", "", "b");
    meta(&scratch, "b", "a", "");
    meta(&scratch, "c", "b", "d");
    meta(&scratch, "d", "c", "gone");
    let store = scratch.store();
    let of = |session: &str| told(&store.lineage(&name(session)).expect("it can be read"));
    assert_eq!(of("c"), "a:new b:compaction c:fork d:compaction gone:compaction?");
    assert_eq!(of("a"), "a:new b:compaction");
    scratch.session("alone", &[user(1, "hi")]);
    scratch.put("flat.jsonl", user(1, "hi"));
    assert_eq!((of("alone"), of("flat")), ("alone:new".into(), "flat:new".into()));
    assert!(matches!(store.lineage(&name("none")), Err(StoreError::NotFound { .. })));
    meta(&scratch, "evil", "../../etc", "");
    assert_eq!(of("evil"), "../../etc:new? evil:fork");
}

#[test]
fn h10_links_that_lead_back_are_told_and_end() {
    let scratch = Scratch::new();
    meta(&scratch, "a", "b", "b");
    meta(&scratch, "b", "a", "a");
    meta(&scratch, "own", "own", "");
    let lineage = scratch.store().lineage(&name("a")).expect("it can be read");
    assert_eq!(lineage.loops.len(), 2);
    assert_eq!((lineage.loops[0].from.as_str(), lineage.loops[0].to.as_str()), ("b", "a"));
    let own = scratch.store().lineage(&name("own")).expect("it can be read");
    assert_eq!((own.ancestors.len(), own.loops[0].to.as_str()), (0, "own"));
    assert_eq!(own.session.origin, Origin::Fork);
}

#[test]
fn h10_a_very_long_chain_is_followed_without_recursion() {
    let links = session_testing::usually(5_000, 100_000);
    let scratch = Scratch::new();
    for n in 0..links {
        let next = if n + 1 < links { format!("s{}", n + 1) } else { String::new() };
        let parent = if n > 0 { format!("s{}", n - 1) } else { String::new() };
        meta(&scratch, &format!("s{n}"), &parent, &next);
    }
    let middle = links / 2;
    let lineage = scratch.store().lineage(&name(&format!("s{middle}"))).expect("it can be read");
    assert_eq!((lineage.ancestors.len(), lineage.successors.len()), (middle, links - middle - 1));
    assert_eq!((lineage.ancestors[0].name.as_str(), lineage.loops.len()), ("s0", 0));
}

#[test]
fn h19_who_names_a_successor_of_a_session_without_a_history_leaves_nobody_to_begin_one() {
    let scratch = Scratch::new();
    let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
    let session = scratch.store_with(quick()).create(&new).expect("its name is free");
    let lock = session.lock().expect("nobody has it");
    session.update_meta(|meta| meta.succeeded_by = "demo-2".into()).expect("the lock is held");
    assert_eq!(fs::read(session.paths().history()).expect("it was made"), b"");
    let refused = session.append_messages([Message::user("plant")]).expect_err("another goes on with it");
    assert!(matches!(refused, StoreError::Succeeded { .. }), "{refused}");
    drop(lock);
}
