//! What an extension event says, and when it says nothing.

use super::*;
use crate::parse_time;

fn ts() -> Timestamp {
    parse_time("2026-01-02T03:04:05Z").expect("it is well formed")
}

#[test]
fn everything_of_ours_stands_in_one_last_member() {
    let header = SessionHeader { format: FORMAT, name: "demo".into(), workspace: "/w".into(), ..Default::default() };
    let mut line = Vec::new();
    Extension::Session(header).into_event(ts()).encode(&mut line);
    assert_eq!(
        String::from_utf8(line).expect("JSON is text"),
        concat!(
            r#"{"ts":"2026-01-02T03:04:05Z","kind":"x.session","#,
            r#""x":{"format":1,"name":"demo","workspace":"/w"}}"#,
            "\n"
        )
    );
}

#[test]
fn an_extension_reads_back_as_it_was_written() {
    let all = [
        Extension::Session(SessionHeader { format: 1, name: "a".into(), parent: "b".into(), ..Default::default() }),
        Extension::Title(TitleSet { title: "Oaks".into(), by: TitleSource::User }),
        Extension::Turn(TurnMark {
            id: "t".into(),
            phase: TurnPhase::End,
            outcome: "done".into(),
            checkpoint: Some(3),
        }),
        Extension::Usage(Usage { model: "m".into(), input: Some(0), cost: Some(0.25), ..Default::default() }),
        Extension::Checkpoint(CheckpointMark { action: "taken".into(), turn: Some(1), note: String::new() }),
        Extension::Successor(Successor { name: "next".into() }),
        Extension::Note(Note { topic: "repaired".into(), text: "one line".into() }),
    ];
    for extension in all {
        assert_eq!(extension.clone().into_event(ts()).extension(), Some(extension));
    }
}

fn said(line: &str) -> Option<Extension> {
    Event::parse(line.as_bytes()).expect("it is an event").expect("it is not blank").extension()
}

#[test]
fn an_event_that_does_not_say_what_it_is_for_says_nothing() {
    for line in [
        r#"{"kind":"x.turn"}"#,
        r#"{"kind":"x.turn","x":{}}"#,
        r#"{"kind":"x.turn","x":{"id":"t1"}}"#,
        r#"{"kind":"x.turn","x":{"phase":"end"}}"#,
        r#"{"kind":"x.title","x":{"by":"user"}}"#,
        r#"{"kind":"x.checkpoint","x":{"turn":3}}"#,
        r#"{"kind":"x.successor","x":{}}"#,
        r#"{"kind":"x.note","x":{"text":"oak"}}"#,
        r#"{"kind":"x.title","x":{"title":3}}"#,
    ] {
        assert_eq!(said(line), None, "{line}");
    }
    let title = TitleSet { title: "Oaks".into(), by: TitleSource::Auto };
    assert_eq!(said(r#"{"kind":"x.title","x":{"title":"Oaks"}}"#), Some(Extension::Title(title)));
    assert_eq!(said(r#"{"kind":"x.usage","x":{}}"#), Some(Extension::Usage(Usage::default())));
}

#[test]
fn a_header_without_a_format_has_the_first_one() {
    let Some(Extension::Session(header)) = said(r#"{"kind":"x.session","x":{"name":"oaks"}}"#) else {
        panic!("it is one")
    };
    assert_eq!((header.format, header.name.as_str()), (FORMAT, "oaks"));
}

#[test]
fn a_member_that_no_value_can_hold_costs_that_member_alone() {
    let line = r#"{"kind":"x.turn","x":{"id":"t1","phase":"end","later":1e400}}"#;
    let mark = TurnMark { id: "t1".into(), phase: TurnPhase::End, outcome: String::new(), checkpoint: None };
    assert_eq!(said(line), Some(Extension::Turn(mark)));
    let Some(Extension::Usage(usage)) = said(r#"{"kind":"x.usage","x":{"cost":1e400,"output":3}}"#) else {
        panic!("it is one")
    };
    assert_eq!((usage.cost, usage.output), (None, Some(3)));
}
