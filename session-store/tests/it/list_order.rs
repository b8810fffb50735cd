//! The order of a list, and which session is the most recent one.

use crate::scratch::{Scratch, at_second, name, touch, user};
use session_store::{Empties, ListSubject, Store};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

fn names(store: &Store) -> Vec<String> {
    let listed = store.list(Empties::Hide).expect("the store can be read");
    listed.into_iter().map(|info| info.name).collect()
}

/// Three sessions whose files were written in another order than their events.
fn three() -> Scratch {
    let scratch = Scratch::new();
    for (session, second, modified) in [("oldest", 1, 900), ("newest", 30, 100), ("middle", 15, 500)] {
        scratch.session(session, &[user(second, "plant")]);
        touch(&scratch.path(format!("{session}/history.jsonl")), at_second(modified));
    }
    scratch
}

fn copy(from: &Path, to: &Path) {
    let done = Command::new("cp").arg("-r").arg(from).arg(to).status().expect("cp can be run");
    assert!(done.success());
}

#[test]
fn ls02_a_touched_copied_or_retitled_store_keeps_its_order() {
    let scratch = three();
    let order = ["newest", "middle", "oldest"];
    assert_eq!(names(&scratch.store()), order);

    for session in ["newest", "oldest", "middle"] {
        touch(&scratch.path(format!("{session}/history.jsonl")), SystemTime::now());
    }
    assert_eq!(names(&scratch.store()), order);

    let copied = scratch.outside().join("copied");
    copy(&scratch.base(), &copied);
    assert_eq!(names(&Store::open_at(copied)), order);

    let session = scratch.store().open(&name("oldest")).expect("it exists");
    session.update_meta(|meta| meta.title = "Oaks".into()).expect("it can be written");
    assert_eq!(names(&scratch.store()), order);
}

#[test]
fn ls02_a_time_that_has_not_come_yet_pins_nothing_on_top() {
    let scratch = three();
    let ahead = user(1, "late").replace("2026-01-02", "2999-01-02");
    scratch.session("ahead", &[user(1, "soon"), ahead]);
    touch(&scratch.path("ahead/history.jsonl"), at_second(1));
    assert_eq!(names(&scratch.store()), ["newest", "middle", "oldest", "ahead"]);
    assert_eq!(scratch.store().most_recent().expect("it can be read"), Some(name("newest")));

    let listed = scratch.store().list(Empties::Hide).expect("the store can be read");
    assert!(listed[3].updated > listed[0].updated, "what the event says is shown as it says it");
    let flagged: Vec<_> = listed.iter().filter(|info| info.is_ahead).map(|info| info.name.as_str()).collect();
    assert_eq!(flagged, ["ahead"]);
    assert!(matches!(listed[3].notes()[..], [session_store::ListNote { about: ListSubject::Ahead(_), .. }]));
}

#[test]
fn ls02_equal_times_go_by_the_file_s_time_and_then_by_name() {
    let scratch = Scratch::new();
    for (session, modified) in [("b", 100), ("c", 100), ("a", 100), ("z", 200)] {
        scratch.session(session, &[user(7, "plant")]);
        touch(&scratch.path(format!("{session}/history.jsonl")), at_second(modified));
    }
    assert_eq!(names(&scratch.store()), ["z", "a", "b", "c"]);
}

#[test]
fn the_newest_event_is_the_last_one_in_the_file_whatever_zone_it_names() {
    let scratch = Scratch::new();
    let zoned = user(0, "east").replace("03:04:00Z", "05:04:00+02:00");
    scratch.session("east", &[user(59, "first"), zoned, "{\"kind\":\"notice\",\"text\":\"no time\"}\n".into()]);
    let listed = scratch.store().list(Empties::Hide).expect("the store can be read");
    let updated = listed[0].updated.as_ref().map(session_core::format_time);
    assert_eq!(updated.as_deref(), Some("2026-01-02T03:04:00Z"));
}

#[test]
fn h23_empty_sessions_are_hidden_and_never_the_most_recent() {
    let scratch = Scratch::new();
    scratch.session("full", &[user(1, "plant")]);
    scratch.session("zero-bytes", &[]);
    scratch.session(
        "header-only",
        &["{\"ts\":\"2026-03-01T00:00:00Z\",\"kind\":\"x.session\",\"x\":{\"format\":1}}\n".into()],
    );
    scratch.session("rolled-back", &[user(50, "no"), "{\"kind\":\"rollback\",\"dropped\":1}\n".into()]);
    scratch.dir("no-history");
    scratch.put("meta-only/meta.json", "{\"name\":\"meta-only\",\"title\":\"Oaks\"}");
    let store = scratch.store();
    assert_eq!(names(&store), ["full"]);
    assert_eq!(store.most_recent().expect("it can be read"), Some(name("full")));

    let mut all: Vec<_> =
        store.list(Empties::Show).expect("it can be read").into_iter().map(|info| info.name).collect();
    all.sort();
    assert_eq!(all, ["full", "header-only", "meta-only", "no-history", "rolled-back", "zero-bytes"]);
    for empty in ["zero-bytes", "header-only", "no-history", "meta-only"] {
        assert_eq!(store.load(&name(empty)).expect("it is a session").messages, []);
    }
}

#[test]
fn h23_a_store_without_a_session_with_messages_has_no_most_recent_one() {
    let scratch = Scratch::new();
    scratch.session("zero-bytes", &[]);
    assert_eq!(scratch.store().most_recent().expect("it can be read"), None);
}

#[test]
fn ls04_an_unknown_name_is_an_error_with_close_matches_and_creates_nothing() {
    let scratch = Scratch::new();
    for session in ["demo", "demo-2", "dome", "gardening", "2026-01-02-abc123"] {
        scratch.session(session, &[user(1, "plant")]);
    }
    let store = scratch.store();
    let before = crate::scratch::picture(scratch.outside());
    assert!(matches!(store.load(&name("demx")), Err(session_store::StoreError::NotFound { .. })));
    assert!(matches!(store.open(&name("demx")), Err(session_store::StoreError::NotFound { .. })));
    let close = |wanted: &str| {
        let found = store.similar(wanted).expect("it can be read");
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(close("demx"), ["demo"]);
    assert_eq!(close("gardning"), ["gardening"]);
    assert_eq!(close("2026-01"), ["2026-01-02-abc123"]);
    assert_eq!(close("DEMO"), ["demo"]);
    assert_eq!(close("zebra"), [""; 0]);
    assert_eq!(close(""), [""; 0]);
    assert_eq!(crate::scratch::picture(scratch.outside()), before);
}
