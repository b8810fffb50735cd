//! Titles that programs make, and those that people give.

use crate::garden::{Garden, at_every_step};
use crate::scratch::name;
use session_core::{Message, TitleSource};
use session_disk::faults::with;
use session_store::NewSession;

fn untitled(garden: &Garden) -> session_store::Session {
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
