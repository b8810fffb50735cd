//! Counting what is live, without keeping a text.

use super::{HistoryPart, Replay};
use crate::Limits;
use std::io::{self, BufRead};

/// How many live messages a history holds, and how far it was whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Live messages: always as many as [`crate::Conversation::read`] gives.
    pub messages: u64,
    /// Events of any kind, live or not.
    pub events: u64,
    /// Defects of lines that gave no event.
    pub skipped: u64,
    /// Defects of lines that gave one.
    pub repaired: u64,
    /// As [`crate::Conversation::uncertain`].
    pub uncertain: bool,
}

/// A count of the first part of a history that can be put aside, and goes on when more lines stand behind that part.
///
/// ```
/// use session_core::{Counter, Limits};
/// let message = br#"{"kind":"message","message":{"role":"user","content":"a"}}
/// "#;
/// let mut counter = Counter::default();
/// counter.read(&message[..], Limits::default())?;
/// counter.read(&message[..], Limits::default())?;
/// assert_eq!(counter.count.messages, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counter {
    /// What was counted so far.
    pub count: Count,
    /// How many messages were live when a line was last skipped: a rollback that reaches behind it is uncertain.
    pub gap: Option<u64>,
}

impl Counter {
    /// Counts the lines that follow. A part that does not end with a newline can only be the last one.
    ///
    /// # Errors
    /// What the reader reports; the count is then that of the lines before. Content is never an error.
    pub fn read(&mut self, lines: impl BufRead, limits: Limits) -> io::Result<()> {
        let mut part = self.part();
        let read = part.count_lines(lines, limits);
        self.is_now(part);
        read
    }

    /// Counts the part that follows, which was read for itself.
    pub fn add(&mut self, part: HistoryPart<()>) {
        self.is_now(self.part().then(part));
    }

    /// What was counted, without its events and defects.
    fn part(&self) -> HistoryPart<()> {
        HistoryPart::after(Replay::resume(self.count.messages, self.gap, self.count.uncertain), 0)
    }

    fn is_now(&mut self, part: HistoryPart<()>) {
        (_, self.gap, _) = part.replay.state();
        let Count { events, skipped, repaired, .. } = self.count;
        let more = Count::from(part);
        self.count = Count {
            events: events + more.events,
            skipped: skipped + more.skipped,
            repaired: repaired + more.repaired,
            ..more
        };
    }
}

/// Counts a whole history.
///
/// # Errors
/// What the reader reports. Content is never an error.
pub fn count(history: impl BufRead, limits: Limits) -> io::Result<Count> {
    let mut counter = Counter::default();
    counter.read(history, limits)?;
    Ok(counter.count)
}
