//! Titles that programs make, and those that people give.

use crate::garden::{Garden, at_every_step};
use crate::meanwhile::{Once, Redacting, is_awaited};
use crate::scratch::{Scratch, eventually, name};
use crate::support::quick;
use session_core::{Message, TitleSource};
use session_disk::faults::with;
use session_store::{NewSession, Session};
use std::fs;
use std::sync::mpsc;
use std::thread;

fn untitled(garden: &Garden) -> Session {
    let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
    garden.quick().create(&new).expect("it can be created")
}

#[test]
fn ti01_an_automatic_title_comes_from_what_a_person_wrote_first_and_only_fills_an_empty_field() {
    let garden = Garden::new();
    let session = untitled(&garden);
    session
        .append_messages([
            Message::user("# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>"),
            Message::user("<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
            Message::user("<system-reminder>be kind</system-reminder>\nplant three oaks by the water"),
        ])
        .expect("nothing forbids it");
    assert_eq!(session.auto_title().expect("nothing forbids it").title, "plant three oaks by the");
    session.append_messages([Message::user("something else")]).expect("nothing forbids it");
    assert_eq!(session.auto_title().expect("nothing forbids it").title, "plant three oaks by the");
    session.set_title("Oaks", TitleSource::User).expect("nothing forbids it");
    assert_eq!(session.auto_title().expect("nothing forbids it").title, "Oaks");
    assert_eq!(session.set_title("Birches", TitleSource::Auto).expect("it is no error").title, "Oaks");
}

#[test]
fn ti01_a_session_in_which_nobody_wrote_anything_gets_no_title() {
    let garden = Garden::new();
    let session = untitled(&garden);
    assert_eq!(session.auto_title().expect("nothing forbids it").title, "");
    session.append_messages([Message::user("<system-reminder>x</system-reminder>")]).expect("nothing forbids it");
    assert_eq!(session.auto_title().expect("nothing forbids it").title, "");
}

#[test]
fn ti01_setting_a_title_that_fails_at_any_step_leaves_the_old_or_the_new_and_can_be_repeated() {
    at_every_step(6, |fault| {
        let garden = Garden::of_two_turns();
        let session = garden.open("demo");
        let run = with(fault, || session.set_title("Birches", TitleSource::User));
        let title = garden.store().read_meta(&name("demo")).expect("it can be read").meta.title;
        assert!(title == "Birches" || title == "Oaks" && run.result.is_err(), "{fault:?}: {title}");
        assert_eq!(garden.said("demo").len(), 4, "{fault:?}");
        drop(session);
        garden.open("demo").set_title("Birches", TitleSource::User).expect("it can be repeated");
        assert_eq!(garden.store().read_meta(&name("demo")).expect("it can be read").meta.title, "Birches");
        run.hit
    });
}

/// The title and whether it is pinned, by the history alone; and how many events say so.
fn told(scratch: &Scratch) -> (String, bool, usize) {
    for file in ["demo/meta.json", "demo/.meta.json"] {
        fs::remove_file(scratch.path(file)).expect("it was written");
    }
    let session = scratch.store().open(&name("demo")).expect("it is there");
    let history = fs::read_to_string(session.paths().history()).expect("it is text");
    let events = history.lines().filter(|line| line.contains("x.title") || line.contains("x.note")).count();
    (session.meta().expect("it can be read").meta.title, session.is_pinned().expect("it can be read"), events)
}

fn tells(session: &Session) {
    session.set_title("Oaks", TitleSource::User).expect("nothing forbids it");
    session.pin().expect("nothing forbids it");
}

#[test]
fn what_was_said_of_a_session_before_its_history_begins_stands_at_its_beginning() {
    let scratch = Scratch::new();
    let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
    let session = scratch.store_with(quick()).create(&new).expect("its name is free");
    tells(&session);
    assert!(!scratch.path("demo/history.jsonl").exists());
    session.append_messages([Message::user("plant three oaks")]).expect("nothing forbids it");
    drop(session);
    assert_eq!(told(&scratch), ("Oaks".to_owned(), true, 2));
}

#[test]
fn what_is_said_of_a_session_whose_history_begins_at_that_moment_is_in_it() {
    let says: [(fn(&Session), _); 3] = [
        (|session| drop(session.set_title("Oaks", TitleSource::User)), ("Oaks".to_owned(), false, 1)),
        (|session| drop(session.pin()), (String::new(), true, 1)),
        (|session| drop(session.pin().and_then(|_| session.unpin())), (String::new(), false, 2)),
    ];
    for (say, wanted) in says {
        let scratch = Scratch::new();
        let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
        let other = scratch.store_with(quick()).create(&new).expect("its name is free");
        // Whoever says it asks for the time once it has seen that there is no history.
        let begins = Once::new(move || {
            other.append_messages([Message::user("plant three oaks")]).expect("nothing forbids it");
        });
        let store = scratch.store_with(quick()).with_clock(move || {
            begins.act();
            crate::support::ts()
        });
        say(&store.open(&name("demo")).expect("it is there"));
        assert_eq!(told(&scratch), wanted);
    }
}

#[test]
fn what_is_said_of_a_session_while_another_writes_the_beginning_of_its_history_is_in_it() {
    let scratch = Scratch::new();
    let new = NewSession { name: Some(name("demo")), ..NewSession::default() };
    let store = scratch.store_with(quick());
    let (said, begins) =
        (store.create(&new).expect("its name is free"), store.open(&name("demo")).expect("it is there"));
    let history = scratch.path("demo/history.jsonl");
    let (sender, receiver) = mpsc::channel();
    // It has read the metadata, and has the lock of the history.
    let meanwhile = move || {
        let saying = thread::spawn(move || tells(&said));
        eventually(|| (saying.is_finished() || is_awaited(&history)).then_some(()));
        sender.send(saying).expect("it is received");
    };
    let begins = begins.redacted_by(Redacting::with("x.session", meanwhile));
    begins.append_messages([Message::user("plant three oaks")]).expect("nothing forbids it");
    receiver.recv().expect("it was sent").join().expect("it does not panic");
    drop(begins);
    assert_eq!(told(&scratch), ("Oaks".to_owned(), true, 2));
}

#[test]
fn ti01_a_title_and_other_fields_are_there_together_or_not_at_all() {
    at_every_step(6, |fault| {
        let garden = Garden::of_two_turns();
        let session = garden.open("demo");
        let change = || {
            session.update_meta_and_title("Birches", |meta| {
                meta.model = "m2".to_owned();
                meta.title = "Elms".to_owned();
            })
        };
        let run = with(fault, change);
        let file = fs::read_to_string(session.paths().meta()).expect("it is there");
        assert_eq!(file.contains("\"Birches\""), file.contains("\"m2\""), "{fault:?}: {file}");
        assert!(!file.contains("Elms"), "{fault:?}: {file}");
        change().expect("it can be repeated");
        let meta = garden.store().read_meta(&name("demo")).expect("it can be read").meta;
        assert_eq!((&*meta.title, &*meta.model), ("Birches", "m2"), "{fault:?}");
        run.hit
    });
}
