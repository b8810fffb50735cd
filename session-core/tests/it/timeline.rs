//! Turns, and the points that a conversation can go back to.

use crate::properties::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use session_core::{
    CheckpointMark, Conversation, CutError, Event, Extension, Limits, Message, Point, Timeline, Timestamp, TurnMark,
    TurnPhase, parse_time,
};

fn ts() -> Timestamp {
    parse_time("2026-01-02T03:04:05Z").expect("it is well formed")
}

fn user(text: &str) -> Event {
    Event::message(ts(), Message::user(text))
}

fn assistant(text: &str) -> Event {
    Event::message(ts(), Message::assistant(text))
}

fn turn(id: &str, phase: TurnPhase, outcome: &str, checkpoint: Option<u64>) -> Event {
    Extension::Turn(TurnMark { id: id.into(), phase, outcome: outcome.into(), checkpoint }).into_event(ts())
}

fn checkpoint(action: &str, turn: u64) -> Event {
    Extension::Checkpoint(CheckpointMark { action: action.into(), turn: Some(turn), note: String::new() })
        .into_event(ts())
}

fn bytes(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    events.iter().for_each(|event| event.encode(&mut bytes));
    bytes
}

fn timeline(events: &[Event]) -> Timeline {
    read(&bytes(events))
}

fn read(bytes: &[u8]) -> Timeline {
    Timeline::read(bytes, Limits::default()).expect("a slice has no read errors")
}

/// Number, first event, last event, live messages of all.
fn shape(timeline: &Timeline) -> Vec<(u64, u64, u64, u64, u64)> {
    timeline.turns().iter().map(|turn| (turn.number, turn.first, turn.last, turn.live, turn.messages)).collect()
}

#[test]
fn marked_turns_reach_from_their_start_to_their_end() {
    let timeline = timeline(&[
        turn("a", TurnPhase::Start, "", Some(1)),
        user("plant three oaks"),
        assistant("digging"),
        user("deeper"),
        turn("a", TurnPhase::End, "done", Some(2)),
        Event::notice(ts(), "rain"),
        turn("b", TurnPhase::Start, "", None),
        user("water them"),
        assistant("pouring"),
        turn("c", TurnPhase::Start, "", None),
        user("wait"),
    ]);
    assert_eq!(shape(&timeline), [(1, 1, 5, 3, 3), (2, 7, 9, 2, 2), (3, 10, 11, 1, 1)]);
    let first = &timeline.turns()[0];
    assert_eq!((first.id.as_deref(), first.outcome.as_deref()), (Some("a"), Some("done")));
    assert_eq!((first.before, first.after, first.prompt.as_str()), (Some(1), Some(2), "plant three oaks"));
    assert_eq!((timeline.turns()[1].before, timeline.turns()[1].after), (Some(2), None));
    assert_eq!(timeline.turn_of(6), None);
    assert_eq!(timeline.turn_of(8).map(|turn| turn.number), Some(2));
}

#[test]
fn a_start_that_is_written_twice_begins_one_turn() {
    let start = |id: &str, checkpoint| turn(id, TurnPhase::Start, "", checkpoint);
    let timeline = timeline(&[
        start("a", None),
        start("a", Some(3)),
        user("plant three oaks"),
        assistant("digging"),
        start("a", None),
        turn("a", TurnPhase::End, "done", None),
        start("b", None),
        user("water them"),
    ]);
    assert_eq!(shape(&timeline), [(1, 1, 6, 2, 2), (2, 7, 8, 1, 1)]);
    assert_eq!(timeline.turns()[0].before, Some(3), "the second one tells of a checkpoint all the same");
}

#[test]
fn without_marks_each_prompt_begins_a_turn_and_what_agents_inject_does_not() {
    let timeline = timeline(&[
        user("<environment_context>\n/w\n</environment_context>"),
        user("water them"),
        assistant("pouring"),
        user("<system-reminder>be quick</system-reminder>"),
        assistant("poured"),
        Event::settings(ts(), "small", false, Vec::new()),
        user("<environment_context>\n/w\n</environment_context>"),
        user("again"),
    ]);
    // The one before the last joins the turn that is open: nobody can tell whose it is.
    assert_eq!(shape(&timeline), [(1, 1, 7, 6, 6), (2, 8, 8, 1, 1)]);
    assert_eq!(timeline.turns()[0].prompt, "water them");
}

#[test]
fn a_turn_that_was_taken_back_keeps_its_number() {
    let timeline =
        timeline(&[user("one"), assistant("1"), user("two"), assistant("2"), Event::rollback(ts(), 2), user("three")]);
    assert_eq!(shape(&timeline), [(1, 1, 2, 2, 2), (2, 3, 4, 0, 2), (3, 6, 6, 1, 1)]);
    assert!(!timeline.turns()[1].is_live());
    assert_eq!(timeline.cut(Point::Turn(2)), Err(CutError::TakenBack { point: Point::Turn(2) }));
    let cut = timeline.cut(Point::Turn(1)).expect("it is live");
    assert_eq!((cut.event, cut.dropped, cut.turns), (2, 1, vec![3]));
    assert_eq!(timeline.cut(Point::Turn(0)).map(|cut| cut.dropped), Ok(3));
    assert!(matches!(timeline.cut(Point::Turn(4)), Err(CutError::NoSuchPoint { .. })));
    assert!(matches!(timeline.cut(Point::Event(7)), Err(CutError::NoSuchPoint { .. })));
}

#[test]
fn what_follows_a_rollback_belongs_to_a_marked_turn_and_to_none_without_marks() {
    let events = |marks: bool| {
        let mut events = vec![user("one"), assistant("1"), Event::rollback(ts(), 1), assistant("2")];
        if marks {
            events.insert(0, turn("a", TurnPhase::Start, "", None));
            events.push(turn("a", TurnPhase::End, "done", None));
        }
        timeline(&events)
    };
    assert_eq!(events(true).turn_of(5).map(|turn| turn.number), Some(1));
    assert_eq!(events(false).turn_of(2).map(|turn| turn.number), Some(1));
    assert_eq!(events(false).turn_of(4), None);
}

#[test]
fn a_checkpoint_shows_a_point_if_nobody_worked_between_the_two() {
    let timeline = timeline(&[
        checkpoint("taken", 1),
        user("one"),
        assistant("1"),
        checkpoint("taken", 2),
        user("two"),
        assistant("2"),
        checkpoint("restored", 3),
        Event::rollback(ts(), 2),
        checkpoint("failed", 9),
        user("three"),
        assistant("3"),
        user("four"),
        checkpoint("taken", 4),
        assistant("4"),
    ]);
    let at: Vec<Option<u64>> = (0..=14).map(|event| timeline.checkpoint_at(event)).collect();
    let shown = |n| Some(n);
    let wanted = [
        shown(1),
        shown(1),
        shown(1), // before anything
        shown(2),
        shown(2),
        shown(2), // after the first answer
        None,     // after the second: the next one was restored, not taken
        shown(3),
        shown(3),
        shown(3),
        shown(3), // after the rewind
        shown(4),
        shown(4),
        shown(4),
        None,
    ];
    assert_eq!(at, wanted);
    assert_eq!(timeline.checkpoints_upto(6), Some(2));
    assert_eq!(timeline.checkpoints_upto(11), Some(4));
}

#[test]
fn any_number_of_turns_without_an_answer_are_turns() {
    // With a look at all events for each, this would not end.
    let many = 200_000;
    let timeline = timeline(&vec![user("plant an oak"); many]);
    assert_eq!((timeline.turns().len(), timeline.live()), (many, many as u64));
    assert_eq!(timeline.turns().iter().filter_map(|turn| turn.after).next(), None);
}

#[test]
fn h17_damage_behind_a_point_is_told_and_damage_before_it_is_not() {
    let mut history = bytes(&[user("one"), assistant("1")]);
    history.extend_from_slice(b"{\"ts\":\n");
    history.extend(bytes(&[user("two"), assistant("2")]));
    let timeline = read(&history);
    let lines = |point| {
        let damage = timeline.cut(point).expect("nothing was taken back").damage;
        damage.iter().map(|defect| defect.place.line).collect::<Vec<_>>()
    };
    assert_eq!(lines(Point::Turn(1)), [Some(3)]);
    assert_eq!(lines(Point::Event(3)), []);
    assert_eq!((timeline.damage_before(2).len(), timeline.damage_before(3).len()), (0, 1));
}

#[test]
fn points_read_back_and_others_do_not() {
    for point in [Point::Event(0), Point::Event(12), Point::Turn(3)] {
        assert_eq!(point.to_string().parse(), Ok(point));
    }
    for bad in ["", "turn:", "turn:x", "-1", "+1", "turn-1", "1.0"] {
        let says = format!("{bad:?} names no point: it must be the number of an event, or turn:N");
        assert_eq!(bad.parse::<Point>().map_err(|error| error.to_string()), Err(says));
    }
}

#[test]
fn why_a_conversation_cannot_go_back_to_a_point_is_told_in_words() {
    let timeline = timeline(&[user("one"), user("two"), Event::rollback(ts(), 1), user("three")]);
    for (point, says) in [
        (Point::Event(9), "there is no 9: the history has 4 events and 3 turns"),
        (Point::Turn(4), "there is no turn:4: the history has 4 events and 3 turns"),
        (Point::Event(2), "what was said up to 2 is no longer part of the conversation"),
        (Point::Turn(2), "what was said up to turn:2 is no longer part of the conversation"),
    ] {
        assert_eq!(timeline.cut(point).map_err(|error| error.to_string()), Err(says.to_owned()));
    }
}

#[derive(Debug, Clone)]
enum Line {
    User,
    Assistant,
    Rollback(i64),
    Start,
    End,
    Bad,
}

fn history() -> impl Strategy<Value = Vec<Line>> {
    let line = prop_oneof![
        3 => Just(Line::User),
        3 => Just(Line::Assistant),
        1 => (-1_i64..4).prop_map(Line::Rollback),
        1 => Just(Line::Start),
        1 => Just(Line::End),
        1 => Just(Line::Bad),
    ];
    vec(line, 0..30)
}

fn texts(history: &[u8]) -> Vec<String> {
    let read = Conversation::read(history, Limits::default()).expect("a slice has no read errors");
    read.messages.iter().map(|message| message.content.text().into_owned()).collect()
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn going_back_to_a_point_gives_the_conversation_of_that_point(lines in history()) {
        let mut whole = Vec::new();
        // How long the file was after each event.
        let mut ends = vec![0];
        for (n, line) in lines.iter().enumerate() {
            match line {
                Line::User => user(&n.to_string()).encode(&mut whole),
                Line::Assistant => assistant(&n.to_string()).encode(&mut whole),
                Line::Rollback(dropped) => Event::rollback(ts(), *dropped).encode(&mut whole),
                Line::Start => turn(&n.to_string(), TurnPhase::Start, "", None).encode(&mut whole),
                Line::End => turn("0", TurnPhase::End, "done", None).encode(&mut whole),
                Line::Bad => {
                    whole.extend_from_slice(b"nonsense\n");
                    continue;
                }
            }
            ends.push(whole.len());
        }
        let timeline = read(&whole);
        prop_assert_eq!(timeline.events() as usize, ends.len() - 1);
        prop_assert_eq!(timeline.live() as usize, texts(&whole).len());
        for (event, end) in ends.iter().enumerate() {
            let then = texts(&whole[..*end]);
            match timeline.cut(Point::Event(event as u64)) {
                Ok(cut) => {
                    let mut back = whole.clone();
                    Event::rollback(ts(), i64::try_from(cut.dropped).expect("there are few")).encode(&mut back);
                    prop_assert_eq!(texts(&back), then);
                }
                Err(_) => prop_assert!(!texts(&whole).starts_with(&then)),
            }
        }
        for turn in timeline.turns() {
            prop_assert!(turn.first <= turn.last && turn.live <= turn.messages);
        }
        let counted: u64 = timeline.turns().iter().map(|turn| turn.live).sum();
        prop_assert!(counted <= timeline.live());
    }
}

#[test]
fn of_a_history_full_of_damage_it_is_known_of_every_point_whether_some_stands_before_or_behind_it() {
    let said = r#"{"kind":"message","message":{"role":"user","content":"dig"}}"#;
    let damage = "not json\n".repeat(Conversation::MAX_DEFECTS + 5);
    let history = format!("{said}\n{damage}{said}\nnot json\n{said}\n");
    let timeline = Timeline::read(history.as_bytes(), Limits::default()).expect("memory can be read");
    let behind = |event| timeline.cut(Point::Event(event)).expect("it is there").damage.len();
    let before = |event| timeline.damage_before(event).len();
    assert_eq!([behind(1), behind(2), behind(3)], [Conversation::MAX_DEFECTS, 1, 0]);
    assert_eq!([before(1), before(2), before(3)], [0, Conversation::MAX_DEFECTS - 1, Conversation::MAX_DEFECTS]);
}
