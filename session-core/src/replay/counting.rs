//! Counting what is live, without keeping a text.

use super::{Count, Counter, HistoryPart, Replay};
use crate::Limits;
use std::io::{self, BufRead};

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
