//! Cutting a stream at newlines, with one reused buffer.

use crate::{Place, RawLine};
use memchr::memchr;
use std::io::{self, BufRead};

/// A buffer that grew beyond this for one long line is given back after it.
pub(super) const KEPT_CAPACITY: usize = 1 << 20;

/// A line, or the news that there was one too long to hold.
#[derive(Clone, Copy)]
pub(crate) enum Line<'a> {
    Whole(RawLine<'a>),
    TooLong { place: Place, len: u64 },
}

/// The lines of a stream.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    max: u64,
    buffer: Vec<u8>,
    /// Bytes of the reader's own buffer that the last line borrowed.
    borrowed: usize,
    line: u64,
    offset: u64,
    whole: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, max: u64) -> Self {
        Lines::behind(reader, max, 0, 0)
    }

    /// The lines of a part of a file that begins behind so many lines, with so many bytes.
    pub(crate) fn behind(reader: R, max: u64, lines: u64, bytes: u64) -> Self {
        Lines { reader, max, buffer: Vec::new(), borrowed: 0, line: lines, offset: bytes, whole: bytes }
    }

    /// Bytes up to the end of the last line that a newline ended.
    pub(super) fn whole_bytes(&self) -> u64 {
        self.whole
    }

    /// How many lines have been read, and how many bytes, newlines included.
    pub(super) fn read_so_far(&self) -> (u64, u64) {
        (self.line, self.offset)
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.reader.consume(std::mem::take(&mut self.borrowed));
        if self.buffer.capacity() > KEPT_CAPACITY {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
        let place = Place { line: Some(self.line + 1), offset: self.offset };

        // As a rule the line lies whole in the reader's buffer and needs no copy.
        let chunk = retry(|| self.reader.fill_buf().map(<[u8]>::len))?;
        if chunk == 0 {
            return Ok(None);
        }
        let first = self.reader.fill_buf()?;
        if let Some(len) = memchr(b'\n', first)
            && len as u64 <= self.max
        {
            self.borrowed = len + 1;
            self.advance(len as u64 + 1, true);
            let bytes = &self.reader.fill_buf()?[..len];
            return Ok(Some(Line::Whole(RawLine { place, bytes, terminated: true })));
        }
        let (len, terminated) = self.gather()?;
        self.advance(len + u64::from(terminated), terminated);
        if len > self.max {
            return Ok(Some(Line::TooLong { place, len }));
        }
        Ok(Some(Line::Whole(RawLine { place, bytes: &self.buffer, terminated })))
    }

    fn advance(&mut self, len: u64, terminated: bool) {
        self.line += 1;
        self.offset += len;
        if terminated {
            self.whole = self.offset;
        }
    }

    /// Copies a line that spans buffers; one beyond the bound is only measured.
    fn gather(&mut self) -> io::Result<(u64, bool)> {
        let mut len = 0_u64;
        loop {
            let available = retry(|| self.reader.fill_buf().map(<[u8]>::len))?;
            if available == 0 {
                return Ok((len, false));
            }
            let chunk = self.reader.fill_buf()?;
            let end = memchr(b'\n', chunk);
            let taken = end.unwrap_or(chunk.len());
            len += taken as u64;
            if len > self.max {
                self.buffer = Vec::new();
            } else {
                self.buffer.extend_from_slice(&chunk[..taken]);
            }
            self.reader.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok((len, true));
            }
        }
    }
}

/// A read that a signal interrupted is no failure.
fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
