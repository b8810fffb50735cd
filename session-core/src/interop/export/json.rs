//! One JSON document.

use super::{End, Entry, Export, Head};
use crate::json::push_string;
use crate::{Defect, Outcome, Timestamp, TurnSpan, format_time};
use serde::Serialize;
use std::ops::RangeInclusive;

/// The name that the document gives its own shape. Within a version members are only added.
pub const SCHEMA: &str = "session/transcript.v1";

/// One JSON document: the session, its turns, and the events with their numbers.
///
/// Every member is there, and null is unknown. `complete` comes last, so that a document that was cut off never says it.
#[derive(Debug, Clone, Default)]
pub struct Json {
    /// Whether an event stands before the next one.
    has_events: bool,
}

impl Json {
    /// The exporter of a document.
    pub fn new() -> Self {
        Json::default()
    }
}

impl Export for Json {
    fn begin(&mut self, head: &Head, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"schema\":");
        push_string(out, SCHEMA);
        member(out, "session", &Session::of(head));
        member(out, "detail", &head.detail.as_str());
        member(out, "raw", &head.is_raw);
        member(out, "range", &Range::of(head));
        let left_out = if head.is_raw { 0 } else { head.rolled_back };
        member(out, "left_out", &LeftOut { rolled_back: left_out });
        member(out, "turns", &head.turns.iter().map(Turn::of).collect::<Vec<_>>());
        out.extend_from_slice(b",\"events\":[");
    }

    fn entry(&mut self, entry: &Entry, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.has_events { b",\n" } else { b"\n" });
        self.has_events = true;
        out.extend_from_slice(b"{\"number\":");
        push_value(out, &entry.number);
        member(out, "live", &entry.live);
        out.extend_from_slice(b",\"event\":");
        entry.event.encode(out);
        // The line's own newline.
        out.pop();
        out.push(b'}');
    }

    fn end(&mut self, end: &End, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n]");
        member(out, "uncertain", &end.uncertain);
        member(out, "diagnostics", &end.defects.iter().map(Diagnostic::of).collect::<Vec<_>>());
        member(out, "complete", &end.is_complete());
        out.extend_from_slice(b"}\n");
    }
}

/// `,"name":value`
fn member(out: &mut Vec<u8>, name: &str, value: &impl Serialize) {
    out.push(b',');
    push_string(out, name);
    out.push(b':');
    push_value(out, value);
}

fn push_value(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(out, value).expect("plain structs with string keys can be written to memory");
}

fn time(ts: Option<Timestamp>) -> Option<String> {
    ts.map(|ts| format_time(&ts.to_utc().fixed_offset()))
}

fn set(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[derive(Serialize)]
struct Session<'a> {
    name: &'a str,
    title: Option<&'a str>,
    created: Option<String>,
    updated: Option<String>,
    workspace: Option<&'a str>,
    model: Option<&'a str>,
    parent: Option<&'a str>,
    succeeded_by: Option<&'a str>,
    events: u64,
}

impl<'a> Session<'a> {
    fn of(head: &'a Head) -> Self {
        let meta = &head.meta;
        Session {
            name: &meta.name,
            title: set(&meta.title),
            created: time(meta.created),
            updated: time(meta.updated),
            workspace: set(&meta.workspace),
            model: set(&meta.model),
            parent: set(&meta.parent),
            succeeded_by: set(&meta.succeeded_by),
            events: head.events,
        }
    }
}

#[derive(Serialize)]
struct Range {
    first: u64,
    last: u64,
}

impl Range {
    /// `None`: the whole history.
    fn of(head: &Head) -> Option<Self> {
        let last = (*head.range.end()).min(head.events);
        (!head.is_whole()).then_some(Range { first: *RangeInclusive::start(&head.range), last })
    }
}

#[derive(Serialize)]
struct LeftOut {
    rolled_back: u64,
}

#[derive(Serialize)]
struct Turn<'a> {
    number: u64,
    id: Option<&'a str>,
    first_event: u64,
    last_event: u64,
    started: Option<String>,
    outcome: Option<&'a str>,
    checkpoint_before: Option<u64>,
    checkpoint_after: Option<u64>,
    messages: u64,
    live: u64,
}

impl<'a> Turn<'a> {
    fn of(turn: &'a TurnSpan) -> Self {
        Turn {
            number: turn.number,
            id: turn.id.as_deref(),
            first_event: turn.first,
            last_event: turn.last,
            started: time(turn.started),
            outcome: turn.outcome.as_deref(),
            checkpoint_before: turn.before,
            checkpoint_after: turn.after,
            messages: turn.messages,
            live: turn.live,
        }
    }
}

#[derive(Serialize)]
struct Diagnostic {
    code: &'static str,
    line: Option<u64>,
    offset: u64,
    text: String,
    skipped: bool,
}

impl Diagnostic {
    fn of(defect: &Defect) -> Self {
        Diagnostic {
            code: defect.fault.code(),
            line: defect.place.line,
            offset: defect.place.offset,
            text: defect.to_string(),
            skipped: defect.outcome != Outcome::Repaired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Meta;
    use crate::interop::export::Detail;
    use serde_json::{Value, json};

    /// The members of a document without events.
    fn document(change: impl FnOnce(&mut Head)) -> Value {
        let mut head = Head { events: 4, rolled_back: 2, ..Head::of(Meta { name: "oaks".into(), ..Meta::default() }) };
        change(&mut head);
        let (mut exporter, mut out) = (Json::new(), Vec::new());
        exporter.begin(&head, &mut out);
        exporter.end(&End::default(), &mut out);
        serde_json::from_slice(&out).expect("it is JSON")
    }

    #[test]
    fn a_document_says_which_events_it_is_of() {
        for (range, wanted) in [
            (1..=u64::MAX, Value::Null),
            (0..=4, Value::Null),
            (1..=3, json!({ "first": 1, "last": 3 })),
            (2..=9, json!({ "first": 2, "last": 4 })),
        ] {
            let document = document(|head| head.range = range.clone());
            assert_eq!((&document["range"], &document["session"]["events"]), (&wanted, &json!(4)), "{range:?}");
        }
    }

    #[test]
    fn e04_a_document_says_how_much_of_each_event_it_has_and_what_was_left_out() {
        for (detail, name) in [(Detail::Full, "full"), (Detail::Compact, "compact"), (Detail::Prompts, "prompts")] {
            for (is_raw, left_out) in [(false, 2), (true, 0)] {
                let document = document(|head| (head.detail, head.is_raw) = (detail, is_raw));
                assert_eq!(document["detail"], name);
                assert_eq!(document["raw"], is_raw);
                assert_eq!(document["left_out"], json!({ "rolled_back": left_out }));
            }
        }
    }
}
