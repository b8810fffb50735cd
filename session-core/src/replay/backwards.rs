//! The same fold from the end.

use crate::{Conversation, Defect, Effect, Event, Item, Message, Outcome, Record};
use std::io;

/// The live messages of a history, last first, from items that come last first.
///
/// Going backwards, a rollback says how many of the messages to come are not live; rollbacks add up, and since a
/// forward rollback stops at the first message there is nothing to saturate. Iterating gives the live messages;
/// [`ReplayBackwards::next_event`] gives every event.
#[derive(Debug)]
pub struct ReplayBackwards<I> {
    items: I,
    /// Messages still to pass over.
    dropped: u64,
    uncertain: bool,
    /// The last ones of the file, last first.
    defects: Vec<Defect>,
    skipped: u64,
    repaired: u64,
}

impl<I: Iterator<Item = io::Result<Item>>> ReplayBackwards<I> {
    /// Over items that come last first, such as a [`crate::ScanBackwards`].
    pub fn new(items: I) -> Self {
        ReplayBackwards { items, dropped: 0, uncertain: false, defects: Vec::new(), skipped: 0, repaired: 0 }
    }

    /// Whether, so far, a rollback reached back across a skipped line or was one: what comes from here on is a guess.
    pub fn is_uncertain(&self) -> bool {
        self.uncertain
    }

    /// What was wrong with the lines that were read so far, in file order; of more than
    /// [`Conversation::MAX_DEFECTS`], the last.
    pub fn into_defects(self) -> Vec<Defect> {
        let mut defects = self.defects;
        defects.reverse();
        defects
    }

    /// The messages together with what was noted while they were read.
    pub(super) fn into_conversation(self, messages: Vec<Message>) -> Conversation {
        let ReplayBackwards { uncertain, skipped, repaired, .. } = self;
        Conversation { messages, defects: self.into_defects(), skipped, repaired, uncertain }
    }

    fn note(&mut self, defect: Defect) {
        match defect.outcome {
            Outcome::Repaired => {}
            Outcome::Skipped => self.uncertain |= self.dropped > 0,
            Outcome::SkippedRollback => self.uncertain = true,
        }
        *(if defect.is_skipped() { &mut self.skipped } else { &mut self.repaired }) += 1;
        if self.defects.len() < Conversation::MAX_DEFECTS {
            self.defects.push(defect);
        }
    }

    /// Whether the event's message is live; `None` for an event without one.
    fn judge(&mut self, event: &Event) -> Option<bool> {
        match event.effect() {
            Effect::Nothing => None,
            Effect::Drops(dropped) => {
                self.dropped = self.dropped.saturating_add(dropped);
                None
            }
            Effect::Adds if self.dropped > 0 => {
                self.dropped -= 1;
                Some(false)
            }
            Effect::Adds => Some(true),
        }
    }

    /// The event before the last one that was given, and whether its message is live: `None` for an event without one.
    ///
    /// # Errors
    /// What the reader underneath reports.
    pub fn next_event(&mut self) -> io::Result<Option<(Record, Option<bool>)>> {
        loop {
            match self.items.next().transpose()? {
                None => return Ok(None),
                Some(Item::Defect(defect)) => self.note(defect),
                Some(Item::Record(record)) => {
                    let live = self.judge(&record.event);
                    return Ok(Some((record, live)));
                }
            }
        }
    }
}

impl<I: Iterator<Item = io::Result<Item>>> Iterator for ReplayBackwards<I> {
    type Item = io::Result<Record>;

    /// The live message before the last one that was given.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.next_event() {
                Ok(None) => return None,
                Ok(Some((record, Some(true)))) => return Some(Ok(record)),
                Ok(Some(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
