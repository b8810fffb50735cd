//! Metadata that this project and the reference both write.

use super::reference::{reads_meta, saves_meta};
use session_core::{Extension, Item, Message, Meta, TitleSource, parse_time};
use session_store::{NewSession, Session, Store};
use std::fs;
use tempfile::TempDir;

fn session() -> (TempDir, Session) {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let store = Store::open_at(dir.path().join("sessions"));
    let new = NewSession { workspace: "/w".into(), model: "elm:high".into(), ..NewSession::default() };
    let session = store.create(&new).expect("it can be created");
    (dir, session)
}

fn meta(session: &Session) -> Meta {
    session.meta().expect("it can be read").meta
}

fn file(session: &Session) -> Meta {
    Meta::parse(&fs::read(session.paths().meta()).expect("it is there")).expect("it is whole")
}

#[test]
fn a_value_that_was_replaced_does_not_come_back_with_the_reference() {
    let (_dir, session) = session();
    let remembered = reads_meta(session.paths());
    session.update_meta(|meta| meta.model = "oak".into()).expect("it can be changed");
    saves_meta(session.paths(), &remembered);
    assert_eq!(file(&session).model, "elm:high", "the reference wrote what it remembers");
    assert_eq!(meta(&session).model, "oak");
    session.update_meta(|meta| meta.cost = 1.0).expect("it can be changed");
    assert_eq!(file(&session).model, "oak");
}

#[test]
fn a_new_value_of_the_reference_is_taken() {
    let (_dir, session) = session();
    session.update_meta(|meta| meta.model = "oak".into()).expect("it can be changed");
    let mut remembered = reads_meta(session.paths());
    remembered.model = "pine".into();
    remembered.cost = 0.5;
    saves_meta(session.paths(), &remembered);
    assert_eq!((meta(&session).model.as_str(), meta(&session).cost), ("pine", 0.5));
    session.update_meta(|meta| meta.workspace = "/v".into()).expect("it can be changed");
    let file = file(&session);
    assert_eq!((file.model.as_str(), file.cost, file.workspace.as_str()), ("pine", 0.5, "/v"));
}

#[test]
fn a_value_that_is_set_again_is_not_taken_for_an_old_one() {
    let (_dir, session) = session();
    for model in ["oak", "elm:high"] {
        session.update_meta(|meta| meta.model = model.into()).expect("it can be changed");
    }
    saves_meta(session.paths(), &Meta { model: "oak".into(), ..reads_meta(session.paths()) });
    assert_eq!(meta(&session).model, "elm:high");
}

#[test]
fn fields_that_the_reference_drops_survive() {
    let (_dir, session) = session();
    let with_tags = r#"{"name":"s","tags":["a",1e400],"Pinned":true,"x":{"mine":[1]}}"#;
    fs::write(session.paths().meta(), with_tags).expect("it can be written");
    session.update_meta(|meta| meta.cost = 1.0).expect("it can be changed");
    let remembered = reads_meta(session.paths());
    saves_meta(session.paths(), &remembered);
    for meta in
        [meta(&session), session.update_meta(|meta| meta.cost = 2.0).expect("it can be changed"), file(&session)]
    {
        assert_eq!(meta.extra.get("tags"), Some(r#"["a",1e400]"#));
        assert_eq!(meta.extra.get("Pinned"), Some("true"));
        assert_eq!(meta.x.get("mine"), Some("[1]"));
    }
}

#[test]
fn the_later_time_counts() {
    let (_dir, session) = session();
    let later = parse_time("2099-01-02T03:04:05Z");
    saves_meta(session.paths(), &Meta { updated: later, ..reads_meta(session.paths()) });
    assert_eq!(meta(&session).updated, later);
    saves_meta(session.paths(), &Meta { updated: parse_time("2001-01-01T00:00:00Z"), ..reads_meta(session.paths()) });
    assert!(meta(&session).updated > parse_time("2026-01-01T00:00:00Z"));
}

#[test]
fn a_persons_title_is_replaced_by_nobody_else() {
    let (_dir, session) = session();
    session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    session.set_title("  \"Oaks\" ", TitleSource::User).expect("it can be set");
    session.set_title("Automatic", TitleSource::Auto).expect("it is no error");
    session.update_meta(|meta| meta.title = "Changed".into()).expect("it is no error");
    saves_meta(session.paths(), &Meta { title: "The reference's".into(), ..reads_meta(session.paths()) });
    assert_eq!(meta(&session).title, "Oaks");
    session.set_title("Elms", TitleSource::User).expect("it can be set");
    assert_eq!(meta(&session).title, "Elms");
}

#[test]
fn an_automatic_title_only_fills_an_empty_field() {
    let (_dir, session) = session();
    session.set_title("First", TitleSource::Auto).expect("it can be set");
    session.set_title("Second", TitleSource::Auto).expect("it is no error");
    session.set_title("", TitleSource::Auto).expect("it is no error");
    assert_eq!(meta(&session).title, "First");
}

#[test]
fn a_title_waits_in_the_metadata_until_there_is_a_history() {
    let (_dir, session) = session();
    session.set_title("Oaks", TitleSource::User).expect("it can be set");
    assert!(!session.paths().history().exists());
    session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    let kinds: Vec<_> = session
        .view()
        .expect("it can be read")
        .forwards()
        .map(|item| match item.expect("it can be read") {
            Item::Record(record) => (record.event.kind.to_string(), record.event.extension()),
            Item::Defect(defect) => panic!("{defect:?}"),
        })
        .collect();
    let [(session_kind, Some(Extension::Session(header))), (_, Some(Extension::Title(title))), (message, None)] =
        &kinds[..]
    else {
        panic!("{kinds:?}")
    };
    assert_eq!((session_kind.as_str(), message.as_str()), ("x.session", "message"));
    assert_eq!((header.format, header.workspace.as_str(), header.model.as_str()), (1, "/w", "elm:high"));
    assert_eq!((header.name.as_str(), title.title.as_str(), title.by), (session.name(), "Oaks", TitleSource::User));
}

#[test]
fn what_the_first_line_says_is_a_fact_that_the_reference_does_not_change() {
    let (_dir, session) = session();
    session.append_messages([Message::user("plant three oaks")]).expect("it can be appended to");
    saves_meta(session.paths(), &Meta { workspace: "/elsewhere".into(), ..reads_meta(session.paths()) });
    assert_eq!(meta(&session).workspace, "/w");
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let (_dir, session) = session();
    let before = fs::read(session.paths().meta()).expect("it is there");
    let meta = session.update_meta(|meta| meta.model = "elm:high".into()).expect("it is no error");
    assert_eq!(fs::read(session.paths().meta()).expect("it is there"), before);
    assert_eq!(meta.to_json(), before);
}
