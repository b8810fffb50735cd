//! Reading a history: events and defects, forwards in bounded memory, and backwards from the end.

mod backwards;
mod lines;

pub use backwards::ScanBackwards;

use crate::decode::{self, Item, RawLine, Said, Text};
use crate::{Event, Fault, Place};
use lines::KEPT_CAPACITY;
pub(crate) use lines::{Line, Lines};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, BufRead};

/// What a reader accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest line that is read, in bytes without its newline. A longer one is a defect: at most so many bytes of it
    /// are held, then freed. [`ScanBackwards`] holds up to 1 MiB more.
    ///
    /// A line may take many times its length when it is decoded. For files that others wrote, set a small bound: see
    /// [Memory](crate#memory).
    pub max_line_bytes: u64,
}

impl Default for Limits {
    /// Lines of up to 1 GiB.
    fn default() -> Self {
        Limits { max_line_bytes: 1 << 30 }
    }
}

/// Whether the texts of events are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bodies {
    /// Everything is kept.
    Keep,
    /// Texts, unknown members and [`crate::Event::x`] are checked and left empty; kinds, roles, times and numbers are
    /// there. For counting.
    ///
    /// [`crate::Event::extension`], [`crate::Event::format`], [`crate::Event::prompt`] and
    /// [`crate::Event::rewind_step`] cannot say what the line says then: they answer as for empty texts and an empty `x`.
    Skip,
}

/// The events and defects of a history, in file order.
///
/// Only the byte 0x0A separates lines. Content never ends the reading: what is wrong comes as a [`crate::Defect`].
/// Memory is one line's, whatever the size of the file.
///
/// ```
/// use session_core::{Item, Scan};
/// let history = b"{\"kind\":\"notice\",\"text\":\"a\"}\nnot json\n{\"kind\":\"notice\",\"text\":\"b\"}\n";
/// let items: Vec<Item> = Scan::new(&history[..]).collect::<Result<_, _>>().expect("a slice has no read errors");
/// assert!(matches!(&items[..], [Item::Record(_), Item::Defect(_), Item::Record(_)]));
/// ```
#[derive(Debug)]
pub struct Scan<R> {
    lines: Lines<R>,
    limits: Limits,
    bodies: Bodies,
    ready: VecDeque<Item>,
    /// For decoding strings.
    scratch: Vec<u8>,
    failed: bool,
}

impl<R: BufRead> Scan<R> {
    /// Reads from the start of a history, with the default limits.
    pub fn new(reader: R) -> Self {
        Scan::with_limits(reader, Limits::default())
    }

    /// Reads from the start of a history.
    pub fn with_limits(reader: R, limits: Limits) -> Self {
        Scan {
            lines: Lines::new(reader, limits.max_line_bytes),
            limits,
            bodies: Bodies::Keep,
            ready: VecDeque::new(),
            scratch: Vec::new(),
            failed: false,
        }
    }

    /// Says whether the texts of events are kept.
    #[must_use]
    pub fn bodies(mut self, bodies: Bodies) -> Self {
        self.bodies = bodies;
        self
    }

    /// How many lines have been read, and how many bytes.
    pub(crate) fn read_so_far(&self) -> (u64, u64) {
        self.lines.read_so_far()
    }

    /// The number of bytes up to the end of the last whole line that was read.
    pub fn whole_bytes(&self) -> u64 {
        self.lines.whole_bytes()
    }
}

/// What a line is to somebody who asks only for the conversation.
pub(crate) enum Glance<T> {
    /// A message that joins it, with nothing wrong in its line.
    Message(T),
    /// Anything else.
    Item(Item),
}

impl<R: BufRead> Scan<R> {
    /// The next event or defect. A line of which `usual` gives everything that matters is not decoded.
    fn advance<T>(
        &mut self,
        mut usual: impl FnMut(&Line<'_>, &mut Vec<u8>) -> Option<T>,
    ) -> Option<io::Result<Glance<T>>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(Ok(Glance::Item(item)));
            }
            if self.failed {
                return None;
            }
            let line = match self.lines.next() {
                Ok(line) => line?,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            };
            if let Some(message) = usual(&line, &mut self.scratch) {
                return Some(Ok(Glance::Message(message)));
            }
            judge(line, self.limits, self.bodies, |item| self.ready.push_back(item));
        }
    }

    /// The next event or defect for somebody who asks only for the conversation: the usual message is told by the shape
    /// of its line; `X` is read of its texts, and what `keep` makes of it is given.
    pub(crate) fn glance<X: Text, T>(&mut self, keep: impl Fn(Said<'_, X>) -> T) -> Option<io::Result<Glance<T>>> {
        if self.scratch.capacity() > KEPT_CAPACITY {
            self.scratch = Vec::new();
        }
        self.advance(|line, scratch| match line {
            Line::Whole(line) if line.terminated => decode::message(line.bytes, scratch).map(&keep),
            Line::Whole(_) | Line::TooLong { .. } => None,
        })
    }
}

impl<R: BufRead> Iterator for Scan<R> {
    type Item = io::Result<Item>;

    /// The next event or defect.
    ///
    /// # Errors
    /// What the reader underneath reports; nothing else. It ends the reading.
    fn next(&mut self) -> Option<Self::Item> {
        Some(self.advance(|_, _| None::<Infallible>)?.map(|Glance::Item(item)| item))
    }
}

/// The events and defects of a history that is in memory. It has no read errors.
pub fn scan_bytes(history: &[u8]) -> impl Iterator<Item = Item> + '_ {
    Scan::new(history).filter_map(Result::ok)
}

/// The events and defects of one line without its newline.
pub fn scan_line(line: RawLine<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    decode::line(line, true, |item| items.push(item));
    items
}

impl Event {
    /// The event of one line without its newline: the first that it gives. `None` for a blank line. What was repaired is
    /// not told; [`scan_line`] tells it, and gives the others of a line to which several were written.
    ///
    /// # Errors
    /// What is wrong with a line that gives no event.
    ///
    /// ```
    /// use session_core::{Event, Kind};
    /// let event = Event::parse(br#"{"kind":"notice","text":"rain"}"#)?.expect("it is not blank");
    /// assert_eq!((event.kind, event.text.as_str()), (Kind::Notice, "rain"));
    /// assert_eq!(Event::parse(b"  ")?, None);
    /// assert!(Event::parse(br#"{"kind":"notice","te"#).is_err());
    /// # Ok::<(), session_core::Fault>(())
    /// ```
    pub fn parse(line: &[u8]) -> Result<Option<Event>, Fault> {
        let place = Place { line: None, offset: 0 };
        let mut fault = None;
        for item in scan_line(RawLine { place, bytes: line, terminated: true }) {
            match item {
                Item::Record(record) => return Ok(Some(*record.event)),
                Item::Defect(defect) => fault = fault.or(Some(defect.fault)),
            }
        }
        fault.map_or(Ok(None), Err)
    }
}

fn judge(line: Line<'_>, limits: Limits, bodies: Bodies, mut emit: impl FnMut(Item)) {
    match line {
        Line::Whole(line) => decode::line(line, bodies == Bodies::Keep, emit),
        Line::TooLong { place, len } => emit(Item::Defect(crate::Defect {
            place,
            len,
            fault: Fault::TooLong { limit: limits.max_line_bytes },
            outcome: crate::Outcome::Skipped,
        })),
    }
}
