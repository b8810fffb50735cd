//! Which events of a history are shown.

use super::Detail;
use crate::{Effect, Event, Kind, LiveEvents};
use std::ops::RangeInclusive;

/// An event that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1, in the order of the file.
    pub number: u64,
    /// Whether its message is live; `None` for an event without one.
    pub live: Option<bool>,
    /// The event, with what is shown of it.
    pub event: Event,
}

/// Chooses, of the events of a history, which are shown: those in a range, and of them the live ones and those without a
/// message. Rollbacks are left out with what they took back.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    live: &'a LiveEvents,
    range: RangeInclusive<u64>,
    is_raw: bool,
    detail: Detail,
    /// Events so far.
    number: u64,
    rollbacks: Vec<u64>,
}

impl<'a> Selection<'a> {
    /// Everything that is live, in full.
    pub fn new(live: &'a LiveEvents) -> Self {
        Selection { live, range: 1..=u64::MAX, is_raw: false, detail: Detail::Full, number: 0, rollbacks: Vec::new() }
    }

    /// Only the events with these numbers, from 1.
    #[must_use]
    pub fn range(self, range: RangeInclusive<u64>) -> Self {
        Selection { range, ..self }
    }

    /// Also what was taken back, and the rollbacks that did it.
    #[must_use]
    pub fn raw(self, is_raw: bool) -> Self {
        Selection { is_raw, ..self }
    }

    /// How much of each.
    #[must_use]
    pub fn detail(self, detail: Detail) -> Self {
        Selection { detail, ..self }
    }

    /// How many messages in the range were taken back.
    pub fn rolled_back(&self) -> u64 {
        let numbered = self.live.events.iter().zip(1_u64..);
        numbered.filter(|(live, number)| **live == Some(false) && self.range.contains(number)).count() as u64
    }

    /// The numbers of the rollbacks in the range so far.
    pub fn rollbacks(&self) -> &[u64] {
        &self.rollbacks
    }

    /// Judges the next event of the history; what is shown of it, if anything is.
    pub fn next(&mut self, event: Event) -> Option<Entry> {
        let live = usize::try_from(self.number).ok().and_then(|index| self.live.events.get(index));
        let live = live.copied().flatten();
        self.number += 1;
        if self.range.contains(&self.number) && matches!(event.effect(), Effect::Drops(_)) {
            self.rollbacks.push(self.number);
        }
        let is_taken_back = live == Some(false) || event.kind == Kind::Rollback;
        if !self.range.contains(&self.number) || (is_taken_back && !self.is_raw) {
            return None;
        }
        Some(Entry { number: self.number, live, event: self.detail.of(event)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, Limits, scan_bytes};

    const HISTORY: &[u8] = br#"{"kind":"message","message":{"role":"user","content":"a"}}
{"kind":"message","message":{"role":"assistant","content":"b"}}
{"kind":"rollback","dropped":1}
{"kind":"notice","text":"c"}
"#;

    fn shown(choose: impl Fn(Selection<'_>) -> Selection<'_>) -> (Vec<u64>, u64) {
        let live = LiveEvents::read(HISTORY, Limits::default()).expect("a slice can be read");
        let mut selection = choose(Selection::new(&live));
        let rolled_back = selection.rolled_back();
        let events = scan_bytes(HISTORY).filter_map(|item| match item {
            Item::Record(record) => Some(*record.event),
            Item::Defect(_) => None,
        });
        (events.filter_map(|event| selection.next(event)).map(|entry| entry.number).collect(), rolled_back)
    }

    #[test]
    fn e04_what_was_taken_back_is_left_out_and_counted() {
        assert_eq!(shown(|all| all), (vec![1, 4], 1));
        assert_eq!(shown(|all| all.raw(true)), (vec![1, 2, 3, 4], 1));
    }

    #[test]
    fn a_range_counts_events_as_the_file_has_them() {
        assert_eq!(shown(|all| all.range(2..=3)), (vec![], 1));
        assert_eq!(shown(|all| all.range(3..=u64::MAX)), (vec![4], 0));
        assert_eq!(shown(|all| all.range(2..=3).raw(true)), (vec![2, 3], 1));
    }
}
