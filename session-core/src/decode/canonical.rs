//! Lines as the writers write them, told by their shape alone, for those who only count.
//!
//! A message in the writers' own order of members, with nothing wrong in any string, adds a message and has no defect;
//! that is all that a count asks. Whatever else a line may be, this module does not take it, and the decoder judges it.

use crate::json::plain_string_end;
use crate::time::parse_time;

/// Whether a line that a newline ends is a message in the writers' own shape.
pub(crate) fn is_message(line: &[u8]) -> bool {
    let mut shape = Shape { rest: line };
    shape.message().is_some() && shape.rest.is_empty()
}

/// What is left of a line.
struct Shape<'a> {
    rest: &'a [u8],
}

impl Shape<'_> {
    fn message(&mut self) -> Option<()> {
        self.literal(b"{\"ts\":\"")?;
        let time = self.rest.get(..memchr::memchr(b'"', self.rest.get(..40).unwrap_or(self.rest))?)?;
        parse_time(str::from_utf8(time).ok()?)?;
        self.rest = &self.rest[time.len()..];
        let is_result = self.literal(b"\",\"kind\":\"message\",\"message\":{\"role\":\"").is_none();
        if is_result {
            self.literal(b"\",\"kind\":\"tool_result\",\"message\":{\"role\":\"")?;
        }
        self.text()?;
        for member in [&b",\"content\":\""[..], b",\"reasoning_content\":\"", b",\"name\":\""] {
            self.member(member)?;
        }
        if self.literal(b",\"tool_calls\":[").is_some() {
            self.calls()?;
        }
        self.member(b",\"tool_call_id\":\"")?;
        self.literal(b"}")?;
        self.member(b",\"tool\":\"")?;
        if self.literal(b",\"ms\":").is_some() {
            self.number()?;
        }
        self.literal(b"}")
    }

    fn calls(&mut self) -> Option<()> {
        loop {
            self.literal(b"{\"id\":\"")?;
            self.text()?;
            self.literal(b",\"type\":\"")?;
            self.text()?;
            self.literal(b",\"function\":{\"name\":\"")?;
            self.text()?;
            self.literal(b",\"arguments\":\"")?;
            self.text()?;
            self.literal(b"}}")?;
            if self.literal(b",").is_none() {
                return self.literal(b"]");
            }
        }
    }

    fn literal(&mut self, wanted: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    /// A member that may be missing.
    fn member(&mut self, name: &[u8]) -> Option<()> {
        match self.literal(name) {
            Some(()) => self.text(),
            None => Some(()),
        }
    }

    /// What is left of a string behind its first quotation mark.
    fn text(&mut self) -> Option<()> {
        let end = plain_string_end(self.rest)?;
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    /// A number as the writers write milliseconds: no sign, no zero in front, far from the bounds of an `i64`.
    fn number(&mut self) -> Option<()> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 15 || (digits > 1 && self.rest[0] == b'0') {
            return None;
        }
        self.rest = &self.rest[digits..];
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_message;
    use crate::{Effect, Item, Place, RawLine, scan_line};
    use session_testing::{Histories, Shape};

    /// What the decoder says of the same line.
    fn decoded(line: &[u8]) -> bool {
        let place = Place { line: Some(1), offset: 0 };
        let items = scan_line(RawLine { place, bytes: line, terminated: true });
        matches!(&items[..], [Item::Record(record)] if record.event.effect() == Effect::Adds)
    }

    fn sample() -> Vec<Vec<u8>> {
        let history = Histories::of_bytes(5, Shape::Small, 20_000);
        history.split(|&byte| byte == b'\n').filter(|line| is_message(line)).map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn most_lines_of_a_history_are_taken() {
        let history = Histories::of_bytes(3, Shape::Real, 300_000);
        let (mut taken, mut all) = (0, 0);
        for line in history.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            (taken, all) = (taken + u32::from(is_message(line)), all + 1);
        }
        assert!(taken * 10 > all * 8, "{taken} of {all}");
    }

    #[test]
    fn whatever_is_taken_is_what_the_decoder_makes_of_it_on_every_cut_and_every_changed_byte() {
        let mut taken = 0;
        for line in sample().iter().take(40) {
            let mut check = |line: &[u8]| {
                if is_message(line) {
                    taken += 1;
                    assert!(decoded(line), "{}", String::from_utf8_lossy(line));
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
        assert!(taken > 10_000, "{taken} changed lines were still taken");
    }
}
