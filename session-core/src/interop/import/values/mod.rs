//! From bytes to JSON values, whatever stands between them.
//!
//! Files of other agents are JSON lines, one JSON document over many lines, or one array of everything; two objects may
//! stand on one line, the last line may be cut off. What cannot be read is told with its line, and reading goes on behind
//! it. Memory is that of one value: of an array, its elements come one by one.

mod balance;
mod stream;

use super::value::Json;
use crate::json::Cursor;
use crate::scan::{Line, Lines};
use balance::ends_inside;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _};
use stream::Stream;

/// How long one value may be.
const MAX_BYTES: u64 = 1 << 30;

/// A mark of order. Files that were put together have it in their middle too.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What stands in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A value.
    Value(Value),
    /// Something that is no value: where, and what is wrong.
    Unreadable { line: u64, what: &'static str },
    /// A value follows that had to be repaired.
    Repaired { line: u64, what: &'static str },
}

/// A value, and where it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) line: u64,
    /// Which array at the top of the file it is an element of, from 1.
    pub(super) array: Option<u64>,
    pub(super) json: Json,
}

type Input<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// The values of a file.
pub(super) struct Values<R> {
    mode: Mode<R>,
    /// Longer values are told and passed over.
    limit: u64,
    ready: VecDeque<Found>,
}

enum Mode<R> {
    /// Nothing has been read yet.
    Fresh(R),
    /// Each line stands for itself.
    Lines {
        lines: Lines<Input<R>>,
        before: u64,
    },
    /// Values reach over lines, or stand in an array.
    Stream(Stream<Input<R>>),
    Done,
}

impl<R: BufRead> Values<R> {
    pub(super) fn new(reader: R) -> Self {
        Values::within(reader, MAX_BYTES)
    }

    fn within(reader: R, limit: u64) -> Self {
        Values { mode: Mode::Fresh(reader), limit, ready: VecDeque::new() }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Found>> {
        loop {
            if let Some(found) = self.ready.pop_front() {
                return Ok(Some(found));
            }
            match std::mem::replace(&mut self.mode, Mode::Done) {
                Mode::Done => return Ok(None),
                Mode::Fresh(reader) => self.mode = begin(reader, self.limit)?,
                Mode::Lines { mut lines, before } => {
                    let Some(line) = lines.next()? else { continue };
                    match line {
                        Line::Whole(line) => {
                            let number = line.place.line.unwrap_or(0) + before;
                            read_line(line.bytes, number, &mut self.ready);
                        }
                        Line::TooLong { place, .. } => {
                            let line = place.line.unwrap_or(0) + before;
                            self.ready.push_back(Found::Unreadable { line, what: "too long" });
                        }
                    }
                    self.mode = Mode::Lines { lines, before };
                }
                Mode::Stream(mut stream) => {
                    if let Some(span) = stream.next()? {
                        span.read(&mut self.ready);
                        self.mode = Mode::Stream(stream);
                    }
                }
            }
        }
    }
}

/// Looks at the first value: a file whose first line is not whole is one document, or begins with an array. What begins
/// otherwise reaches over no line: the first one is damaged, and the others stand for themselves.
fn begin<R: BufRead>(mut reader: R, limit: u64) -> io::Result<Mode<R>> {
    let mut head = Vec::new();
    let mut before = 0;
    loop {
        head.clear();
        (&mut reader).take(limit).read_until(b'\n', &mut head)?;
        if head.is_empty() {
            return Ok(Mode::Done);
        }
        if head.starts_with(MARK) {
            head.drain(..MARK.len());
        }
        let padding = head.iter().take_while(|byte| is_padding(**byte)).count();
        if padding < head.len() {
            head.drain(..padding);
            break;
        }
        before += 1;
    }
    let reaches_on = match trimmed(&head).first() {
        Some(b'[') => true,
        Some(b'{') => Cursor::new(&head).skip().is_err() && ends_inside(&head),
        _ => false,
    };
    let input = io::Cursor::new(head).chain(reader);
    if reaches_on {
        return Ok(Mode::Stream(Stream::new(input, before + 1, limit)));
    }
    Ok(Mode::Lines { lines: Lines::behind(input, limit, 0, 0), before })
}

fn is_padding(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

fn trimmed(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(MARK) {
        bytes = rest;
    }
    let from = bytes.iter().take_while(|byte| is_padding(**byte)).count();
    let to = bytes.len() - bytes[from..].iter().rev().take_while(|byte| is_padding(**byte)).count();
    &bytes[from..to]
}

/// The values of one line.
fn read_line(bytes: &[u8], line: u64, ready: &mut VecDeque<Found>) {
    let bytes = trimmed(bytes);
    let mut cursor = Cursor::new(bytes);
    let mut values = 0;
    while cursor.end().is_err() {
        match Json::read(&mut cursor) {
            Ok(json) => {
                values += 1;
                if values == 2 {
                    ready.push_back(Found::Repaired { line, what: "objects glued on one line" });
                }
                ready.push_back(Found::Value(Value { line, array: None, json }));
            }
            Err(_) => {
                let what = if ends_inside(bytes) { "cut off" } else { "not JSON" };
                ready.push_back(Found::Unreadable { line, what });
                break;
            }
        }
    }
    if cursor.lossy().is_some() {
        let at = ready.len() - values.min(ready.len());
        ready.insert(at, Found::Repaired { line, what: "text that is not Unicode" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value's text, and each fault in brackets, with their lines.
    fn found(bytes: &[u8]) -> Vec<String> {
        found_within(bytes, MAX_BYTES)
    }

    fn found_within(bytes: &[u8], limit: u64) -> Vec<String> {
        let mut values = Values::within(bytes, limit);
        let mut found = Vec::new();
        while let Some(next) = values.next().expect("a slice has no read errors") {
            found.push(match next {
                Found::Value(Value { line, array: None, json }) => format!("{line} {}", json.to_text()),
                Found::Value(Value { line, array: Some(array), json }) => format!("{line}[{array}] {}", json.to_text()),
                Found::Unreadable { line, what } => format!("{line} <{what}>"),
                Found::Repaired { line, what } => format!("{line} ({what})"),
            });
        }
        found
    }

    #[test]
    fn lines_objects_glued_on_one_line_and_a_torn_tail() {
        assert_eq!(found(b"{\"a\":1}\n\n{\"b\":2}\r\n"), ["1 {\"a\":1}", "3 {\"b\":2}"]);
        let glued = found(b"{\"a\":1}\n{\"b\":2}{\"c\":3}\n{\"d\":4");
        assert_eq!(
            glued,
            ["1 {\"a\":1}", "2 {\"b\":2}", "2 (objects glued on one line)", "2 {\"c\":3}", "3 <cut off>"]
        );
        assert_eq!(found(b"{\"a\":1}\nnope\n{\"b\":2}\n"), ["1 {\"a\":1}", "2 <not JSON>", "3 {\"b\":2}"]);
    }

    #[test]
    fn a_mark_of_order_and_padding_are_no_part_of_a_value() {
        assert_eq!(found(b"\xEF\xBB\xBF{\"a\":1}\n\0\0\0{\"b\":2}\n\0\0"), ["1 {\"a\":1}", "2 {\"b\":2}"]);
        assert_eq!(found(b"\n\n\xEF\xBB\xBF{\"a\":1}"), ["3 {\"a\":1}"]);
        assert_eq!(found(b"\0\0"), Vec::<String>::new());
    }

    #[test]
    fn half_a_pair_and_bytes_that_are_no_text_cost_no_line() {
        let text = "text that is not Unicode";
        assert_eq!(
            found(b"{\"a\":\"\\ud83d\"}\n{\"a\":\"\xFF\"}\n"),
            [
                format!("1 ({text})"),
                "1 {\"a\":\"\u{fffd}\"}".into(),
                format!("2 ({text})"),
                "2 {\"a\":\"\u{fffd}\"}".into()
            ]
        );
    }

    #[test]
    fn a_document_over_lines_and_what_follows_it() {
        assert_eq!(found(b"{\n \"a\": [\"}\",\n 1]\n}\n{\"b\":2}"), ["1 {\"a\":[\"}\",1]}", "5 {\"b\":2}"]);
        assert_eq!(found(b"{\n \"a\": 1\n"), ["1 <cut off>", "2 <not JSON>"]);
        assert_eq!(found(b"{\"a\":\n{\"b\":2}\n{\"c\":3}\n"), ["1 <cut off>", "2 {\"b\":2}", "3 {\"c\":3}"]);
    }

    #[test]
    fn lines_behind_a_first_one_that_is_cut_off_cost_themselves_and_are_told() {
        let good = "{\"a\":1}\n{\"b\":2}\n";
        for (first, what) in [("n(){ if (x) {\"}]}}", "cut off"), ("{\"c\":", "cut off"), ("x\":{}}", "not JSON")] {
            let expected = [format!("1 <{what}>"), "2 {\"a\":1}".into(), "3 {\"b\":2}".into(), "4 <not JSON>".into()];
            assert_eq!(found(format!("{first}\n{good}damaged\n\n\0\n").as_bytes()), expected, "{first}");
        }
    }

    #[test]
    fn elements_of_an_array_come_one_by_one_and_arrays_are_told_apart() {
        assert_eq!(found(b"[{\"a\":1},\n [2], 3, \"x\"]"), ["1[1] {\"a\":1}", "2[1] [2]", "2[1] 3", "2[1] \"x\""]);
        assert_eq!(found(b"[{\"a\":1}]\n[{\"b\":2}]\n"), ["1[1] {\"a\":1}", "2[2] {\"b\":2}"]);
        assert_eq!(found(b"[{\"a\":1},{\"b\""), ["1[1] {\"a\":1}", "1 <cut off>"]);
        assert_eq!(found(b"[]"), Vec::<String>::new());
    }

    #[test]
    fn a_value_that_is_too_long_costs_itself_wherever_it_stands() {
        let long = "x".repeat(20);
        for (text, expected) in [
            (
                format!("{{\"a\":1}}\n{{\"b\":\"{long}\"}}\n{{\"c\":3}}\n"),
                ["1 {\"a\":1}", "2 <too long>", "3 {\"c\":3}"],
            ),
            (format!("\n{long}\n{{\"a\":1}}\n{{\"c\":3}}\n"), ["2 <too long>", "3 {\"a\":1}", "4 {\"c\":3}"]),
            (
                format!("{{\"b\":\"{long}\"}}\n{{\"a\":1}}\n{{\"c\":3}}\n"),
                ["1 <too long>", "2 {\"a\":1}", "3 {\"c\":3}"],
            ),
            (
                format!("[{{\"a\":1}},\n{{\"b\":\"{long}\"}},\n{{\"c\":3}}]"),
                ["1[1] {\"a\":1}", "2 <too long>", "3[1] {\"c\":3}"],
            ),
            (
                format!("{{\n\"b\":\"{long}\"}}\n{{\"a\":1}}\n{{\n\"c\":3}}"),
                ["1 <too long>", "3 {\"a\":1}", "4 {\"c\":3}"],
            ),
        ] {
            assert_eq!(found_within(text.as_bytes(), 16), expected, "{text}");
        }
        // As long as it may be.
        assert_eq!(found_within(b"{\"a\":\"12345678\"}", 16), ["1 {\"a\":\"12345678\"}"]);
        assert_eq!(found_within(b"[{\"a\":\"12345678\"}]", 16), ["1[1] {\"a\":\"12345678\"}"]);
        assert_eq!(found_within(b"[{\"a\":\"123456789\"}]", 16), ["1 <too long>"]);
    }

    #[test]
    fn every_cut_of_every_shape_ends() {
        for text in ["[{\"a\":\"}\\\"\"},[1,2]]", "{\n\"a\":[1]}\n{}", "{\"a\":1}{\"b\":[]}\n{", "]}{[\"", "1 2,3]"] {
            for cut in 0..=text.len() {
                found(&text.as_bytes()[..cut]);
            }
        }
    }
}
