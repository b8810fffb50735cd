//! `session stats`

mod table;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::progress::Bar;
use crate::tally::{About, By, Group, Groups};
use crate::{span, tally, target};
use chrono::{DateTime, FixedOffset, Local, NaiveDate, Utc};
use serde::Serialize;
use session_core::{Amount, Defect, Period, Responses, SessionName, Statistics, Timestamp};
use session_store::StoreError;

/// The flags of `stats`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What was taken back counts: it took its time and cost its money. A response counts once, whichever sessions tell of it. \
What nobody told is unknown, which is not 0: +? behind a sum says that a part of it is. The time of a call is what its result says, or \
else the time since the message before.\n\nExamples:\n  session stats\n  session stats --by day --since 7d\n  \
session stats --by tool @ --json"
)]
pub(crate) struct Flags {
    /// The sessions [default: all]
    #[arg(add = target::completer())]
    sessions: Vec<String>,
    /// What there is a row for
    #[arg(long, value_name = "WHAT", default_value = "session")]
    by: By,
    /// Only what happened since then: 2h, 3d, 2026-11-01
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    since: Option<DateTime<Utc>>,
    /// Only what happened until then
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    until: Option<DateTime<Utc>>,
    /// Where days begin: local, UTC, or an offset such as +02:00
    #[arg(long, value_name = "ZONE", default_value = "local", value_parser = zone)]
    tz: Zone,
    /// Also the room that the sessions take on the disk
    #[arg(long)]
    disk: bool,
}

#[derive(Debug, Clone, Copy)]
enum Zone {
    Local,
    Fixed(FixedOffset),
}

impl Zone {
    fn day(self, ts: &Timestamp) -> NaiveDate {
        match self {
            Zone::Local => ts.with_timezone(&Local).date_naive(),
            Zone::Fixed(offset) => ts.with_timezone(&offset).date_naive(),
        }
    }
}

fn zone(text: &str) -> Result<Zone, String> {
    if text.eq_ignore_ascii_case("local") {
        return Ok(Zone::Local);
    }
    let text = if text.eq_ignore_ascii_case("utc") { "+00:00" } else { text };
    text.parse().map(Zone::Fixed).map_err(|_| format!("{text:?} is no zone; write local, UTC or +02:00"))
}

#[derive(Serialize)]
struct Document {
    by: &'static str,
    rows: Vec<Row>,
    total: Row,
}

#[derive(Serialize)]
struct Row {
    key: Option<String>,
    sessions: u64,
    turns: u64,
    messages: u64,
    calls: u64,
    failures: u64,
    unanswered: u64,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
    responses: u64,
    discarded_responses: u64,
    input_tokens: Sum<u64>,
    cached_tokens: Sum<u64>,
    output_tokens: Sum<u64>,
    reasoning_tokens: Sum<u64>,
    cost_usd: Sum<f64>,
    discarded_cost_usd: Sum<f64>,
    bytes: Option<u64>,
}

/// A sum, where anything of it is known, and of how many responses it is not.
#[derive(Serialize)]
struct Sum<T> {
    known: Option<T>,
    unknown: u64,
}

impl<T: std::ops::AddAssign + Copy> From<Amount<T>> for Sum<T> {
    fn from(amount: Amount<T>) -> Self {
        Sum { known: amount.sum(), unknown: amount.unknown }
    }
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = match &flags.sessions[..] {
        [] => context.store.names()?,
        texts => target::resolve_all(context, texts)?,
    };
    let mut unread = Unread::default();
    let groups = read(flags, context, &names, &mut unread)?;
    let Unread { diagnostics, is_partial } = unread;
    let rows = groups.rows.iter().map(|group| Row::new(flags, Some(group.key.clone()), group)).collect();
    let document = Document { by: flags.by.as_str(), rows, total: Row::new(flags, None, &groups.total) };
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("stats", !is_partial, &diagnostics, &document)?;
    } else {
        let weights: Vec<f64> = groups.rows.iter().map(|group| groups.measure.of(&group.cell)).collect();
        context.out.rows(&table::rows(flags, context, &document, &weights))?;
    }
    Ok(if is_partial { Exit::Partial } else { Exit::Done })
}

/// What was wrong, and whether something is in no number because of it.
#[derive(Default)]
struct Unread {
    diagnostics: Vec<Diagnostic>,
    is_partial: bool,
}

impl Unread {
    fn lines(&mut self, session: &SessionName, defects: &[Defect]) {
        self.is_partial |= defects.iter().any(Defect::is_skipped);
        self.diagnostics.extend(defects.iter().map(|defect| Diagnostic::defect(session.as_str(), defect)));
    }

    fn session(&mut self, session: &SessionName, error: &StoreError) {
        self.is_partial = true;
        self.diagnostics.push(Diagnostic::failed("unreadable", session, error));
    }
}

fn read(flags: &Flags, context: &Context, names: &[SessionName], unread: &mut Unread) -> Result<Groups, Failure> {
    let day_of = |ts: &Timestamp| flags.tz.day(ts);
    let utc = |time: DateTime<Utc>| time.fixed_offset();
    let period = Period { day_of: &day_of, from: flags.since.map(utc), upto: flags.until.map(utc) };
    let mut statistics = Statistics::default();
    let mut meter = context.store.disk_meter();
    let mut sessions = Vec::new();
    let bar = Bar::new(context.out.is_quiet());
    for (number, name) in names.iter().enumerate() {
        bar.say(|| format!("{number} of {} sessions read", names.len()));
        let mut about = About { name: name.to_string(), ..Default::default() };
        let read = tally::read(&context.store, name, number, &mut statistics, &period);
        let mut measured = || meter.measure(name).map(|usage| usage.total().allocated_bytes);
        let rest = read.and_then(|defects| {
            unread.lines(name, &defects);
            about.workspace = context.store.read_meta(name)?.meta.workspace;
            about.bytes = if flags.disk { Some(measured()?) } else { None };
            Ok(())
        });
        match rest {
            Ok(()) => {}
            // It was deleted since it was named, or has no history yet.
            Err(StoreError::NotFound { .. }) if flags.sessions.is_empty() => {}
            Err(error) => unread.session(name, &error),
        }
        sessions.push(about);
    }
    drop(bar);
    Ok(Groups::of(flags.by, &statistics, &sessions))
}

impl Row {
    fn new(flags: &Flags, key: Option<String>, group: &Group) -> Self {
        let cell = &group.cell;
        let Responses { count, discarded, input, cached, output, reasoning, cost, discarded_cost } = cell.responses;
        Row {
            key,
            sessions: group.sessions.len() as u64,
            turns: cell.turns,
            messages: cell.messages,
            calls: cell.calls,
            failures: cell.failures,
            unanswered: cell.unanswered,
            p50_ms: cell.percentile_ms(50),
            p95_ms: cell.percentile_ms(95),
            responses: count,
            discarded_responses: discarded,
            input_tokens: input.into(),
            cached_tokens: cached.into(),
            output_tokens: output.into(),
            reasoning_tokens: reasoning.into(),
            cost_usd: cost.into(),
            discarded_cost_usd: discarded_cost.into(),
            bytes: group.bytes.filter(|_| flags.disk),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_local_or_an_offset() {
        let ts = session_core::parse_time("2026-01-02T23:30:00Z").expect("it is well formed");
        let day = |text: &str| zone(text).map(|zone| zone.day(&ts).to_string());
        assert_eq!((day("utc"), day("+01:00")), (Ok("2026-01-02".to_owned()), Ok("2026-01-03".to_owned())));
        assert!(day("local").is_ok() && day("Mars").is_err());
    }
}
