//! What the responses of models cost, in tokens and in money.
//!
//! A response counts once, by its id, however often its usage is told; what is told later adds to, or replaces, what was
//! told before. What a rollback takes out of the conversation was paid for all the same: it counts, as discarded. A number
//! that nobody told is unknown, and unknown is not 0.

mod sums;

pub use sums::{Amount, Responses};

use crate::{Extension, Item, Limits, Record, Replay, RewindStep, Scan, Timestamp, Usage};
use std::collections::HashMap;
use std::io::{self, BufRead};

/// One response, and what it cost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Spent {
    /// What was told of it, all together.
    pub usage: Usage,
    /// When it was told first.
    pub ts: Option<Timestamp>,
    /// The number of the event that told it first, from 1.
    pub event: u64,
    /// Whether the conversation went back to before it.
    pub discarded: bool,
}

/// The responses that a history tells of, each once: a fold over its events that can be asked at any time.
///
/// ```
/// use session_core::{Limits, Responses, Spending};
/// let history = br#"{"kind":"message","message":{"role":"user","content":"plant three oaks"}}
/// {"kind":"message","message":{"role":"assistant","content":"digging"}}
/// {"kind":"x.usage","x":{"response":"r1","output":8,"cost":0.25}}
/// {"kind":"x.usage","x":{"response":"r1","output":9,"cost":0.5}}
/// {"kind":"rollback","dropped":1}
/// "#;
/// let spending = Spending::read(&history[..], Limits::default())?;
/// let sums: Responses = spending.responses().iter().sum();
/// assert_eq!((sums.count, sums.discarded), (1, 1));
/// assert_eq!((sums.output.sum(), sums.input.sum(), sums.cost.sum()), (Some(9), None, Some(0.5)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Spending {
    responses: Vec<Spent>,
    by_id: HashMap<String, usize>,
    events: u64,
    live: Replay<()>,
    /// The responses that stand, with how many messages were live when each was told: never fewer than for the one before.
    standing: Vec<(usize, usize)>,
    /// What each rewind discarded, for as long as it may be taken back.
    rewinds: Vec<(String, Vec<usize>)>,
}

impl Spending {
    /// Reads a history.
    ///
    /// # Errors
    /// What the reader reports. Content is never an error.
    pub fn read(history: impl BufRead, limits: Limits) -> io::Result<Self> {
        let mut spending = Spending::default();
        spending.go_on(history, limits)?;
        Ok(spending)
    }

    /// Reads the lines that follow those that were read.
    ///
    /// # Errors
    /// What the reader reports; the lines before that are counted. Content is never an error.
    pub fn go_on(&mut self, lines: impl BufRead, limits: Limits) -> io::Result<()> {
        for item in Scan::with_limits(lines, limits) {
            if let Item::Record(record) = item? {
                self.event(&record);
            }
        }
        Ok(())
    }

    /// Folds in an event.
    pub fn event(&mut self, record: &Record) {
        let event = &record.event;
        self.events += 1;
        self.live.event(&event.effect(), || ());
        let discarded = self.discard();
        match event.rewind_step() {
            Some(RewindStep::Done(mark)) => self.rewinds.push((mark.id, discarded)),
            Some(RewindStep::Undone(mark)) => self.take_back(&mark.id),
            None => {}
        }
        if let Some(Extension::Usage(usage)) = event.extension() {
            self.tell(usage, event.ts);
        }
    }

    /// The responses, in the order in which they were told first.
    pub fn responses(&self) -> &[Spent] {
        &self.responses
    }

    /// The responses that no message stands before any more.
    fn discard(&mut self) -> Vec<usize> {
        let live = self.live.live().len();
        let kept = self.standing.partition_point(|(depth, _)| *depth <= live);
        let gone: Vec<usize> = self.standing.drain(kept..).map(|(_, response)| response).collect();
        gone.iter().for_each(|response| self.responses[*response].discarded = true);
        gone
    }

    fn take_back(&mut self, rewind: &str) {
        let Some(at) = self.rewinds.iter().position(|(id, _)| id == rewind) else { return };
        for response in self.rewinds.swap_remove(at).1 {
            self.stand(response);
        }
    }

    fn stand(&mut self, response: usize) {
        self.responses[response].discarded = false;
        self.standing.push((self.live.live().len(), response));
    }

    fn tell(&mut self, usage: Usage, ts: Option<Timestamp>) {
        if let Some(&known) = self.by_id.get(&usage.response) {
            merge(&mut self.responses[known].usage, usage);
            return;
        }
        let response = self.responses.len();
        if !usage.response.is_empty() {
            self.by_id.insert(usage.response.clone(), response);
        }
        self.responses.push(Spent { usage, ts, event: self.events, discarded: false });
        self.stand(response);
    }
}

/// What is told later replaces what was told before, and leaves what it does not tell.
fn merge(known: &mut Usage, later: Usage) {
    if !later.model.is_empty() {
        known.model = later.model;
    }
    known.input = later.input.or(known.input);
    known.cached = later.cached.or(known.cached);
    known.output = later.output.or(known.output);
    known.reasoning = later.reasoning.or(known.reasoning);
    known.cost = later.cost.or(known.cost);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Kind, Message, Note, RewindMark, parse_time};

    fn ts() -> Timestamp {
        parse_time("2026-01-02T03:04:05Z").expect("it is well formed")
    }

    fn say() -> Event {
        Event::message(ts(), Message::assistant("digging"))
    }

    fn usage(response: &str, cost: Option<f64>) -> Event {
        Extension::Usage(Usage { response: response.into(), cost, ..Usage::default() }).into_event(ts())
    }

    fn rewind(id: &str, dropped: i64) -> Event {
        let mut event = Event::rollback(ts(), dropped);
        RewindMark { id: id.into(), to: 0, guard: None }.put_on(&mut event);
        event
    }

    fn undone(id: &str) -> Event {
        let note = Note { topic: Note::REWIND_UNDONE.into(), text: String::new() };
        let mut event = Extension::Note(note).into_event(ts());
        RewindMark { id: id.into(), to: 0, guard: None }.put_on(&mut event);
        assert_eq!(event.kind, Kind::XNote);
        event
    }

    fn spent(events: &[Event]) -> Spending {
        let mut history = Vec::new();
        events.iter().for_each(|event| event.encode(&mut history));
        Spending::read(&history[..], Limits::default()).expect("memory can be read")
    }

    fn sums(events: &[Event]) -> Responses {
        spent(events).responses().iter().sum()
    }

    #[test]
    fn m10_usage_on_three_lines_of_one_response_counts_once() {
        let told = [say(), usage("r", Some(0.25)), usage("r", None), usage("r", Some(0.5)), usage("", Some(1.0))];
        let sums = sums(&told);
        assert_eq!((sums.count, sums.cost.sum(), sums.cost.is_whole()), (2, Some(1.5), true));
    }

    #[test]
    fn m10_a_turn_that_was_rolled_back_still_costs_money_and_is_discarded() {
        let told = [
            say(),
            usage("kept", Some(0.5)),
            say(),
            usage("gone", Some(0.25)),
            usage("x", None),
            Event::rollback(ts(), 1),
        ];
        let sums = sums(&told);
        assert_eq!((sums.count, sums.discarded, sums.cost.sum()), (3, 2, Some(0.75)));
        assert_eq!((sums.discarded_cost.sum(), sums.discarded_cost.is_whole()), (Some(0.25), false));
        let told = spent(&told);
        let discarded: Vec<_> = told.responses().iter().filter(|spent| spent.discarded).collect();
        assert_eq!(discarded.len(), 2);
        assert_eq!((&*discarded[0].usage.response, discarded[0].event), ("gone", 4));
    }

    #[test]
    fn m10_what_nobody_told_is_unknown_and_not_nothing() {
        let sums = sums(&[say(), usage("a", None), usage("b", Some(0.0))]);
        assert_eq!((sums.input.sum(), sums.input.unknown), (None, 2));
        assert_eq!((sums.cost.sum(), sums.cost.unknown), (Some(0.0), 1));
        assert_eq!(Responses::default().cost.sum(), None);
    }

    #[test]
    fn what_a_rewind_discarded_stands_again_when_it_is_taken_back() {
        let told = [say(), usage("a", Some(1.0)), rewind("w", 1), say(), undone("w")];
        assert_eq!(sums(&told).discarded, 0);
        let told = [&told[..], &[Event::rollback(ts(), 1)]].concat();
        assert_eq!(sums(&told).discarded, 1);
        let other = [say(), usage("a", Some(1.0)), rewind("w", 1), say(), undone("v")];
        assert_eq!(sums(&other).discarded, 1);
    }

    #[test]
    fn a_fold_goes_on_where_it_stopped() {
        let told = [say(), usage("a", Some(1.0)), say(), usage("a", Some(2.0)), Event::rollback(ts(), 2)];
        for cut in 0..=told.len() {
            let mut spending = spent(&told[..cut]);
            let mut rest = Vec::new();
            told[cut..].iter().for_each(|event| event.encode(&mut rest));
            spending.go_on(&rest[..], Limits::default()).expect("memory can be read");
            assert_eq!(spending.responses(), spent(&told).responses());
        }
    }
}
