//! What is counted, and where.

use crate::Responses;
use chrono::NaiveDate;
use std::ops::AddAssign;

/// The group that something is counted in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct CellKey {
    /// The session, as whoever reads the histories numbers them.
    pub session: usize,
    /// The day; `None` for what has no time.
    pub day: Option<NaiveDate>,
    /// The model at that time; empty where nobody said.
    pub model: String,
    /// The tool, for calls; `None` for everything else.
    pub tool: Option<String>,
}

/// Numbers that can be added up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// Turns that began.
    pub turns: u64,
    /// Messages of every role.
    pub messages: u64,
    /// Calls of tools.
    pub calls: u64,
    /// Calls that failed, as far as their results say ([`crate::is_failure`]).
    pub failures: u64,
    /// Calls without a result.
    pub unanswered: u64,
    /// How long each call took, in milliseconds: as its result says, else since the message before that.
    pub took_ms: Vec<u64>,
    /// Responses of models, and what they cost.
    pub responses: Responses,
}

impl Cell {
    /// The `percent`-th percentile of the calls' durations, in milliseconds, by the nearest rank. `None` where no call has
    /// one, and above 100.
    pub fn percentile_ms(&self, percent: u32) -> Option<u64> {
        let mut sorted = self.took_ms.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent as usize).div_ceil(100);
        sorted.get(rank.max(1) - 1).copied()
    }
}

impl AddAssign<&Cell> for Cell {
    fn add_assign(&mut self, other: &Cell) {
        self.turns += other.turns;
        self.messages += other.messages;
        self.calls += other.calls;
        self.failures += other.failures;
        self.unanswered += other.unanswered;
        self.took_ms.extend_from_slice(&other.took_ms);
        self.responses += &other.responses;
    }
}
