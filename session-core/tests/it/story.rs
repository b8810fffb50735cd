//! A conversation as it is told to people: its turns, and what they come to.

use session_core::interop::export::{Aside, End, Piece, Selection, Story};
use session_core::{Event, Item, Limits, LiveEvents, Spending, Timeline, scan_bytes};

/// The story of a history, all events shown.
fn story(history: &str) -> Story {
    let (bytes, limits) = (history.as_bytes(), Limits::default());
    let live = LiveEvents::read(bytes, limits).expect("a slice can be read");
    let timeline = Timeline::read(bytes, limits).expect("a slice can be read");
    let mut selection = Selection::new(&live).raw(true);
    let events = scan_bytes(bytes).filter_map(|item| match item {
        Item::Record(record) => Some(*record.event),
        Item::Defect(_) => None,
    });
    let entries = events.filter_map(|event: Event| selection.next(event)).collect();
    let spent = Spending::read(bytes, limits).expect("a slice can be read").responses().to_vec();
    let end = End { rollbacks: selection.rollbacks().to_vec(), spent, ..End::default() };
    Story::new(entries, timeline.turns(), &end)
}

const TURN: &str = r#"{"ts":"2026-01-02T03:04:00Z","kind":"settings","model":"small"}
{"ts":"2026-01-02T03:04:01Z","kind":"x.turn","x":{"id":"t1","phase":"start"}}
{"ts":"2026-01-02T03:04:01Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}
{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"Dig"}}]}}
{"ts":"2026-01-02T03:04:08Z","kind":"tool_result","ms":3000,"message":{"role":"tool","tool_call_id":"c1","content":"dug"}}
{"ts":"2026-01-02T03:04:09Z","kind":"x.usage","x":{"model":"large","response":"r1","input":10,"output":7}}
{"ts":"2026-01-02T03:04:09Z","kind":"x.usage","x":{"model":"","response":"r2","input":1,"output":1}}
{"ts":"2026-01-02T03:04:09Z","kind":"message","message":{"role":"assistant","content":"wrong"}}
{"ts":"2026-01-02T03:04:10Z","kind":"rollback","dropped":1}
{"ts":"2026-01-02T03:04:11Z","kind":"x.turn","x":{"id":"t1","phase":"end","outcome":"failed"}}
"#;

#[test]
fn a_turn_has_its_outcome_its_time_and_its_models() {
    let story = story(TURN);
    let turn = story.chapters.iter().find(|chapter| chapter.number.is_some()).expect("there is one");
    assert_eq!((turn.number, turn.outcome.as_deref(), &*turn.prompt), (Some(1), Some("failed"), "plant three oaks"));
    assert_eq!(story.models, ["small", "large"], "each once, and none without a name");
    let figures = &story.figures;
    assert_eq!((figures.model_ms, figures.tools_ms, figures.waiting_ms), (Some(5_000), Some(3_000), Some(0)));
    assert_eq!((figures.worked_ms(), figures.tokens()), (Some(8_000), Some(19)));
    assert_eq!((figures.calls, figures.rollbacks), (1, 1));
}

#[test]
fn what_is_no_message_is_told_in_its_place() {
    let story = story(TURN);
    let asides: Vec<&Aside> = story
        .chapters
        .iter()
        .flat_map(|chapter| &chapter.pieces)
        .filter_map(|piece| match piece {
            Piece::Aside(_, aside) => Some(aside),
            Piece::Message(..) | Piece::Result(_) => None,
        })
        .collect();
    assert_eq!(asides, [&Aside::Model("small".into()), &Aside::TakenBack(1), &Aside::Ended("failed".into())]);
}
