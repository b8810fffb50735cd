//! A reader of JSON that is told what to expect.

use super::number;
use std::borrow::Cow;

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
    /// How many arrays and objects it is in.
    pub(super) depth: u32,
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

    pub(super) fn space(&mut self) {
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

    pub(super) fn literal(&mut self, word: &'static [u8]) -> Result<(), Malformed> {
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

    pub(super) fn number(&mut self) -> Result<(), Malformed> {
        match number::end(self.bytes, self.at) {
            Ok(end) => {
                self.at = end;
                Ok(())
            }
            Err(at) => Err(Malformed { at, what: "not a number as JSON writes it" }),
        }
    }

    /// Text for a span of the input; bytes that are no UTF-8 are replaced, one mark each.
    pub(crate) fn text_of(&self, span: &'a [u8]) -> Cow<'a, str> {
        std::str::from_utf8(span).map_or_else(|_| Cow::Owned(super::invalid::replace_invalid(span)), Cow::Borrowed)
    }
}
