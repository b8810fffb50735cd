//! Messages as the writers write them, told by their shape alone.
//!
//! A message in the writers' own order of members, with nothing wrong in any string, adds a message and has no defect;
//! that is all that a load and a count ask. Whatever else a line may be, this module does not take it, and the decoder
//! judges it.

use crate::json::{plain_string, plain_string_end};
use crate::time::is_time;
use crate::{Content, Message, Role, ToolCall};

/// What is kept of a text: itself, or nothing.
pub(crate) trait Text: Default {
    /// The string whose first byte is the first of `bytes`, and where its closing quotation mark stands. `None` if
    /// anything is wrong with it.
    fn read(bytes: &[u8], scratch: &mut Vec<u8>) -> Option<(Self, usize)>;
}

impl Text for String {
    fn read(bytes: &[u8], scratch: &mut Vec<u8>) -> Option<(Self, usize)> {
        plain_string(bytes, scratch)
    }
}

impl Text for () {
    fn read(bytes: &[u8], _: &mut Vec<u8>) -> Option<(Self, usize)> {
        plain_string_end(bytes).map(|end| ((), end))
    }
}

/// A message of which `T` is kept.
#[derive(Debug, Default)]
pub(crate) struct Said<T> {
    role: Role,
    content: T,
    reasoning_content: T,
    name: T,
    tool_calls: Vec<Call<T>>,
    tool_call_id: T,
}

#[derive(Debug)]
struct Call<T> {
    id: T,
    call_type: T,
    name: T,
    arguments: T,
}

impl From<Said<String>> for Message {
    fn from(said: Said<String>) -> Self {
        let calls = said.tool_calls.into_iter().map(|Call { id, call_type, name, arguments }| ToolCall {
            id,
            call_type,
            name,
            arguments,
            ..ToolCall::default()
        });
        Message {
            role: said.role,
            content: Content::Text(said.content),
            reasoning_content: said.reasoning_content,
            name: said.name,
            tool_calls: calls.collect(),
            tool_call_id: said.tool_call_id,
            ..Message::default()
        }
    }
}

/// The message of a line that a newline ends, if the line is one in the writers' own shape. `scratch` is for decoding;
/// what is in it does not matter.
pub(crate) fn message<T: Text>(line: &[u8], scratch: &mut Vec<u8>) -> Option<Said<T>> {
    let mut shape = Shape { rest: line, scratch };
    let said = shape.line()?;
    shape.rest.is_empty().then_some(said)
}

/// What is left of a line.
struct Shape<'a, 's> {
    rest: &'a [u8],
    scratch: &'s mut Vec<u8>,
}

impl Shape<'_, '_> {
    fn line<T: Text>(&mut self) -> Option<Said<T>> {
        self.literal(b"{\"ts\":\"")?;
        let time = self.rest.get(..memchr::memchr(b'"', self.rest.get(..40).unwrap_or(self.rest))?)?;
        self.rest = &self.rest[time.len()..];
        if !is_time(time) {
            return None;
        }
        if self.literal(b"\",\"kind\":\"message\",\"message\":{\"role\":\"").is_none() {
            self.literal(b"\",\"kind\":\"tool_result\",\"message\":{\"role\":\"")?;
        }
        let said = Said {
            role: self.role()?,
            content: self.member(b",\"content\":\"")?,
            reasoning_content: self.member(b",\"reasoning_content\":\"")?,
            name: self.member(b",\"name\":\"")?,
            tool_calls: if self.literal(b",\"tool_calls\":[").is_some() { self.calls()? } else { Vec::new() },
            tool_call_id: self.member(b",\"tool_call_id\":\"")?,
        };
        self.literal(b"}")?;
        self.member::<()>(b",\"tool\":\"")?;
        if self.literal(b",\"ms\":").is_some() {
            self.number()?;
        }
        self.literal(b"}")?;
        Some(said)
    }

    fn role(&mut self) -> Option<Role> {
        const ROLES: [(&[u8], Role); 4] = [
            (b"assistant\"", Role::Assistant),
            (b"tool\"", Role::Tool),
            (b"user\"", Role::User),
            (b"system\"", Role::System),
        ];
        for (name, role) in ROLES {
            if self.literal(name).is_some() {
                return Some(role);
            }
        }
        self.text::<String>().map(Role::Other)
    }

    fn calls<T: Text>(&mut self) -> Option<Vec<Call<T>>> {
        let mut calls = Vec::new();
        loop {
            self.literal(b"{\"id\":\"")?;
            let id = self.text()?;
            self.literal(b",\"type\":\"")?;
            let call_type = self.text()?;
            self.literal(b",\"function\":{\"name\":\"")?;
            let name = self.text()?;
            self.literal(b",\"arguments\":\"")?;
            let arguments = self.text()?;
            self.literal(b"}}")?;
            calls.push(Call { id, call_type, name, arguments });
            if self.literal(b",").is_none() {
                self.literal(b"]")?;
                return Some(calls);
            }
        }
    }

    #[inline]
    fn literal(&mut self, wanted: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    /// A member that may be missing.
    #[inline]
    fn member<T: Text>(&mut self, name: &[u8]) -> Option<T> {
        match self.literal(name) {
            Some(()) => self.text(),
            None => Some(T::default()),
        }
    }

    /// What is left of a string behind its first quotation mark.
    #[inline]
    fn text<T: Text>(&mut self) -> Option<T> {
        let (text, end) = T::read(self.rest, self.scratch)?;
        self.rest = &self.rest[end + 1..];
        Some(text)
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
    use super::message;
    use crate::{Effect, Item, Message, Place, RawLine, scan_line};
    use session_testing::{Histories, Shape};

    /// The message that the decoder finds in the same line, if it finds that and nothing wrong.
    fn decoded(line: &[u8]) -> Option<Message> {
        let place = Place { line: Some(1), offset: 0 };
        let mut items = scan_line(RawLine { place, bytes: line, terminated: true });
        match (items.pop(), items.is_empty()) {
            (Some(Item::Record(record)), true) if record.event.effect() == Effect::Adds => {
                record.event.message.map(|message| *message)
            }
            _ => None,
        }
    }

    /// The message, if the line is taken; a count takes the lines that a load takes.
    fn taken(line: &[u8]) -> Option<Message> {
        let mut scratch = Vec::new();
        let loaded = message::<String>(line, &mut scratch).map(Message::from);
        let counted = message::<()>(line, &mut scratch).is_some();
        assert_eq!(loaded.is_some(), counted, "{}", String::from_utf8_lossy(line));
        loaded
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
            if let Some(message) = taken(line) {
                assert_eq!(Some(message), decoded(line));
                count += 1;
            }
            all += 1;
        }
        assert!(count * 10 > all * 8, "{count} of {all}");
    }

    #[test]
    fn whatever_is_taken_is_what_the_decoder_makes_of_it_on_every_cut_and_every_changed_byte() {
        let mut count = 0;
        for line in sample().iter().take(40) {
            let mut check = |line: &[u8]| {
                if let Some(message) = taken(line) {
                    count += 1;
                    assert_eq!(Some(message), decoded(line), "{}", String::from_utf8_lossy(line));
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
}
