//! The same events and defects from the end of the file, without reading what is before those that are asked for.

use super::{Limits, judge};
use crate::decode::{Item, RawLine};
use crate::scan::lines::Line;
use crate::{Bodies, Place};
use memchr::memrchr;
use std::io::{self, Read, Seek, SeekFrom};

/// The first block that is read from the end; each next one is twice as large, up to [`MAX_BLOCK`].
const FIRST_BLOCK: usize = 16 << 10;
const MAX_BLOCK: usize = 1 << 20;

/// The events and defects of a history, last first.
///
/// They are those of [`crate::Scan`] in reverse order, but for the line number, which nobody knows from this side.
/// What is read is what was asked for, rounded up to a block. Bytes that are appended after the start are not seen.
#[derive(Debug)]
pub struct ScanBackwards<R> {
    reader: R,
    limits: Limits,
    /// The file's bytes from `start` on that no line has taken yet, at the end of `buffer`.
    buffer: Vec<u8>,
    from: usize,
    start: u64,
    block: usize,
    /// Whether the bytes held end with the newline of the line to come.
    terminated: bool,
    begun: bool,
    failed: bool,
    ready: Vec<Item>,
}

impl<R: Read + Seek> ScanBackwards<R> {
    /// Reads from the end of a history, with the default limits.
    ///
    /// # Errors
    /// What seeking to the end reports.
    pub fn new(reader: R) -> io::Result<Self> {
        ScanBackwards::with_limits(reader, Limits::default())
    }

    /// Reads from the end of a history.
    ///
    /// # Errors
    /// What seeking to the end reports.
    pub fn with_limits(mut reader: R, limits: Limits) -> io::Result<Self> {
        let start = reader.seek(SeekFrom::End(0))?;
        Ok(ScanBackwards {
            reader,
            limits,
            buffer: Vec::new(),
            from: 0,
            start,
            block: FIRST_BLOCK,
            terminated: false,
            begun: false,
            failed: false,
            ready: Vec::new(),
        })
    }

    /// Puts the block before `start` in front of what is held. False at the start of the file.
    fn fill(&mut self) -> io::Result<bool> {
        let size = usize::try_from(self.start).unwrap_or(usize::MAX).min(self.block);
        if size == 0 {
            return Ok(false);
        }
        self.block = (self.block * 2).min(MAX_BLOCK);
        if self.from < size {
            // Make room in front, at least doubling, so that a long line is moved a bounded number of times.
            let held = self.buffer.len() - self.from;
            let grown = (held + size).max(self.buffer.len() * 2);
            let mut buffer = vec![0; grown];
            buffer[grown - held..].copy_from_slice(&self.buffer[self.from..]);
            self.from = grown - held;
            self.buffer = buffer;
        }
        let start = self.start - size as u64;
        self.reader.seek(SeekFrom::Start(start))?;
        self.reader.read_exact(&mut self.buffer[self.from - size..self.from])?;
        self.start = start;
        self.from -= size;
        Ok(true)
    }

    fn drop_held(&mut self) {
        self.buffer.clear();
        self.from = 0;
    }

    /// Takes the last line that is held or before it. `None` when the file is used up.
    fn line(&mut self) -> io::Result<bool> {
        if !std::mem::replace(&mut self.begun, true) {
            self.fill()?;
            self.terminated = self.buffer.last() == Some(&b'\n');
            if self.terminated {
                self.buffer.pop();
            }
        }
        if self.buffer.len() == self.from && self.start == 0 && !self.terminated {
            return Ok(false);
        }
        let mut searched = 0;
        let mut dropped = 0_u64;
        loop {
            let held = &self.buffer[self.from..];
            if let Some(newline) = memrchr(b'\n', &held[..held.len() - searched]) {
                self.take(newline + 1, dropped);
                self.buffer.truncate(self.from + newline);
                self.terminated = true;
                return Ok(true);
            }
            searched = held.len();
            if searched as u64 + dropped > self.limits.max_line_bytes {
                dropped += searched as u64;
                searched = 0;
                self.drop_held();
            }
            if !self.fill()? {
                self.take(0, dropped);
                self.drop_held();
                self.terminated = false;
                return Ok(true);
            }
        }
    }

    /// Judges the line that begins at `at` of what is held and whose last `dropped` bytes were not kept.
    fn take(&mut self, at: usize, dropped: u64) {
        let bytes = &self.buffer[self.from + at..];
        let place = Place { line: None, offset: self.start + at as u64 };
        let line = if dropped > 0 || bytes.len() as u64 > self.limits.max_line_bytes {
            Line::TooLong { place, len: bytes.len() as u64 + dropped }
        } else {
            Line::Whole(RawLine { place, bytes, terminated: self.terminated })
        };
        judge(line, self.limits, Bodies::Keep, |item| self.ready.push(item));
    }
}

impl<R: Read + Seek> Iterator for ScanBackwards<R> {
    type Item = io::Result<Item>;

    /// The event or defect before the last one that was given.
    ///
    /// # Errors
    /// What the reader underneath reports, `UnexpectedEof` if the file was cut meanwhile; nothing else. It ends the
    /// reading.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.ready.pop() {
                return Some(Ok(item));
            }
            if self.failed {
                return None;
            }
            match self.line() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
