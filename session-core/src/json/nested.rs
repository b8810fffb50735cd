//! Objects and arrays: going in, from member to member, and out.

use super::cursor::{Cursor, Malformed};
use std::borrow::Cow;
use std::ops::Range;

/// Arrays and objects inside one another, at most. The reference's engine refuses the 10,001st.
const MAX_DEPTH: u32 = 10_000;

impl<'a> Cursor<'a> {
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

    /// A key and its colon.
    pub(super) fn key(&mut self) -> Result<Cow<'a, str>, Malformed> {
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
}
