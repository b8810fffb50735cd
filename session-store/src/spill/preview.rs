//! The beginning and the end of something that is too long to be shown.

use memchr::{memchr, memchr_iter, memrchr};
use session_core::counted;
use std::collections::VecDeque;

/// How much of an output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviewSize {
    /// At most so many bytes of its beginning.
    pub head_bytes: usize,
    /// At most so many bytes of its end.
    pub tail_bytes: usize,
}

impl Default for PreviewSize {
    /// 8 KiB of both.
    fn default() -> Self {
        PreviewSize { head_bytes: 8 << 10, tail_bytes: 8 << 10 }
    }
}

/// The beginning and the end of an output, cut between lines where there are any and never inside a character, and how
/// much there is of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The beginning; all of it where nothing is left out. Bytes that are no UTF-8 are shown as U+FFFD.
    pub head: String,
    /// The end; empty where nothing is left out.
    pub tail: String,
    /// The size of the output, in bytes.
    pub bytes: u64,
    /// Its lines. One without a newline at the end counts.
    pub lines: u64,
    /// How many bytes stand neither in the beginning nor in the end.
    pub left_out_bytes: u64,
    /// How many newlines are among them: whole lines, where the cuts are between lines.
    pub left_out_lines: u64,
}

impl Preview {
    /// The preview of an output that is in memory.
    pub fn of(output: &[u8], size: PreviewSize) -> Self {
        let mut seen = Collector::new(size);
        seen.push(output);
        seen.finish()
    }

    /// What is shown, on its own line between beginning and end a marker that says what is left out and where all of it
    /// is. `None`: it was not kept anywhere. Where nothing is left out there is no marker.
    pub fn text(&self, kept_in: Option<&str>) -> String {
        if self.left_out_bytes == 0 {
            return self.head.clone();
        }
        let bytes = counted(self.left_out_bytes, "byte", "bytes");
        let lines = counted(self.left_out_lines, "line", "lines");
        let place = match kept_in {
            Some(path) => format!("all of it is in {path}"),
            None => "it was not kept".to_owned(),
        };
        let newline = if self.head.is_empty() || self.head.ends_with('\n') { "" } else { "\n" };
        format!("{}{newline}[{bytes}, {lines} left out: {place}]\n{}", self.head, self.tail)
    }
}

/// Keeps the beginning and the end of what goes by.
#[derive(Debug)]
pub(super) struct Collector {
    size: PreviewSize,
    head: Vec<u8>,
    /// What follows the head, as far as it may be shown.
    tail: VecDeque<u8>,
    bytes: u64,
    newlines: u64,
    last: Option<u8>,
}

impl Collector {
    pub(super) fn new(size: PreviewSize) -> Self {
        Collector { size, head: Vec::new(), tail: VecDeque::new(), bytes: 0, newlines: 0, last: None }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.newlines += memchr_iter(b'\n', bytes).count() as u64;
        self.last = bytes.last().copied().or(self.last);
        let room = (self.size.head_bytes - self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        // One byte more than is shown tells whether the end begins between lines.
        let kept = self.size.tail_bytes.saturating_add(1);
        self.tail.extend(&rest[rest.len().saturating_sub(kept)..]);
        self.tail.drain(..self.tail.len().saturating_sub(kept));
    }

    pub(super) fn finish(self) -> Preview {
        let lines = self.newlines + u64::from(self.last.is_some_and(|last| last != b'\n'));
        let mut tail = Vec::from(self.tail);
        let whole = self.bytes <= (self.size.head_bytes as u64).saturating_add(self.size.tail_bytes as u64);
        if whole {
            let mut all = self.head;
            all.append(&mut tail);
            let head = String::from_utf8_lossy(&all).into_owned();
            return Preview {
                head,
                tail: String::new(),
                bytes: self.bytes,
                lines,
                left_out_bytes: 0,
                left_out_lines: 0,
            };
        }
        let head = head_of(&self.head);
        let tail = tail_of(&tail);
        let newlines = |bytes: &[u8]| memchr_iter(b'\n', bytes).count() as u64;
        Preview {
            head: String::from_utf8_lossy(head).into_owned(),
            tail: String::from_utf8_lossy(tail).into_owned(),
            bytes: self.bytes,
            lines,
            left_out_bytes: self.bytes - head.len() as u64 - tail.len() as u64,
            left_out_lines: self.newlines - newlines(head) - newlines(tail),
        }
    }
}

/// Up to the last newline; without one, up to the last whole character.
fn head_of(bytes: &[u8]) -> &[u8] {
    if let Some(newline) = memrchr(b'\n', bytes) {
        return &bytes[..=newline];
    }
    // A character takes at most four bytes: only the last three can be the start of one that was cut.
    let from = bytes.len().saturating_sub(3);
    let cut = (from..bytes.len()).find(|&at| {
        let rest = &bytes[at..];
        std::str::from_utf8(rest).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    });
    &bytes[..cut.unwrap_or(bytes.len())]
}

/// From behind the first newline on, if something follows it; without one, from the first whole character on. The first
/// byte is not shown.
fn tail_of(bytes: &[u8]) -> &[u8] {
    let Some((_, shown)) = bytes.split_first() else { return bytes };
    match memchr(b'\n', bytes) {
        Some(newline) if newline + 1 < bytes.len() => &bytes[newline + 1..],
        _ => {
            let inside = |byte: &&u8| (0x80..0xC0).contains(*byte);
            &shown[shown.iter().take(3).take_while(inside).count()..]
        }
    }
}
