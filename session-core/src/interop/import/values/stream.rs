//! Values that reach over lines, or stand in an array.

use super::balance::Balance;
use super::{Found, Json, MARK, Value, is_padding, read_line, trimmed};
use crate::json::Cursor;
use std::collections::VecDeque;
use std::io::{self, BufRead};

/// Values one after the other, over lines, and those of an array at the top one by one.
pub(super) struct Stream<R> {
    input: R,
    line: u64,
    /// Longer values are told and passed over.
    limit: u64,
    /// The array that is open.
    array: Option<u64>,
    arrays: u64,
}

/// The bytes of a value.
pub(super) struct Span {
    line: u64,
    array: Option<u64>,
    bytes: Vec<u8>,
    end: End,
}

#[derive(PartialEq, Eq)]
enum End {
    Whole,
    CutOff,
    TooLong,
}

impl<R: BufRead> Stream<R> {
    /// The values of `input`, which begins in a line.
    pub(super) fn new(input: R, line: u64, limit: u64) -> Self {
        Stream { input, line, limit, array: None, arrays: 0 }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Span>> {
        loop {
            let Some(byte) = self.peek()? else { return Ok(None) };
            let in_array = self.array.is_some();
            match byte {
                b'[' if !in_array => {
                    self.arrays += 1;
                    self.array = Some(self.arrays);
                }
                b']' if in_array => self.array = None,
                b',' if in_array => {}
                byte if is_padding(byte) || MARK.contains(&byte) => {}
                _ => return self.span().map(Some),
            }
            self.line += u64::from(byte == b'\n');
            self.input.consume(1);
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The value that begins here: up to where its brackets are even, or to a delimiter.
    fn span(&mut self) -> io::Result<Span> {
        let mut span = Span { line: self.line, array: self.array, bytes: Vec::new(), end: End::CutOff };
        let mut balance = Balance::default();
        let mut size = 0;
        while self.peek()?.is_some() {
            let chunk = self.input.fill_buf()?;
            let mut used = 0;
            let mut is_done = false;
            for &byte in chunk {
                let ends_scalar = balance.is_even() && (matches!(byte, b',' | b']' | b'}') || is_padding(byte));
                if ends_scalar && size + used as u64 > 0 {
                    is_done = true;
                    break;
                }
                balance.step(byte);
                used += 1;
                if balance.is_even() && matches!(byte, b'}' | b']' | b'"') {
                    is_done = true;
                    break;
                }
            }
            size += used as u64;
            if size <= self.limit {
                span.bytes.extend_from_slice(&chunk[..used]);
            } else {
                span.bytes = Vec::new();
            }
            self.line += memchr::memchr_iter(b'\n', &chunk[..used]).count() as u64;
            self.input.consume(used);
            if is_done {
                span.end = End::Whole;
                break;
            }
        }
        if size > self.limit {
            span.end = End::TooLong;
        }
        Ok(span)
    }
}

impl Span {
    /// What stands in it.
    pub(super) fn read(self, ready: &mut VecDeque<Found>) {
        let Span { line, array, bytes, end } = self;
        if end == End::TooLong {
            return ready.push_back(Found::Unreadable { line, what: "too long" });
        }
        let mut cursor = Cursor::new(&bytes);
        let read = Json::read(&mut cursor).ok().filter(|_| cursor.end().is_ok());
        match read {
            Some(json) => {
                if cursor.lossy().is_some() {
                    ready.push_back(Found::Repaired { line, what: "text that is not Unicode" });
                }
                ready.push_back(Found::Value(Value { line, array, json }));
            }
            // JSON lines after all, the first of which is cut off.
            None if array.is_none() && bytes.contains(&b'\n') => {
                for (line, bytes) in (line..).zip(bytes.split(|byte| *byte == b'\n')) {
                    match trimmed(bytes).first() {
                        None => {}
                        Some(b'{') => read_line(bytes, line, ready),
                        // In the middle of a value that is cut off, or none: what could be read in it is no record.
                        Some(_) => ready.push_back(Found::Unreadable { line, what: "not JSON" }),
                    }
                }
            }
            None => {
                let what = if end == End::CutOff { "cut off" } else { "not JSON" };
                ready.push_back(Found::Unreadable { line, what });
            }
        }
    }
}
