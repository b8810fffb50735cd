//! Naming a point of a history, and what going back to it takes.

use super::Timeline;
use crate::Defect;
use std::fmt;
use std::str::FromStr;

/// A point of a history: the last thing that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// Right after the event of this number, from 1; 0 is before everything.
    Event(u64),
    /// As the turn of this number ended; 0 is before the first.
    Turn(u64),
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Point::Event(n) => write!(f, "{n}"),
            Point::Turn(n) => write!(f, "turn:{n}"),
        }
    }
}

/// A text that names no point: it must be the number of an event, or `turn:N`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} names no point: it must be the number of an event, or turn:N")]
pub struct ParsePointError {
    text: String,
}

impl FromStr for Point {
    type Err = ParsePointError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        let point = match text.strip_prefix("turn:") {
            Some(digits) => number(digits).map(Point::Turn),
            None => number(text).map(Point::Event),
        };
        point.ok_or_else(|| ParsePointError { text: text.to_owned() })
    }
}

/// What lies between a point and the end of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The number of the last event that stays; 0 where none does.
    pub event: u64,
    /// How many events the history has.
    pub events: u64,
    /// How many live messages stand behind it: what a rollback to it drops.
    pub dropped: u64,
    /// The numbers of the turns of which something goes.
    pub turns: Vec<u64>,
    /// The checkpoint that shows the workspace as it was then.
    pub checkpoint: Option<u64>,
    /// Lines behind the point that gave no event, so that nobody knows what goes with them. Of a history with more than
    /// [`crate::Conversation::MAX_DEFECTS`] such lines half of these are the first of all, and half are the last.
    pub damage: Vec<Defect>,
}

/// A point that a conversation cannot go back to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CutError {
    /// The history has no such event or turn.
    #[error("there is no {point}: the history has {events} events and {turns} turns")]
    NoSuchPoint {
        /// The point.
        point: Point,
        /// How many events there are.
        events: u64,
        /// How many turns there are.
        turns: u64,
    },
    /// What was live then was taken back since.
    #[error("what was said up to {point} is no longer part of the conversation")]
    TakenBack {
        /// The point.
        point: Point,
    },
}

impl Timeline {
    /// The number of the last event that stays at a point.
    ///
    /// # Errors
    /// [`CutError::NoSuchPoint`].
    pub fn event_at(&self, point: Point) -> Result<u64, CutError> {
        let found = match point {
            Point::Event(n) => (n <= self.events()).then_some(n),
            Point::Turn(0) => Some(0),
            Point::Turn(n) => self.turns.iter().find(|turn| turn.number == n).map(|turn| turn.last),
        };
        let (events, turns) = (self.events(), self.turns.len() as u64);
        found.ok_or(CutError::NoSuchPoint { point, events, turns })
    }

    /// What going back to a point takes. A point whose messages were taken back since cannot be reached by a rollback.
    ///
    /// # Errors
    /// [`CutError::NoSuchPoint`], [`CutError::TakenBack`].
    pub fn cut(&self, point: Point) -> Result<Cut, CutError> {
        let event = self.event_at(point)?;
        let then = self.live_after(event);
        let behind = self.steps.iter().skip(usize::try_from(event).unwrap_or(usize::MAX));
        // What was pushed first goes last: if never fewer were live since, those of then still are.
        if behind.min().is_some_and(|fewest| *fewest < then) {
            return Err(CutError::TakenBack { point });
        }
        Ok(Cut {
            event,
            events: self.events(),
            dropped: self.live() - then,
            turns: self
                .turns
                .iter()
                .filter(|turn| turn.last > event && turn.live > 0)
                .map(|turn| turn.number)
                .collect(),
            checkpoint: self.checkpoint_at(event),
            damage: self.gaps.behind(event),
        })
    }

    /// Lines up to an event that gave none, so that what is live there is not certain, or not all of it is known.
    pub fn damage_before(&self, event: u64) -> Vec<Defect> {
        self.gaps.before(event)
    }
}
