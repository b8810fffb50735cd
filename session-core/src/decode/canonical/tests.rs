//! What is taken is what the decoder reads.

use super::message;
use crate::decode::carefully;
use crate::{Effect, Event, Item, Message, Place, RawLine};
use session_testing::{Histories, Shape};

/// The event that the decoder finds in the same line, if it finds that and nothing wrong.
fn decoded(line: &[u8]) -> Option<Event> {
    let place = Place { line: Some(1), offset: 0 };
    let mut items = Vec::new();
    carefully(RawLine { place, bytes: line, terminated: true }, true, |item| items.push(item));
    match (items.pop(), items.is_empty()) {
        (Some(Item::Record(record)), true) if record.event.effect() == Effect::Adds => Some(*record.event),
        _ => None,
    }
}

/// The event, if the line is taken; a load and a count take the same lines.
fn taken(line: &[u8]) -> Option<Event> {
    let mut scratch = Vec::new();
    let loaded = message::<String>(line, &mut scratch).map(Message::from);
    let event = message::<String>(line, &mut scratch).map(|said| said.into_event(&mut Vec::new()).expect("it is"));
    let counted = message::<()>(line, &mut scratch).is_some();
    assert_eq!(event.is_some(), counted, "{}", String::from_utf8_lossy(line));
    assert_eq!(event.as_ref().and_then(|event| event.message.as_deref()), loaded.as_ref());
    event
}

fn sample() -> Vec<Vec<u8>> {
    let history = Histories::of_bytes(5, Shape::Small, 20_000);
    history.split(|&byte| byte == b'\n').filter(|line| taken(line).is_some()).map(<[u8]>::to_vec).collect()
}

#[test]
fn most_lines_of_a_history_are_taken_and_each_as_the_decoder_reads_it() {
    let history = Histories::of_bytes(3, Shape::Real, 300_000);
    let (mut count, mut all) = (0, 0);
    for line in history.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        if let Some(event) = taken(line) {
            assert_eq!(Some(event), decoded(line));
            count += 1;
        }
        all += 1;
    }
    assert!(count * 10 > all * 8, "{count} of {all}");
}

#[test]
fn a_number_is_taken_as_the_decoder_reads_it_however_long_it_is() {
    let line = |ms: &str| {
        let message = r#"{"role":"tool","content":"dug","name":"Dig","tool_call_id":"c1"}"#;
        format!(r#"{{"ts":"2026-01-02T03:04:05Z","kind":"tool_result","message":{message},"tool":"Dig","ms":{ms}}}"#)
    };
    assert!(taken(line("250").as_bytes()).is_some(), "it is a line as they are written");
    for digits in 1..=40 {
        for ms in ["9".repeat(digits), format!("1{}", "0".repeat(digits)), format!("0{}", "7".repeat(digits))] {
            let line = line(&ms);
            if let Some(event) = taken(line.as_bytes()) {
                assert_eq!(Some(event), decoded(line.as_bytes()), "{ms}");
            }
        }
    }
}

#[test]
fn whatever_is_taken_is_what_the_decoder_makes_of_it_on_every_cut_and_every_changed_byte() {
    let mut count = 0;
    for line in sample().iter().take(40) {
        let mut check = |line: &[u8]| {
            if let Some(event) = taken(line) {
                count += 1;
                assert_eq!(Some(event), decoded(line), "{}", String::from_utf8_lossy(line));
            }
        };
        for cut in 0..=line.len() {
            check(&line[..cut]);
            check(&[&line[..cut], line].concat());
            check(&[&line[..cut], &[0; 9], &line[cut..]].concat());
        }
        for at in 0..line.len() {
            for byte in
                [b'"', b'\\', b'{', b'}', b',', b'0', b'a', b'u', b' ', b'\r', 0, 0x1F, 0x80, 0xFF, line[at] ^ 0x20]
            {
                let mut changed = line.clone();
                changed[at] = byte;
                check(&changed);
            }
        }
    }
    assert!(count > 10_000, "{count} changed lines were still taken");
}
