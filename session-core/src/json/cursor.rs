//! A reader of JSON that is told what to expect.

use super::number;
use std::borrow::Cow;
use std::ops::Range;

/// Arrays and objects inside one another, at most. The reference's engine refuses the 10,001st.
const MAX_DEPTH: u32 = 10_000;

/// Bytes that are no JSON, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Byte offset inside the text that was read.
    pub(crate) at: usize,
    /// What is wrong there.
    pub(crate) what: &'static str,
}

/// The type of a value, told from its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// A place in a JSON text.
pub(crate) struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    depth: u32,
    /// The first thing in a string that had to be replaced.
    pub(super) lossy: Option<Lossy>,
    /// Whether strings are built; counting only validates them.
    pub(super) keep: bool,
    /// Where a string with escapes is built before it is known how long it is.
    pub(super) decoded: Vec<u8>,
}

/// What had to be replaced by U+FFFD in a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lossy {
    Surrogate,
    Utf8,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0, depth: 0, lossy: None, keep: true, decoded: Vec::new() }
    }

    /// Strings are checked but not built: [`Cursor::string`] gives an empty one.
    pub(crate) fn without_bodies(mut self) -> Self {
        self.keep = false;
        self
    }

    /// Whether strings and values are to be kept.
    pub(crate) fn keeps(&self) -> bool {
        self.keep
    }

    /// A string that is built also when bodies are not.
    pub(crate) fn word(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let kept = std::mem::replace(&mut self.keep, true);
        let word = self.string();
        self.keep = kept;
        word
    }

    /// The first thing in a string that had to be replaced.
    pub(crate) fn lossy(&self) -> Option<Lossy> {
        self.lossy
    }

    pub(super) fn wrong(&self, what: &'static str) -> Malformed {
        Malformed { at: self.at, what }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// What comes next. Nothing is consumed but white space.
    pub(crate) fn shape(&mut self) -> Result<Shape, Malformed> {
        self.space();
        match self.peek() {
            Some(b'n') => Ok(Shape::Null),
            Some(b't' | b'f') => Ok(Shape::Bool),
            Some(b'-' | b'0'..=b'9') => Ok(Shape::Number),
            Some(b'"') => Ok(Shape::String),
            Some(b'[') => Ok(Shape::Array),
            Some(b'{') => Ok(Shape::Object),
            Some(_) => Err(self.wrong("expected a value")),
            None => Err(self.wrong("ends where a value should be")),
        }
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), Malformed> {
        self.space();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.wrong("something follows the value")) }
    }

    fn literal(&mut self, word: &'static [u8]) -> Result<(), Malformed> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.wrong("expected null, true or false"))
        }
    }

    /// A bool, where [`Cursor::shape`] said so.
    pub(crate) fn bool(&mut self) -> Result<bool, Malformed> {
        if self.peek() == Some(b't') {
            self.literal(b"true").map(|()| true)
        } else {
            self.literal(b"false").map(|()| false)
        }
    }

    /// A number as an `i64`, where [`Cursor::shape`] said so; `None` for a fraction, an exponent, or one too large.
    pub(crate) fn integer(&mut self) -> Result<Option<i64>, Malformed> {
        let start = self.at;
        self.number()?;
        Ok(number::integer(&self.bytes[start..self.at]))
    }

    fn number(&mut self) -> Result<(), Malformed> {
        match number::end(self.bytes, self.at) {
            Ok(end) => {
                self.at = end;
                Ok(())
            }
            Err(at) => Err(Malformed { at, what: "not a number as JSON writes it" }),
        }
    }

    fn deeper(&mut self) -> Result<(), Malformed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(self.wrong("nested more than 10,000 deep")) } else { Ok(()) }
    }

    /// Walks an object, where [`Cursor::shape`] said so. `member` must consume the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if self.enter(b'}')? {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            member(self, key)?;
            if self.leave(b'}')? {
                return Ok(());
            }
        }
    }

    /// Walks an array, where [`Cursor::shape`] said so. `element` must consume the value.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if self.enter(b']')? {
            return Ok(());
        }
        loop {
            element(self)?;
            if self.leave(b']')? {
                return Ok(());
            }
        }
    }

    fn key(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(self.wrong("expected a key in quotes"));
        }
        let key = self.word();
        self.space();
        if key.is_ok() && self.peek() != Some(b':') {
            return Err(self.wrong("expected a colon after the key"));
        }
        self.at += 1;
        key
    }

    /// True at the closing bracket, false after a comma.
    fn comma_or(&mut self, close: u8) -> Result<bool, Malformed> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(b) if b == close => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.wrong("expected a comma or the closing bracket")),
            None => Err(self.wrong("ends inside an object or array")),
        }
    }

    /// Any value, checked and passed over; its text. Nesting is counted, not recursed into.
    pub(crate) fn skip(&mut self) -> Result<&'a [u8], Malformed> {
        self.space();
        let start = self.at;
        let outer = self.depth;
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.shape()? {
                Shape::Null => self.literal(b"null")?,
                Shape::Bool => drop(self.bool()?),
                Shape::Number => self.number()?,
                Shape::String => self.skip_string()?,
                shape @ (Shape::Array | Shape::Object) => {
                    let close = if shape == Shape::Array { b']' } else { b'}' };
                    if !self.enter(close)? {
                        open.push(close);
                        self.skip_key(close)?;
                        continue;
                    }
                }
            }
            // A value is complete: close what it completes, or go on to the next one.
            loop {
                let Some(&close) = open.last() else {
                    debug_assert_eq!(self.depth, outer, "every bracket was closed");
                    return Ok(&self.bytes[start..self.at]);
                };
                if self.leave(close)? {
                    open.pop();
                } else {
                    self.skip_key(close)?;
                    break;
                }
            }
        }
    }

    /// Goes into an array or object, where [`Cursor::shape`] said so; true if it is empty, and then passed over.
    pub(super) fn enter(&mut self, close: u8) -> Result<bool, Malformed> {
        self.at += 1;
        self.deeper()?;
        self.space();
        let is_empty = self.peek() == Some(close);
        if is_empty {
            self.at += 1;
            self.depth -= 1;
        }
        Ok(is_empty)
    }

    /// After a value inside an array or object: true behind the closing bracket, false behind a comma.
    pub(super) fn leave(&mut self, close: u8) -> Result<bool, Malformed> {
        let is_end = self.comma_or(close)?;
        self.depth -= u32::from(is_end);
        Ok(is_end)
    }

    /// A key and its colon, passed over; where the bytes between its quotes stand.
    pub(super) fn name(&mut self) -> Result<Range<usize>, Malformed> {
        self.space();
        let start = self.at + 1;
        if self.peek() != Some(b'"') {
            return Err(self.wrong("expected a key in quotes"));
        }
        self.skip_string()?;
        let inside = start..self.at - 1;
        self.space();
        if self.peek() != Some(b':') {
            return Err(self.wrong("expected a colon after the key"));
        }
        self.at += 1;
        Ok(inside)
    }

    /// Inside an object, a key and its colon stand before the value.
    fn skip_key(&mut self, close: u8) -> Result<(), Malformed> {
        if close == b'}' { self.key().map(drop) } else { Ok(()) }
    }

    fn skip_string(&mut self) -> Result<(), Malformed> {
        let kept = std::mem::replace(&mut self.keep, false);
        let skipped = self.string().map(drop);
        self.keep = kept;
        skipped
    }

    /// Text for a span of the input; bytes that are no UTF-8 are replaced, one mark each.
    pub(crate) fn text_of(&self, span: &'a [u8]) -> Cow<'a, str> {
        std::str::from_utf8(span).map_or_else(|_| Cow::Owned(super::string::replace_invalid(span)), Cow::Borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skips(text: &str) -> bool {
        let mut cursor = Cursor::new(text.as_bytes());
        cursor.skip().and_then(|_| cursor.end()).is_ok()
    }

    #[test]
    fn skipping_accepts_json_and_nothing_else() {
        for good in
            ["null", " true ", "[]", "{}", "[1,2]", r#"{"a":[{"b":null}],"c":-0.5e+3}"#, r#""\u00e9\n""#, "[[],[{}]]"]
        {
            assert!(skips(good), "{good}");
        }
        for bad in [
            "", "nul", "[1,]", "{,}", "{\"a\"}", "{\"a\":}", "[1 2]", "01", "1.", "+1", ".5", "1e", "NaN", "\"\\x\"",
            "\"a", "[}", "{]", "1 2", "'a'", "\"\t\"",
        ] {
            assert!(!skips(bad), "{bad}");
        }
    }

    #[test]
    fn nesting_is_bounded_at_ten_thousand() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(skips(&nested(10_000)));
        assert!(!skips(&nested(10_001)));
    }
}
