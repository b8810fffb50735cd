//! The turns of a history, and the points that a conversation can go back to.
//!
//! A [`Timeline`] is one fold over a history. It says which events belong to which turn, which checkpoint shows the
//! workspace at each point, and what a rollback to a point takes ([`Timeline::cut`]).
//!
//! # What a turn is
//!
//! A turn begins with its `x.turn` event and ends with the one that says so, or where the next one begins. A history of
//! the reference has no such events: there a turn begins with each message of the user that a person wrote something of
//! ([`crate::prompt_of`]), and reaches to the last message before the next one. Turns are numbered from 1 in the order of
//! the file, whether they are live or not, so that a number means the same turn for ever.
//!
//! # Which checkpoint belongs to a point
//!
//! Only an assistant and its tools change a workspace as far as a history tells. So a checkpoint shows a point if neither
//! a message of an assistant nor a result stands between the two. The last such checkpoint before the point counts, else
//! the first one behind it that was taken and not restored.

mod cut;
mod fold;
mod gaps;

pub(crate) use fold::Fold;

pub use cut::{Cut, CutError, ParsePointError, Point};

use crate::{Item, Limits, Scan, Timestamp};
use gaps::Gaps;
use std::io::{self, BufRead};

/// The turns of a history, and what is needed to go back in it.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    turns: Vec<TurnSpan>,
    /// How many messages are live after each event.
    steps: Vec<u64>,
    /// The numbers of the events that are a message of an assistant, or a result.
    works: Vec<u64>,
    /// Checkpoints by the event that tells of them.
    shown: Vec<Shown>,
    gaps: Gaps,
}

/// One turn of a history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TurnSpan {
    /// Its number, from 1, in the order of the file.
    pub number: u64,
    /// Its id; `None` for a turn that no `x.turn` event marks.
    pub id: Option<String>,
    /// The number of its first event, from 1.
    pub first: u64,
    /// The number of its last event so far.
    pub last: u64,
    /// The offset of its first event.
    pub offset: u64,
    /// When it started.
    pub started: Option<Timestamp>,
    /// How it ended; `None` where nothing says so: it runs, or nobody marked its end.
    pub outcome: Option<String>,
    /// The checkpoint that shows the workspace as it started.
    pub before: Option<u64>,
    /// The checkpoint that shows the workspace as it ended.
    pub after: Option<u64>,
    /// Its messages.
    pub messages: u64,
    /// How many of them are live.
    pub live: u64,
    /// What the person asked for: its beginning.
    pub prompt: String,
}

impl TurnSpan {
    /// Whether anything of it is part of the conversation: a turn without messages is.
    pub fn is_live(&self) -> bool {
        self.live > 0 || self.messages == 0
    }
}

/// A checkpoint that an event tells of.
#[derive(Debug, Clone, Copy)]
struct Shown {
    event: u64,
    checkpoint: u64,
    /// The workspace was brought to it, rather than it taken of the workspace.
    restored: bool,
}

impl Timeline {
    /// Reads a history. Memory is some bytes for each event, and the prompts.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    ///
    /// ```
    /// use session_core::{Limits, Point, Timeline};
    /// let history = br#"{"kind":"message","message":{"role":"user","content":"plant three oaks"}}
    /// {"kind":"message","message":{"role":"assistant","content":"digging"}}
    /// {"kind":"message","message":{"role":"user","content":"and a birch"}}
    /// "#;
    /// let timeline = Timeline::read(&history[..], Limits::default())?;
    /// assert_eq!(timeline.turns().len(), 2);
    /// assert_eq!(timeline.cut(Point::Turn(1)).map(|cut| cut.dropped), Ok(1));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(history: impl BufRead, limits: Limits) -> io::Result<Self> {
        let mut fold = Fold::default();
        for item in Scan::with_limits(history, limits) {
            match item? {
                Item::Record(record) => fold.event(&record),
                Item::Defect(defect) => fold.defect(defect),
            }
        }
        Ok(fold.end())
    }

    /// The turns, in the order of the file.
    pub fn turns(&self) -> &[TurnSpan] {
        &self.turns
    }

    /// How many events the history has.
    pub fn events(&self) -> u64 {
        self.steps.len() as u64
    }

    /// How many messages are live at the end.
    pub fn live(&self) -> u64 {
        self.live_after(self.events())
    }

    /// The turn that an event belongs to.
    pub fn turn_of(&self, event: u64) -> Option<&TurnSpan> {
        self.turns.iter().rev().find(|turn| (turn.first..=turn.last).contains(&event))
    }

    /// The checkpoint that shows the workspace as it was right after an event; 0 is before the first.
    pub fn checkpoint_at(&self, event: u64) -> Option<u64> {
        let worked = self.works.partition_point(|works| *works <= event);
        let from = worked.checked_sub(1).map_or(0, |last| self.works[last]);
        let upto = self.works.get(worked).copied().unwrap_or(u64::MAX);
        // They stand in the order of their events.
        let (before, behind) = self.shown.split_at(self.shown.partition_point(|shown| shown.event <= event));
        if let Some(shown) = before.last().filter(|shown| shown.event > from) {
            return Some(shown.checkpoint);
        }
        let next = behind.first().filter(|shown| shown.event < upto && !shown.restored);
        next.map(|shown| shown.checkpoint)
    }

    /// The highest checkpoint that the events up to one tell of, or the one that shows the workspace after it if that is
    /// told later.
    pub fn checkpoints_upto(&self, event: u64) -> Option<u64> {
        let told = self.shown.iter().filter(|shown| shown.event <= event).map(|shown| shown.checkpoint);
        told.chain(self.checkpoint_at(event)).max()
    }

    /// Messages that are live right after an event.
    fn live_after(&self, event: u64) -> u64 {
        let index = usize::try_from(event).ok().and_then(|event| event.checked_sub(1));
        index.and_then(|index| self.steps.get(index)).copied().unwrap_or(0)
    }
}
