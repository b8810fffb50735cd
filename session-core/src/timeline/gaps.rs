//! The lines of a history that gave no event.

use crate::{Conversation, Defect};
use std::collections::VecDeque;

/// A line that gave no event.
#[derive(Debug, Clone)]
struct Gap {
    /// How many events stand before it.
    after: u64,
    defect: Defect,
}

/// At most [`Conversation::MAX_DEFECTS`] of them: the first half, and the last. So it is known of every point whether
/// there is one before it or behind it.
#[derive(Debug, Clone, Default)]
pub(super) struct Gaps {
    first: Vec<Gap>,
    last: VecDeque<Gap>,
}

impl Gaps {
    const HALF: usize = Conversation::MAX_DEFECTS / 2;

    pub(super) fn push(&mut self, after: u64, defect: Defect) {
        let gap = Gap { after, defect };
        if self.first.len() < Self::HALF {
            return self.first.push(gap);
        }
        if self.last.len() == Self::HALF {
            self.last.pop_front();
        }
        self.last.push_back(gap);
    }

    /// Those that stand behind so many events.
    pub(super) fn behind(&self, events: u64) -> Vec<Defect> {
        self.of(|gap| gap.after >= events)
    }

    /// Those that stand before.
    pub(super) fn before(&self, events: u64) -> Vec<Defect> {
        self.of(|gap| gap.after < events)
    }

    fn of(&self, is_meant: impl Fn(&Gap) -> bool) -> Vec<Defect> {
        let all = self.first.iter().chain(&self.last);
        all.filter(|gap| is_meant(gap)).map(|gap| gap.defect.clone()).collect()
    }
}
