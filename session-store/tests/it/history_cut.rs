//! Histories that were cut or damaged, at every place.

use crate::support::{Session, line, said, texts};
use session_core::{Conversation, Event, Kind, Limits, Message, Role, ToolCall, count};

const EVENTS: usize = 200;

/// A history of many kinds, with texts of several bytes a character, and where each line ends.
fn history() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for n in 0..EVENTS {
        let event = match n % 7 {
            0 => said(&format!("{n} \"q\" \\ <木> 😀 \n")),
            1 => {
                let call = ToolCall { id: format!("c{n}").into(), name: "Shell".into(), ..ToolCall::default() };
                let message = Message { tool_calls: [call].into(), ..Message::assistant("digging") };
                Event::message(crate::support::ts(), message)
            }
            2 => Event { ms: 7, ..Event::message(crate::support::ts(), Message::tool_result("c", "Shell", "3 holes")) },
            3 => Event::notice(crate::support::ts(), "rain"),
            4 => Event::settings(crate::support::ts(), "larch", true, vec!["Shell".into()]),
            5 => Event::message(crate::support::ts(), Message::new(Role::from("moderator"), "é")),
            _ => Event::new(crate::support::ts(), Kind::from("weather")),
        };
        bytes.extend(line(&event));
        ends.push(bytes.len());
    }
    (bytes, ends)
}

/// What the messages of each event say, in order.
fn messages_of(bytes: &[u8]) -> Vec<Message> {
    Conversation::read(bytes, Limits::default()).expect("a slice has no read errors").messages
}

#[test]
fn h01_cut_after_every_byte_the_events_before_load_and_the_next_append_is_intact() {
    let (bytes, ends) = history();
    let all: Vec<Vec<Message>> = {
        let mut start = 0;
        let of_line = |&end: &usize| messages_of(&bytes[std::mem::replace(&mut start, end)..end]);
        ends.iter().map(of_line).collect()
    };
    let session = Session::in_memory();
    for cut in 0..=bytes.len() {
        session.write(&bytes[..cut]);
        // A line without its newline is an event as soon as it is whole.
        let whole = ends.iter().filter(|&&end| end - 1 <= cut).count();
        let expected: Vec<Message> = all[..whole].concat();

        let appended = session.append(&[said("next")]).expect("it can be written");
        let conversation = session.load();
        assert_eq!(conversation.messages[..expected.len()], expected, "cut after {cut}");
        assert_eq!(texts(&conversation)[expected.len()..], ["next"], "cut after {cut}");
        assert_eq!(conversation.defects, [], "cut after {cut}");
        let on_a_boundary = cut == 0 || ends.iter().any(|&end| end == cut || end - 1 == cut);
        assert_eq!(appended.isolated.is_empty(), on_a_boundary, "cut after {cut}");
    }
}

#[test]
fn cut_after_every_byte_the_events_before_load_with_at_most_one_defect() {
    let (bytes, ends) = history();
    // What a reader makes of a cut is decided by the bytes alone, so it is asked without the pause of a second look.
    for cut in 0..=bytes.len() {
        let whole = ends.iter().filter(|&&end| end - 1 <= cut).count();
        let count = count(&bytes[..cut], Limits::default()).expect("a slice has no read errors");
        assert_eq!(count.events, whole as u64, "cut after {cut}");
        assert!(count.skipped + count.repaired <= 1, "cut after {cut}: {count:?}");
    }
}

#[test]
fn a_hole_of_nuls_or_a_changed_byte_costs_no_line_that_it_does_not_touch() {
    let (bytes, ends) = history();
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).take(EVENTS).collect();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % bound as u64).expect("it is below a usize")
    };
    let session = Session::in_memory();
    for round in 0..300 {
        let at = next(bytes.len());
        let len = if round % 2 == 0 { 1 } else { 1 + next(3000.min(bytes.len() - at)) };
        let mut damaged = bytes.clone();
        if len == 1 {
            damaged[at] = u8::try_from(next(256)).expect("it is a byte");
        } else {
            damaged[at..at + len].fill(0);
        }
        // A newline that is gone joins two lines: both are touched.
        let touched = |n: usize| starts[n] < at + len + 1 && at < ends[n] + 1;
        let untouched: Vec<Message> =
            (0..EVENTS).filter(|&n| !touched(n)).flat_map(|n| messages_of(&bytes[starts[n]..ends[n]])).collect();
        session.write(&damaged);
        session.append(&[said("next")]).expect("it can be written");
        let found = session.load().messages;
        let mut rest = found.iter();
        for message in &untouched {
            assert!(rest.any(|other| other == message), "round {round}: {len} bytes at {at}: {message:?}");
        }
        assert_eq!(found.last(), Some(&Message::user("next")), "round {round}");
    }
}
