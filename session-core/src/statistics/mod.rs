//! What histories come to, in cells that can be added up by session, day, model and tool.
//!
//! Everything that was said counts, also what a rollback took back: it took its time and cost its money. What responses
//! cost is as [`crate::Spending`] has it, and a response that two histories tell of counts in the first.

mod cell;
mod period;

pub use cell::{Cell, CellKey};
pub use period::Period;

use crate::timeline::Fold;
use crate::{
    Conversation, Defect, Effect, Event, Extension, Item, Kind, Limits, Record, Role, Scan, Spending, Timestamp,
    is_failure,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead};

/// The numbers of several histories.
///
/// ```
/// use session_core::{Limits, Period, Statistics};
/// let history = br#"{"ts":"2026-01-02T03:04:05Z","kind":"message","message":{"role":"user","content":"plant three oaks"}}
/// {"ts":"2026-01-02T03:04:06Z","kind":"message","message":{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"Dig","arguments":"{}"}}]}}
/// {"ts":"2026-01-02T03:04:08Z","kind":"tool_result","message":{"role":"tool","tool_call_id":"c1","content":"error: a stone"}}
/// "#;
/// let mut statistics = Statistics::default();
/// statistics.read(0, &history[..], Limits::default(), &Period::ALL)?;
/// let dig = statistics.cells().find(|(key, _)| key.tool.as_deref() == Some("Dig")).map(|(_, cell)| cell).expect("it was called");
/// assert_eq!((dig.calls, dig.failures, dig.percentile_ms(50)), (1, 1, Some(2_000)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    cells: BTreeMap<CellKey, Cell>,
    /// The ids of responses that were counted.
    seen: HashSet<String>,
}

impl Statistics {
    /// Reads the history of a session, and gives what is wrong with its lines, at most
    /// [`Conversation::MAX_DEFECTS`]: what a skipped line said is in no number.
    ///
    /// # Errors
    /// What the reader reports; what was read until then counts. Content is never an error.
    pub fn read(
        &mut self,
        session: usize,
        history: impl BufRead,
        limits: Limits,
        period: &Period<'_>,
    ) -> io::Result<Vec<Defect>> {
        let mut reading = Reading {
            cells: &mut self.cells,
            session,
            events: 0,
            model: String::new(),
            models: Vec::new(),
            period,
            ts: None,
            before: None,
            open: HashMap::new(),
            turns: Fold::default(),
            spending: Spending::default(),
        };
        let (mut defects, mut failure) = (Vec::new(), None);
        for item in Scan::with_limits(history, limits) {
            match item {
                Ok(Item::Record(record)) => reading.record(&record),
                Ok(Item::Defect(defect)) if defects.len() < Conversation::MAX_DEFECTS => defects.push(defect),
                Ok(Item::Defect(_)) => {}
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        reading.end(&mut self.seen);
        failure.map_or(Ok(defects), Err)
    }

    /// What was counted.
    pub fn cells(&self) -> impl Iterator<Item = (&CellKey, &Cell)> {
        self.cells.iter()
    }
}

/// A call that has no result yet.
struct Open {
    tool: Box<str>,
    /// When it was asked for, and of which model.
    ts: Option<Timestamp>,
    model: Box<str>,
}

/// One history, as far as it was read.
struct Reading<'a> {
    cells: &'a mut BTreeMap<CellKey, Cell>,
    session: usize,
    /// How many events were read.
    events: u64,
    model: String,
    /// From which event on which model answered.
    models: Vec<(u64, String)>,
    period: &'a Period<'a>,
    /// The last time that an event told.
    ts: Option<Timestamp>,
    /// When the message before this one was there.
    before: Option<Timestamp>,
    /// By the id of the call, the oldest first.
    open: HashMap<Box<str>, Vec<Open>>,
    turns: Fold,
    spending: Spending,
}

impl Reading<'_> {
    fn record(&mut self, record: &Record) {
        let event = &record.event;
        self.events += 1;
        self.ts = event.ts.or(self.ts);
        match event.extension() {
            Some(Extension::Session(header)) if !header.model.is_empty() => self.model = header.model,
            Some(Extension::Usage(usage)) if !usage.model.is_empty() => self.model = usage.model,
            _ => {}
        }
        if event.kind == Kind::Settings && !event.model.is_empty() {
            self.model.clone_from(&event.model);
        }
        if self.models.last().is_none_or(|(_, model)| *model != self.model) {
            self.models.push((self.events, self.model.clone()));
        }
        let turns = self.turns.turns();
        self.turns.event(record);
        let began = self.turns.turns() - turns;
        if began > 0 {
            self.count(None, |cell| cell.turns += began as u64);
        }
        self.spending.event(record);
        if event.effect() == Effect::Adds {
            self.message(event);
        }
    }

    fn message(&mut self, event: &Event) {
        let Some(message) = &event.message else { return };
        self.count(None, |cell| cell.messages += 1);
        for call in message.tool_calls.iter().filter(|_| message.role == Role::Assistant) {
            let open = Open { tool: call.name.clone(), ts: self.ts, model: self.model.as_str().into() };
            self.open.entry(call.id.clone()).or_default().push(open);
        }
        if message.role == Role::Tool {
            let asked = self.open.get_mut(&message.tool_call_id).and_then(Vec::pop);
            let tool = asked.map_or_else(|| message.name.clone(), |asked| asked.tool);
            let gap = self.before.zip(event.ts).map(|(before, ts)| ts.signed_duration_since(before).num_milliseconds());
            let took = Some(event.ms).filter(|ms| *ms > 0).or(gap).and_then(|ms| u64::try_from(ms).ok());
            self.count(Some(&tool), |cell| {
                cell.calls += 1;
                cell.failures += u64::from(is_failure(event));
                cell.took_ms.extend(took);
            });
        }
        self.before = event.ts.or(self.before);
    }

    fn end(mut self, seen: &mut HashSet<String>) {
        for Open { tool, ts, model } in std::mem::take(&mut self.open).into_values().flatten() {
            (self.ts, self.model) = (ts, model.into());
            self.count(Some(&tool), |cell| {
                cell.calls += 1;
                cell.unanswered += 1;
            });
        }
        for spent in std::mem::take(&mut self.spending).responses() {
            if spent.usage.response.is_empty() || seen.insert(spent.usage.response.clone()) {
                self.ts = spent.ts;
                self.model = match spent.usage.model.as_str() {
                    "" => self.model_at(spent.event),
                    told => told.to_owned(),
                };
                self.count(None, |cell| cell.responses.add(spent));
            }
        }
    }

    /// The model that answered when an event came.
    fn model_at(&self, event: u64) -> String {
        let upto = self.models.partition_point(|(from, _)| *from <= event);
        upto.checked_sub(1).map(|at| self.models[at].1.clone()).unwrap_or_default()
    }

    fn count(&mut self, tool: Option<&str>, count: impl FnOnce(&mut Cell)) {
        if self.period.has(self.ts) {
            let day = self.ts.as_ref().map(self.period.day_of);
            let key = CellKey { session: self.session, day, model: self.model.clone(), tool: tool.map(str::to_owned) };
            count(self.cells.entry(key).or_default());
        }
    }
}

#[cfg(test)]
mod tests;
