//! Sessions that come from elsewhere.

use crate::garden::{FAIL, FULL, Garden, STOP, at_every_step_of};
use crate::scratch::{Scratch, name};
use session_core::{Event, Extension, Message, TitleSource, Usage, parse_time};
use session_disk::faults::with;
use session_store::{Deletion, ImportOrigin, NewImport, StoreError};
use std::fs;

fn events() -> Vec<Event> {
    let ts = parse_time("2025-01-02T03:04:05Z").expect("it is well formed");
    let usage = |cost| Extension::Usage(Usage { response: "r1".into(), cost: Some(cost), ..Usage::default() });
    vec![
        Event::settings(ts, "m1", false, Vec::new()),
        Event::message(ts, Message::user("plant three oaks")),
        Event::message(ts, Message::assistant("digging")),
        usage(0.25).into_event(ts),
        usage(0.25).into_event(ts),
    ]
}

fn origin() -> ImportOrigin {
    ImportOrigin {
        source: "s1.jsonl".into(),
        sha256: "ab".into(),
        format: "pi".into(),
        id: "s1".into(),
        ..Default::default()
    }
}

#[test]
fn what_the_history_says_is_what_the_metadata_says() {
    let scratch = Scratch::new();
    let (store, events) = (scratch.store(), events());
    let files = [(name("a.png"), &b"png"[..])];
    let new = NewImport {
        name: Some(name("oaks")),
        created: parse_time("2025-01-02T00:00:00Z"),
        workspace: "/w",
        title: "  Three \"oaks\" ",
        title_by: TitleSource::User,
        events: &events,
        files: &files,
        unknown: b"{}\n",
        origin: origin(),
        ..NewImport::default()
    };
    assert_eq!(store.import(&new).expect("nothing forbids it"), name("oaks"));
    let meta = store.read_meta(&name("oaks")).expect("it can be read").meta;
    assert_eq!(
        [&*meta.name, &meta.workspace, &meta.model, &meta.first_prompt],
        ["oaks", "/w", "m1", "plant three oaks"]
    );
    assert_eq!((meta.title.as_str(), meta.cost), ("Three \"oaks", 0.25));
    assert_eq!((meta.created, meta.updated), (new.created, parse_time("2025-01-02T03:04:05Z")));
    assert_eq!(store.imports().expect("it can be read"), [(name("oaks"), origin())]);
    assert_eq!(fs::read(scratch.path("oaks/tmp/a.png")).expect("it is there"), b"png");
    assert_eq!(fs::read(scratch.path("oaks/.raw/unknown.jsonl")).expect("it is there"), b"{}\n");
    // Metadata that was lost comes back from the history, the origin too.
    for file in ["meta.json", ".meta.json"] {
        fs::remove_file(scratch.path("oaks").join(file)).expect("it was there");
    }
    assert_eq!(store.imports().expect("it can be read"), [(name("oaks"), origin())]);
    let session = store.open(&name("oaks")).expect("it is there");
    session.append_messages([Message::user("and another")]).expect("it is a session like any other");
    assert_eq!(session.load().expect("it can be read").messages.len(), 3);
}

#[test]
fn without_a_title_the_first_prompt_that_a_person_wrote_gives_one() {
    let scratch = Scratch::new();
    let mut events = events();
    let mut injected = Event::message(events[0].ts.expect("it has a time"), Message::user("caveat"));
    injected.x.set(Event::INJECTED, &true.into());
    events.insert(0, injected);
    let new = NewImport { name: Some(name("oaks")), events: &events, ..NewImport::default() };
    scratch.store().import(&new).expect("nothing forbids it");
    let meta = scratch.store().read_meta(&name("oaks")).expect("it can be read").meta;
    assert_eq!((meta.title.as_str(), meta.first_prompt.as_str()), ("plant three oaks", "plant three oaks"));
    assert!(matches!(scratch.store().import(&new), Err(StoreError::Exists { .. })));
}

#[test]
fn a_message_that_is_too_long_for_a_line_is_kept_whole_beside_the_history() {
    let scratch = Scratch::new();
    let text = "oak ".repeat(3 << 20);
    let ts = parse_time("2025-01-02T03:04:05Z").expect("it is well formed");
    let events = [Event::message(ts, Message::tool_result("c1", "Shell", text.clone()))];
    let new = NewImport { name: Some(name("oaks")), events: &events, ..NewImport::default() };
    scratch.store().import(&new).expect("nothing forbids it");
    let loaded = scratch.store().open(&name("oaks")).and_then(|session| session.load()).expect("it can be read");
    let shown = loaded.messages[0].content.text().into_owned();
    let path = shown.split("all of it is in ").nth(1).and_then(|rest| rest.split(']').next()).expect("it says where");
    assert_eq!(fs::read_to_string(scratch.path("oaks").join(path)).expect("it is there"), text);
}

#[test]
fn a_thought_that_is_too_long_for_a_line_is_kept_whole_beside_the_history_too() {
    let scratch = Scratch::new();
    let thought = "three oaks or two? ".repeat(600_000);
    let ts = parse_time("2025-01-02T03:04:05Z").expect("it is well formed");
    let thinks = Message { reasoning_content: thought.clone().into(), ..Message::assistant("digging") };
    let events = [Event::message(ts, Message::user("plant")), Event::message(ts, thinks)];
    let new = NewImport { name: Some(name("oaks")), events: &events, ..NewImport::default() };
    scratch.store().import(&new).expect("nothing forbids it");
    let loaded = scratch.store().open(&name("oaks")).and_then(|session| session.load()).expect("it can be read");
    let message = &loaded.messages[1];
    assert!(message.content.text().starts_with("digging"), "{}", message.content.text());
    let shown = message.reasoning_content.to_string();
    assert!(shown.len() < 100_000 && shown.starts_with("three oaks or two?"), "{}", shown.len());
    let path = shown.split("all of it is in ").nth(1).and_then(|rest| rest.split(']').next()).expect("it says where");
    assert!(fs::read_to_string(scratch.path("oaks").join(path)).expect("it is there") == thought);
}

#[test]
fn an_event_that_is_long_by_something_else_than_its_message_is_named_and_nothing_is_left_behind() {
    let scratch = Scratch::new();
    let ts = parse_time("2025-01-02T03:04:05Z").expect("it is well formed");
    let long = "oak ".repeat(3 << 20);
    let note = Extension::Note(session_core::Note { topic: "oaks".into(), text: long.clone() });
    let call = session_core::ToolCall { id: "c1".into(), arguments: format!("{long:?}"), ..Default::default() };
    let asks = Message { tool_calls: [call].into(), ..Message::assistant("digging") };
    for event in [note.into_event(ts), Event::message(ts, asks)] {
        let events = [Event::message(ts, Message::user("plant")), event, Event::message(ts, Message::user("more"))];
        let files = [(name("a.png"), &b"png"[..])];
        let new = NewImport { name: Some(name("oaks")), events: &events, files: &files, ..NewImport::default() };
        match scratch.store().import(&new).expect_err("the reference could not read it") {
            StoreError::LineTooLong { event, bytes, limit, path } => {
                assert_eq!((event, limit, path.file_name()), (1, 10 << 20, Some("history.jsonl".as_ref())));
                assert!(bytes > long.len() as u64, "{bytes}");
            }
            error => panic!("{error}"),
        }
        assert_eq!(scratch.store().names().expect("it can be read"), []);
        let staging = scratch.path(".session-store/staging");
        assert_eq!(fs::read_dir(staging).map_or(0, Iterator::count), 0, "nothing is left behind");
    }
    let short = NewImport { name: Some(name("oaks")), ..NewImport::default() };
    scratch.store().import(&short).expect("the name is free");
}

#[test]
fn i34_an_import_that_fails_at_any_step_leaves_no_session_or_all_of_it() {
    let garden = Garden::new();
    let events = events();
    let files = [(name("a.png"), &b"png"[..])];
    let new = NewImport {
        name: Some(name("oaks")),
        events: &events,
        files: &files,
        unknown: b"{}\n",
        origin: origin(),
        ..NewImport::default()
    };
    at_every_step_of(&[FAIL, FULL, STOP], 12, |fault| {
        let run = with(fault, || garden.store().import(&new));
        let stands = garden.scratch.path("oaks").exists();
        assert!(stands || run.result.is_err(), "{fault:?}");
        if stands {
            // Whole, whatever the answer was.
            assert_eq!(garden.said("oaks"), ["plant three oaks", "digging"], "{fault:?}");
            assert!(garden.scratch.path("oaks/tmp/a.png").exists() && garden.scratch.path("oaks/.raw").exists());
            garden.store().delete(&name("oaks"), Deletion::Careful).expect("nothing forbids it");
        }
        garden.store().import(&new).expect("it can be repeated");
        garden.store().delete(&name("oaks"), Deletion::Careful).expect("nothing forbids it");
        run.hit
    });
}
