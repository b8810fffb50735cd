//! Messages as the writers write them, told by their shape alone.
//!
//! A message in the writers' own order of members, with nothing wrong in any string, adds a message and has no defect;
//! that is all that a load and a count ask. Whatever else a line may be, this module does not take it, and the decoder
//! judges it.

use crate::json::{plain_string, plain_string_end};
use crate::time::{is_time, is_zero_time, parse_time};
use crate::{Content, Event, Kind, Message, Role, ToolCall};
use std::borrow::Cow;

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

/// A line with a message of which `T` is kept, and the rest as it stands in the line.
#[derive(Debug)]
pub(crate) struct Said<'a, T> {
    time: &'a [u8],
    is_result: bool,
    /// The tool's name, up to its closing quotation mark.
    tool: &'a [u8],
    ms: i64,
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

impl Said<'_, String> {
    /// The event of the line.
    pub(super) fn into_event(self, scratch: &mut Vec<u8>) -> Option<Event> {
        let ts = parse_time(str::from_utf8(self.time).ok()?).filter(|ts| !is_zero_time(ts));
        let kind = if self.is_result { Kind::ToolResult } else { Kind::Message };
        let tool = if self.tool.is_empty() { String::new() } else { plain_string(self.tool, scratch)?.0 };
        Some(Event { ts, kind, tool, ms: self.ms, message: Some(Box::new(self.into())), ..Event::default() })
    }
}

impl From<Said<'_, String>> for Message {
    fn from(said: Said<'_, String>) -> Self {
        let calls = said.tool_calls.into_iter().map(|Call { id, call_type, name, arguments }| ToolCall {
            id: id.into(),
            call_type: call_type.into(),
            name: name.into(),
            arguments,
            ..ToolCall::default()
        });
        Message {
            role: said.role,
            content: Content::Text(said.content),
            reasoning_content: said.reasoning_content.into(),
            name: said.name.into(),
            tool_calls: calls.collect(),
            tool_call_id: said.tool_call_id.into(),
            ..Message::default()
        }
    }
}

/// The message of a line that a newline ends, if the line is one in the writers' own shape. `scratch` is for decoding;
/// what is in it does not matter.
pub(crate) fn message<'a, T: Text>(line: &'a [u8], scratch: &mut Vec<u8>) -> Option<Said<'a, T>> {
    let mut shape = Shape { rest: line, scratch };
    let said = shape.line()?;
    shape.rest.is_empty().then_some(said)
}

/// Whether a line that a newline ends is a message in the writers' own shape.
pub(crate) fn is_message(line: &[u8]) -> bool {
    message::<()>(line, &mut Vec::new()).is_some()
}

/// What is left of a line.
struct Shape<'a, 's> {
    rest: &'a [u8],
    scratch: &'s mut Vec<u8>,
}

impl<'a> Shape<'a, '_> {
    fn line<T: Text>(&mut self) -> Option<Said<'a, T>> {
        self.literal(b"{\"ts\":\"")?;
        let time = self.rest.get(..memchr::memchr(b'"', self.rest.get(..40).unwrap_or(self.rest))?)?;
        self.rest = &self.rest[time.len()..];
        if !is_time(time) {
            return None;
        }
        let is_result = self.literal(b"\",\"kind\":\"message\",\"message\":{\"role\":\"").is_none();
        if is_result {
            self.literal(b"\",\"kind\":\"tool_result\",\"message\":{\"role\":\"")?;
        }
        let mut said = Said {
            time,
            is_result,
            tool: b"",
            ms: 0,
            role: self.role()?,
            content: self.member(b",\"content\":\"")?,
            reasoning_content: self.member(b",\"reasoning_content\":\"")?,
            name: self.member(b",\"name\":\"")?,
            tool_calls: if self.literal(b",\"tool_calls\":[").is_some() { self.calls()? } else { Vec::new() },
            tool_call_id: self.member(b",\"tool_call_id\":\"")?,
        };
        self.literal(b"}")?;
        if self.literal(b",\"tool\":\"").is_some() {
            said.tool = self.rest;
            self.text::<()>()?;
        }
        if self.literal(b",\"ms\":").is_some() {
            said.ms = self.number()?;
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
        self.text::<String>().map(|name| Role::from(Cow::Owned(name)))
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
    fn number(&mut self) -> Option<i64> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 15 || (digits > 1 && self.rest[0] == b'0') {
            return None;
        }
        let (digits, rest) = self.rest.split_at(digits);
        self.rest = rest;
        Some(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }
}

#[cfg(test)]
mod tests;
