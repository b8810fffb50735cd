//! What a page says, line by line.

use super::*;
use crate::{
    CheckpointMark, Defect, Extension, Fault, Image, Meta, Note, Outcome, Place, Successor, TitleSet, TurnMark,
    TurnPhase, Usage, parse_time,
};

fn ts() -> Timestamp {
    parse_time("2026-01-02T03:04:05.9+02:00").expect("it is well formed")
}

/// What a page has for an event.
fn shown(event: Event, live: Option<bool>) -> String {
    let mut out = Vec::new();
    Markdown::new().entry(&Entry { number: 1, live, event }, &mut out);
    String::from_utf8(out).expect("an export is text")
}

/// The heading of a message.
fn heading(event: Event, live: bool) -> String {
    let text = shown(event, Some(live));
    text.lines().find_map(|line| line.strip_prefix("### ")).expect("a message has a heading").to_owned()
}

fn said(message: Message) -> Event {
    Event { message: Some(Box::new(message)), ..Event::default() }
}

fn turn(phase: TurnPhase, outcome: &str) -> Event {
    Extension::Turn(TurnMark { id: "t1".into(), phase, outcome: outcome.into(), checkpoint: Some(4) }).into_event(ts())
}

fn checkpoint(action: &str, turn: Option<u64>, note: &str) -> Event {
    Extension::Checkpoint(CheckpointMark { action: action.into(), turn, note: note.into() }).into_event(ts())
}

#[test]
fn each_event_without_a_message_is_one_line_or_none() {
    let settings = |model: &str| Event::settings(ts(), model, false, Vec::new());
    let rows = [
        (Event::notice(ts(), "rain\n*soon*"), "*rain \\*soon\\**"),
        (Event::notice(ts(), ""), ""),
        (Event::notice(ts(), " \n\u{7} "), ""),
        (settings("oak-1"), "*Model: `oak-1`*"),
        (settings(""), ""),
        (Event::rollback(ts(), 1), "*1 message was taken back.*"),
        (Event::rollback(ts(), 12), "*12 messages were taken back.*"),
        (Event::rollback(ts(), 0), ""),
        (Event::rollback(ts(), -1), ""),
        (turn(TurnPhase::Start, ""), ""),
        (turn(TurnPhase::Start, "failed"), ""),
        (turn(TurnPhase::End, ""), ""),
        (turn(TurnPhase::End, "done"), ""),
        (turn(TurnPhase::End, "interrupted"), "*The turn ended: interrupted*"),
        (turn(TurnPhase::End, "no_spade"), "*The turn ended: no\\_spade*"),
        (checkpoint("taken", Some(3), ""), "*Checkpoint 3 taken*"),
        (checkpoint("restored", Some(2), "the *old* bed"), "*Checkpoint 2 restored\\: the \\*old\\* bed*"),
        (checkpoint("failed", None, "the shed is full"), "*Checkpoint failed\\: the shed is full*"),
        (checkpoint("", Some(3), ""), "*Checkpoint 3*"),
        (Extension::Successor(Successor { name: "oaks-2".into() }).into_event(ts()), "*Goes on in `oaks-2`*"),
        (Extension::Title(TitleSet { title: "Oaks".into(), ..TitleSet::default() }).into_event(ts()), ""),
        (Extension::Usage(Usage { output: Some(7), ..Usage::default() }).into_event(ts()), ""),
        (Extension::Note(Note { topic: "pinned".into(), text: "for spring".into() }).into_event(ts()), ""),
        (Event::new(ts(), Kind::from("weather")), ""),
    ];
    for (event, line) in rows {
        let wanted = if line.is_empty() { String::new() } else { format!("\n{line}\n") };
        assert_eq!(shown(event.clone(), None), wanted, "{event:?}");
    }
}

#[test]
fn a_rollback_that_carries_a_message_shows_what_it_took_and_not_what_it_carries() {
    let event = Event { message: Some(Box::new(Message::user("weeds"))), ..Event::rollback(ts(), 2) };
    assert_eq!(shown(event, None), "\n*2 messages were taken back.*\n");
}

#[test]
fn a_message_is_headed_by_whoever_speaks() {
    let result = |name: &str, tool: &str| Event { tool: tool.into(), ..said(Message::tool_result("c1", name, "dug")) };
    let rows = [
        (said(Message::new(Role::System, "be kind")), "System"),
        (said(Message::user("plant")), "User"),
        (said(Message::assistant("digging")), "Assistant"),
        (result("Dig", "Shell"), "Result of `Dig`"),
        (result("", "Shell"), "Result of `Shell`"),
        (result("", ""), "Result of (none)"),
        (said(Message::new(Role::from("head\n# gardener"), "calm")), "`head # gardener`"),
        (said(Message::new(Role::Missing, "who is it")), "(none)"),
    ];
    for (event, who) in rows {
        assert_eq!(heading(event, true), who);
    }
}

#[test]
fn behind_whoever_speaks_stand_the_time_the_duration_and_what_became_of_it() {
    let plant = |at: Option<Timestamp>| Event { ts: at, ..said(Message::user("plant")) };
    assert_eq!(heading(plant(Some(ts())), true), "User, 2026-01-02 01:04:05 UTC");
    assert_eq!(heading(plant(Some(ts())), false), "User, 2026-01-02 01:04:05 UTC, taken back");
    assert_eq!(heading(plant(None), false), "User, taken back");

    let result = |ms: i64, text: &str| Event { ms, ..said(Message::tool_result("c1", "Dig", text)) };
    for (ms, took) in [
        (i64::MIN, ""),
        (-1, ""),
        (0, ""),
        (1, ", 1 ms"),
        (999, ", 999 ms"),
        (1_000, ", 1.0 s"),
        (1_099, ", 1.0 s"),
        (1_999, ", 1.9 s"),
        (90_250, ", 90.2 s"),
    ] {
        assert_eq!(heading(result(ms, "dug"), true), format!("Result of `Dig`{took}"), "{ms}");
        assert_eq!(heading(Event { ms, ..plant(None) }, true), "User", "only a tool took its time: {ms}");
    }
    let all = Event { ts: Some(ts()), ..result(250, "error: a stone") };
    assert_eq!(heading(all, false), "Result of `Dig`, 2026-01-02 01:04:05 UTC, 250 ms, failed, taken back");
    assert_eq!(heading(said(Message::user("error: a stone")), true), "User", "only a tool can fail");
}

#[test]
fn a_picture_is_a_line_about_it_behind_what_is_said() {
    let image = |path: &str, width| Image {
        path: path.into(),
        media_type: "image/png".into(),
        width,
        height: 3,
        size: 1,
        ..Image::default()
    };
    let message = Message { images: [image("oak_1.png", 2), image("![x](y)", 0)].into(), ..Message::user("look") };
    let wanted = "\n### User\n\n> look\n\
                  \n\\[image\\: image/png, 2×3, 1 byte, oak\\_1.png\\]\n\
                  \n\\[image\\: image/png, 1 byte, \\!\\[x\\](y)\\]\n";
    assert_eq!(shown(said(message), Some(true)), wanted);
    let alone = Message { images: [image("oak.png", 2)].into(), ..Message::user("") };
    assert_eq!(shown(said(alone), Some(true)), "\n### User\n\n\\[image\\: image/png, 2×3, 1 byte, oak.png\\]\n");
}

/// What stands before the first event.
fn head(change: impl FnOnce(&mut Head)) -> String {
    let mut head = Head { events: 4, ..Head::of(Meta { name: "oaks".into(), ..Meta::default() }) };
    change(&mut head);
    let mut out = Vec::new();
    Markdown::new().begin(&head, &mut out);
    String::from_utf8(out).expect("an export is text")
}

#[test]
fn a_page_begins_with_what_is_known_of_the_session_and_says_nothing_of_the_rest() {
    assert_eq!(head(|head| head.meta = Meta::default()), "# A session\n\n");
    assert_eq!(head(|_| {}), "# oaks\n\n- Session: `oaks`\n");
    let all = |head: &mut Head| {
        head.meta = Meta {
            title: "Plant *oaks*".into(),
            workspace: "/garden".into(),
            model: "oak-1".into(),
            created: Some(ts()),
            parent: "acorns".into(),
            succeeded_by: "forest".into(),
            ..head.meta.clone()
        };
    };
    let wanted = "# Plant \\*oaks\\*\n\n- Session: `oaks`\n- Workspace: `/garden`\n- Model: `oak-1`\n\
                  - Created: 2026-01-02 01:04:05 UTC\n- Parent: `acorns`\n- Goes on in: `forest`\n";
    assert_eq!(head(all), wanted);
}

#[test]
fn a_page_of_a_part_says_which_events_it_is_of() {
    for (range, said) in [
        (1..=u64::MAX, ""),
        (0..=4, ""),
        (1..=4, ""),
        (1..=3, "- Events: 1 to 3 of 4\n"),
        (2..=4, "- Events: 2 to 4 of 4\n"),
        (2..=9, "- Events: 2 to 4 of 4\n"),
        (4..=u64::MAX, "- Events: 4 to 4 of 4\n"),
        (5..=9, "- Events: none of 4\n"),
    ] {
        let page = head(|head| head.range = range.clone());
        assert_eq!(page, format!("# oaks\n\n- Session: `oaks`\n{said}"), "{range:?}");
    }
}

#[test]
fn e04_a_page_says_how_many_messages_were_taken_back_and_whether_they_are_in_it() {
    for (rolled_back, is_raw, said) in [
        (0, false, ""),
        (0, true, ""),
        (1, false, "- Left out: 1 message that was taken back\n"),
        (12, false, "- Left out: 12 messages that were taken back\n"),
        (1, true, "- Taken back: 1 message, marked as such\n"),
        (12, true, "- Taken back: 12 messages, marked as such\n"),
    ] {
        let page = head(|head| (head.rolled_back, head.is_raw) = (rolled_back, is_raw));
        assert_eq!(page, format!("# oaks\n\n- Session: `oaks`\n{said}"));
    }
}

#[test]
fn a_page_ends_with_what_could_not_be_read_and_whether_it_is_a_guess() {
    let defect = |outcome| {
        let place = Place { line: Some(1), offset: 0 };
        Defect { place, len: 9, fault: Fault::Torn, outcome }
    };
    let (skipped, repaired) = (defect(Outcome::Skipped), defect(Outcome::Repaired));
    let guess = "\n*A message was taken back across a line that could not be read: what was left out is a guess.*\n";
    for (defects, uncertain, wanted) in [
        (vec![], false, String::new()),
        (vec![repaired.clone()], false, String::new()),
        (vec![skipped.clone(), repaired], false, "\n*1 line of the history could not be read.*\n".into()),
        (vec![], true, guess.into()),
        (
            vec![skipped, defect(Outcome::SkippedRollback)],
            true,
            format!("\n*2 lines of the history could not be read.*\n{guess}"),
        ),
    ] {
        let mut out = Vec::new();
        Markdown::new().end(&End { defects, uncertain, ..End::default() }, &mut out);
        assert_eq!(String::from_utf8(out).expect("an export is text"), wanted);
    }
}
