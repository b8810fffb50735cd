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
    ToolCall, is_failure,
};
use std::collections::{BTreeMap, HashSet};
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
            open: Vec::new(),
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
    id: Box<str>,
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
    open: Vec<Open>,
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
        let calls = message.tool_calls.iter().filter(|_| message.role == Role::Assistant);
        let (ts, model) = (self.ts, self.model.as_str());
        let open = |call: &ToolCall| Open { id: call.id.clone(), tool: call.name.clone(), ts, model: model.into() };
        self.open.extend(calls.map(open));
        if message.role == Role::Tool {
            let asked = self.open.iter().rposition(|open| open.id == message.tool_call_id);
            let tool = asked.map_or_else(|| message.name.clone(), |at| self.open.remove(at).tool);
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
        for Open { tool, ts, model, .. } in std::mem::take(&mut self.open) {
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
mod tests {
    use super::*;
    use chrono::NaiveDate;

    fn read(histories: &[&str]) -> Statistics {
        let mut statistics = Statistics::default();
        for (session, history) in histories.iter().enumerate() {
            let read = statistics.read(session, history.as_bytes(), Limits::default(), &Period::ALL);
            read.expect("memory can be read");
        }
        statistics
    }

    fn total<'a>(statistics: &'a Statistics, which: impl Fn(&CellKey) -> bool + 'a) -> Cell {
        let mut sum = Cell::default();
        statistics.cells().filter(|(key, _)| which(key)).for_each(|(_, cell)| sum += cell);
        sum
    }

    const WORK: &str = r#"{"ts":"2026-01-02T23:59:50Z","kind":"message","message":{"role":"user","content":"dig"}}
{"ts":"2026-01-02T23:59:55Z","kind":"message","message":{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"Dig"}},{"id":"a","function":{"name":"Dig"}},{"id":"b","function":{"name":"Rake"}}]}}
{"ts":"2026-01-02T23:59:57Z","kind":"tool_result","message":{"role":"tool","tool_call_id":"a","content":"dug"}}
{"ts":"2026-01-03T00:00:01Z","kind":"tool_result","ms":250,"message":{"role":"tool","tool_call_id":"a","content":"error: a stone"}}
{"ts":"2026-01-03T00:00:02Z","kind":"x.usage","x":{"model":"large","response":"r1","output":7,"cost":0.5}}
{"ts":"2026-01-03T00:00:03Z","kind":"rollback","dropped":9}
"#;

    #[test]
    fn calls_are_paired_from_the_nearest_and_timed_by_what_they_say() {
        let statistics = read(&[WORK]);
        let dig = total(&statistics, |key| key.tool.as_deref() == Some("Dig"));
        assert_eq!((dig.calls, dig.failures, dig.unanswered, &dig.took_ms[..]), (2, 1, 0, &[2_000, 250][..]));
        assert_eq!((dig.percentile_ms(50), dig.percentile_ms(95)), (Some(250), Some(2_000)));
        let rake = total(&statistics, |key| key.tool.as_deref() == Some("Rake"));
        assert_eq!((rake.calls, rake.unanswered, rake.percentile_ms(50)), (1, 1, None));
    }

    #[test]
    fn what_comes_after_a_usage_counts_for_its_model_if_it_names_one() {
        let says = r#"{"kind":"message","message":{"role":"assistant","content":"dug"}}"#;
        let usage =
            |model: &str| format!(r#"{{"kind":"x.usage","x":{{"model":"{model}","response":"r","output":1}}}}"#);
        let settings = r#"{"kind":"settings","model":"small"}"#;
        let history = [settings, says, &usage(""), says, &usage("large"), says].join("\n") + "\n";
        let statistics = read(&[&history]);
        let messages = |model: &str| total(&statistics, |key| key.model == model).messages;
        assert_eq!((messages("small"), messages("large")), (2, 1));
    }

    #[test]
    fn until_somebody_says_otherwise_a_message_counts_for_the_model_of_the_head() {
        let head = |model: &str| format!(r#"{{"kind":"x.session","x":{{"format":1,"model":"{model}"}}}}"#);
        let says = r#"{"kind":"message","message":{"role":"user","content":"dig"}}"#;
        let statistics = read(&[&[&head("small"), says, &head(""), says].map(|line| format!("{line}\n")).concat()]);
        assert_eq!(total(&statistics, |key| key.model == "small").messages, 2);
    }

    #[test]
    fn a_response_that_names_no_model_counts_for_that_of_its_time() {
        let settings = |model: &str| format!(r#"{{"kind":"settings","model":"{model}"}}"#);
        let usage = |id: &str| format!(r#"{{"kind":"x.usage","x":{{"response":"{id}","output":1}}}}"#);
        let history = [usage("r0"), settings("small"), usage("r1"), settings("large"), usage("r2"), usage("r3")];
        let statistics = read(&[&history.map(|line| line + "\n").concat()]);
        let responses = |model: &str| total(&statistics, |key| key.model == model).responses.count;
        assert_eq!((responses(""), responses("small"), responses("large")), (1, 1, 2));
    }

    #[test]
    fn a_call_without_a_result_counts_on_the_day_and_for_the_model_of_its_request() {
        let later = r#"{"ts":"2026-02-03T00:00:00Z","kind":"settings","model":"large"}"#;
        let statistics =
            read(&[&format!("{}{later}\n", WORK.lines().take(3).map(|line| format!("{line}\n")).collect::<String>())]);
        let day = "2026-01-02".parse::<NaiveDate>().expect("it is one");
        let rake = total(&statistics, |key| key.tool.as_deref() == Some("Rake") && key.day == Some(day));
        assert_eq!((rake.calls, rake.unanswered), (1, 1));
        assert_eq!(total(&statistics, |key| key.model == "large").calls, 0);
    }

    #[test]
    fn what_was_taken_back_counts_on_the_day_and_for_the_model_of_its_time() {
        let statistics = read(&[WORK]);
        let day = |day: &str| Some(day.parse::<NaiveDate>().expect("it is one"));
        let first = total(&statistics, |key| key.day == day("2026-01-02"));
        assert_eq!((first.turns, first.messages, first.responses.count), (1, 3, 0));
        let large = total(&statistics, |key| key.model == "large" && key.day == day("2026-01-03"));
        assert_eq!((large.responses.count, large.responses.discarded, large.responses.cost.sum()), (1, 1, Some(0.5)));
    }

    #[test]
    fn m10_a_response_that_two_histories_tell_of_counts_once() {
        let statistics = read(&[WORK, WORK]);
        assert_eq!(total(&statistics, |_| true).responses.cost.sum(), Some(0.5));
        assert_eq!(total(&statistics, |key| key.session == 1).responses.count, 0);
        assert_eq!(total(&statistics, |_| true).messages, 8);
    }

    #[test]
    fn only_the_period_counts() {
        let ts = |text| crate::parse_time(text).expect("it is well formed");
        let mut statistics = Statistics::default();
        let period = Period { from: Some(ts("2026-01-03T00:00:00Z")), ..Period::ALL };
        statistics.read(0, WORK.as_bytes(), Limits::default(), &period).expect("memory can be read");
        let sum = total(&statistics, |_| true);
        assert_eq!((sum.turns, sum.messages, sum.calls, sum.responses.count), (0, 1, 1, 1));
        let upto = Period { upto: Some(ts("2026-01-02T23:59:59Z")), ..Period::ALL };
        let mut statistics = Statistics::default();
        statistics.read(0, WORK.as_bytes(), Limits::default(), &upto).expect("memory can be read");
        assert_eq!(total(&statistics, |_| true).messages, 3);
    }
}
