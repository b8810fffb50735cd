//! The fold itself.

use crate::{Defect, Event, Kind, Outcome};

/// What an event does to the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Its message joins the end.
    Adds,
    /// So many messages leave the end; all of them, if there are fewer.
    Drops(u64),
    /// Nothing.
    Nothing,
}

impl Event {
    /// What the event does to the conversation. This is the whole rule:
    ///
    /// - a rollback takes `dropped` messages from the end, if that is positive; a message it carries is not added;
    /// - any other event that carries a message adds it, whatever its kind is;
    /// - every other event does nothing.
    pub fn effect(&self) -> Effect {
        match (&self.kind, &self.message) {
            (Kind::Rollback, _) => match u64::try_from(self.dropped) {
                Ok(0) | Err(_) => Effect::Nothing,
                Ok(dropped) => Effect::Drops(dropped),
            },
            (_, Some(_)) => Effect::Adds,
            (_, None) => Effect::Nothing,
        }
    }
}

/// The fold over a history: what is live so far.
///
/// `T` is what the caller keeps of each live message: the message, its number, or nothing at all.
///
/// ```
/// use session_core::{Effect, Replay};
/// let mut replay = Replay::new();
/// replay.event(&Effect::Adds, || "a");
/// replay.event(&Effect::Adds, || "b");
/// replay.event(&Effect::Drops(1), || unreachable!("a rollback adds nothing"));
/// assert_eq!(replay.live(), ["a"]);
/// ```
#[derive(Debug, Clone)]
pub struct Replay<T> {
    live: Vec<T>,
    /// How many messages were live when a line was last skipped. An earlier one need not be held: a rollback that
    /// reaches it has reached this one.
    gap: Option<usize>,
    uncertain: bool,
    /// How many messages rollbacks took, or would have taken, from before the first line, and how many of them while no
    /// line had been skipped.
    reach: usize,
    reach_before_gap: usize,
}

impl<T> Default for Replay<T> {
    fn default() -> Self {
        Replay::new()
    }
}

impl<T> Replay<T> {
    /// Before the first line.
    pub fn new() -> Self {
        Replay { live: Vec::new(), gap: None, uncertain: false, reach: 0, reach_before_gap: 0 }
    }

    /// Folds in an event's effect; `keep` makes what is kept of a message that is added.
    pub fn event(&mut self, effect: &Effect, keep: impl FnOnce() -> T) {
        match effect {
            Effect::Adds => self.live.push(keep()),
            Effect::Drops(dropped) => self.drop_last(*dropped),
            Effect::Nothing => {}
        }
    }

    /// Folds in a defect. A skipped line never counts as a message; a rollback that reaches back across one, or is
    /// one, makes the outcome uncertain.
    pub fn defect(&mut self, defect: &Defect) {
        match defect.outcome {
            Outcome::Repaired => {}
            Outcome::Skipped => self.gap = Some(self.live.len()),
            Outcome::SkippedRollback => self.uncertain = true,
        }
    }

    fn drop_last(&mut self, dropped: u64) {
        let dropped = usize::try_from(dropped).unwrap_or(usize::MAX);
        let left = self.live.len().saturating_sub(dropped);
        // Fewer messages stand after the gap than are to go, even if there is none before it.
        if self.gap.is_some_and(|gap| self.live.len().saturating_sub(gap) < dropped) {
            self.uncertain = true;
        }
        let reach = dropped.saturating_sub(self.live.len());
        self.reach = self.reach.saturating_add(reach);
        if self.gap.is_none() {
            self.reach_before_gap = self.reach;
        }
        self.live.truncate(left);
    }

    /// Folds in the lines that follow, of which the fold was begun without knowing what is before them.
    pub(super) fn then(mut self, next: Replay<T>) -> Self {
        self.drop_last(next.reach_before_gap as u64);
        if let Some(gap) = next.gap {
            self.gap = Some(self.live.len() + gap);
        }
        // What reached back across the other's gap has made it uncertain; from here on no gap matters.
        self.drop_last((next.reach - next.reach_before_gap) as u64);
        self.uncertain |= next.uncertain;
        self.live.extend(next.live);
        self
    }

    /// What is live, in order.
    pub fn live(&self) -> &[T] {
        &self.live
    }

    /// What is live, in order.
    pub fn into_live(self) -> Vec<T> {
        self.live
    }

    /// Whether a rollback reached back across a skipped line, or was one.
    pub fn is_uncertain(&self) -> bool {
        self.uncertain
    }
}

impl Replay<()> {
    /// The fold of a history of which this is known: how many messages are live, how many were when a line was last
    /// skipped, and whether it is uncertain.
    pub(super) fn resume(live: u64, gap: Option<u64>, uncertain: bool) -> Self {
        let fits = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Replay { live: vec![(); fits(live)], gap: gap.map(fits), uncertain, ..Replay::new() }
    }

    /// What [`Replay::resume`] takes.
    pub(super) fn state(&self) -> (u64, Option<u64>, bool) {
        (self.live.len() as u64, self.gap.map(|gap| gap as u64), self.uncertain)
    }
}
