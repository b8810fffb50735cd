//! Parts of a history, folded apart and joined.

use super::{Conversation, Count, Effect, Replay};
use crate::decode::{Said, Text};
use crate::scan::Glance;
use crate::{Bodies, Defect, Event, Item, Limits, Message, Scan};
use std::io::{self, BufRead};

/// A part of a history, folded for itself: lines that follow each other, without those before them.
///
/// Parts that follow each other can be read one beside the other, by several threads, and joined afterwards. What comes
/// out is what one reading of the whole gives. `T` is what is kept of a live message.
///
/// ```
/// use session_core::{Conversation, HistoryPart, Limits};
/// let (first, second) = (
///     br#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"a"}}
/// "#,
///     br#"{"ts":"2026-01-02T03:04:06Z","kind":"rollback","dropped":1}
/// "#,
/// );
/// let first = HistoryPart::load(&first[..], Limits::default())?;
/// let second = HistoryPart::load(&second[..], Limits::default())?;
/// assert_eq!(Conversation::from(first.then(second)).messages, []);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HistoryPart<T> {
    pub(super) replay: Replay<T>,
    /// Defects that are kept, and how many there may be.
    defects: Vec<Defect>,
    most_defects: usize,
    pub(super) events: u64,
    pub(super) skipped: u64,
    pub(super) repaired: u64,
    lines: u64,
    bytes: u64,
}

impl HistoryPart<Message> {
    /// Reads a part that begins where a line does, and keeps its live messages and its first defects. Only the last part
    /// of a history may end without a newline.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    pub fn load(part: impl BufRead, limits: Limits) -> io::Result<Self> {
        let mut read = HistoryPart::after(Replay::new(), Conversation::MAX_DEFECTS);
        let message = |event: Box<Event>| *event.message.unwrap_or_default();
        read.lines(Scan::with_limits(part, limits), |said: Said<'_, String>| said.into(), message)?;
        Ok(read)
    }
}

impl HistoryPart<()> {
    /// Reads a part that begins where a line does, and only counts.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    pub fn count(part: impl BufRead, limits: Limits) -> io::Result<Self> {
        let mut read = HistoryPart::after(Replay::new(), 0);
        read.count_lines(part, limits)?;
        Ok(read)
    }

    /// Counts the lines that follow. After an error the lines before it have been counted.
    pub(super) fn count_lines(&mut self, lines: impl BufRead, limits: Limits) -> io::Result<()> {
        self.lines(Scan::with_limits(lines, limits).bodies(Bodies::Skip), |_: Said<'_, ()>| (), |_| ())
    }
}

impl<T> HistoryPart<T> {
    /// Nothing yet, where so much is known of what is before it.
    pub(super) fn after(replay: Replay<T>, most_defects: usize) -> Self {
        HistoryPart {
            replay,
            defects: Vec::new(),
            most_defects,
            events: 0,
            skipped: 0,
            repaired: 0,
            lines: 0,
            bytes: 0,
        }
    }

    fn lines<X: Text>(
        &mut self,
        mut scan: Scan<impl BufRead>,
        keep: impl Fn(Said<'_, X>) -> T,
        keep_event: impl Fn(Box<Event>) -> T,
    ) -> io::Result<()> {
        while let Some(glance) = scan.glance(&keep) {
            match glance? {
                Glance::Message(message) => {
                    self.events += 1;
                    self.replay.event(&Effect::Adds, || message);
                }
                Glance::Item(Item::Record(record)) => {
                    self.events += 1;
                    self.replay.event(&record.event.effect(), || keep_event(record.event));
                }
                Glance::Item(Item::Defect(defect)) => {
                    self.replay.defect(&defect);
                    *(if defect.is_skipped() { &mut self.skipped } else { &mut self.repaired }) += 1;
                    if self.defects.len() < self.most_defects {
                        self.defects.push(defect);
                    }
                }
            }
        }
        (self.lines, self.bytes) = scan.read_so_far();
        Ok(())
    }

    /// Joins the part that follows this one.
    #[must_use]
    pub fn then(mut self, next: HistoryPart<T>) -> Self {
        let room = self.most_defects.saturating_sub(self.defects.len());
        self.defects.extend(next.defects.into_iter().take(room).map(|mut defect| {
            defect.place.line = defect.place.line.map(|line| line + self.lines);
            defect.place.offset += self.bytes;
            defect
        }));
        HistoryPart {
            replay: self.replay.then(next.replay),
            defects: self.defects,
            most_defects: self.most_defects,
            events: self.events + next.events,
            skipped: self.skipped + next.skipped,
            repaired: self.repaired + next.repaired,
            lines: self.lines + next.lines,
            bytes: self.bytes + next.bytes,
        }
    }
}

impl From<HistoryPart<Message>> for Conversation {
    /// The conversation, where the part is the whole history.
    fn from(whole: HistoryPart<Message>) -> Self {
        Conversation {
            defects: whole.defects,
            skipped: whole.skipped,
            repaired: whole.repaired,
            uncertain: whole.replay.is_uncertain(),
            messages: whole.replay.into_live(),
        }
    }
}

impl From<HistoryPart<()>> for Count {
    /// The count, where the part is the whole history.
    fn from(whole: HistoryPart<()>) -> Self {
        Count {
            messages: whole.replay.live().len() as u64,
            events: whole.events,
            skipped: whole.skipped,
            repaired: whole.repaired,
            uncertain: whole.replay.is_uncertain(),
        }
    }
}
