//! Events from JSON lines on standard input.

use crate::exit::Exit;
use crate::failure::Failure;
use session_core::{Event, Item, Place, RawLine, Timestamp, scan_line};
use std::io::BufRead;
use std::path::Path;

/// The events of JSON lines: each a message (with a `role`) or an event (with a `kind`). An event without a time gets
/// `now`. All lines are good, or none counts: a bad one is named.
pub(crate) fn events(mut lines: impl BufRead, now: Timestamp) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = lines.read_until(b'\n', &mut line).map_err(|error| Failure::input("standard input", &error))?;
        if read == 0 {
            break;
        }
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        let place = Place { line: Some(number), offset: 0 };
        for item in scan_line(RawLine { place, bytes, terminated: true }) {
            match item {
                Item::Record(record) => events.push(event(*record.event, number, now)?),
                Item::Defect(defect) if defect.is_skipped() => {
                    return Err(Failure::new(Exit::Usage, format!("line {number} of the input: {}", defect.fault))
                        .hint("nothing was appended"));
                }
                Item::Defect(_) => {}
            }
        }
    }
    Ok(events)
}

/// A path as metadata can name it. In other words it would be another directory, or none.
///
/// # Errors
/// For one that is no text.
pub(crate) fn text_of(path: &Path, what: &str) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::new(Exit::Usage, format!("the path of {what} is not UTF-8: {path:?}"))
            .hint("metadata cannot name it; rename the directory, or choose another one")
    })
}

fn event(event: Event, line: u64, now: Timestamp) -> Result<Event, Failure> {
    if !event.kind.is_none() {
        return Ok(Event { ts: event.ts.or(Some(now)), ..event });
    }
    let Some(message) = event.message else {
        return Err(Failure::new(Exit::Usage, format!("line {line} of the input has neither a kind nor a role"))
            .hint("nothing was appended; a line is a message (role, content, …) or an event (kind, …)"));
    };
    Ok(Event { extra: event.extra, x: event.x, ..Event::message(event.ts.unwrap_or(now), *message) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_core::{Kind, parse_time};

    fn read(input: &str) -> Result<Vec<Event>, Failure> {
        events(input.as_bytes(), parse_time("2026-01-02T03:04:05Z").expect("it is well formed"))
    }

    #[test]
    fn messages_and_events_are_told_apart_and_dated() {
        let input = concat!(
            "{\"role\":\"user\",\"content\":\"a\"}\n\n",
            "{\"role\":\"tool\",\"name\":\"Shell\",\"content\":\"b\"}\n",
            "{\"kind\":\"notice\",\"text\":\"c\",\"ts\":\"2025-01-01T00:00:00Z\"}",
        );
        let events = read(input).expect("all lines are good");
        let kinds: Vec<_> = events.iter().map(|event| event.kind.clone()).collect();
        assert_eq!(kinds, [Kind::Message, Kind::ToolResult, Kind::Notice]);
        assert_eq!(events[1].tool, "Shell");
        assert!(events.iter().all(|event| event.ts.is_some()));
    }

    #[test]
    fn one_bad_line_refuses_all_and_is_named() {
        for bad in ["{\"role\":", "[]", "{\"text\":\"a\"}", "{\"kind\":5}"] {
            let failure = read(&format!("{{\"role\":\"user\"}}\n{bad}\n")).expect_err("the second line is bad");
            assert!(failure.exit == Exit::Usage && failure.text.contains("line 2"), "{failure:?}");
        }
    }
}
