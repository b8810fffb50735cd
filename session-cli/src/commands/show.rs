//! `session show`

use crate::commands::load::completeness;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::view::{Detail, Only, transcript};
use crate::{span, target};
use serde::Serialize;
use serde_json::value::RawValue;
use session_core::{Defect, Event, Item, ReplayBackwards};
use session_store::HistoryView;
use std::ops::RangeInclusive;

/// The flags of `show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  session show @\n  session show . --last 4 --full\n  session show oaks --only user,notice"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Only the last so many messages, and what happened between them
    #[arg(long, value_name = "N", conflicts_with = "range")]
    last: Option<usize>,
    /// Only the events with these numbers, as `events` counts them
    #[arg(long, value_name = "A..B", value_parser = span::events)]
    range: Option<RangeInclusive<u64>>,
    /// Only these parts
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<Only>,
    /// Show tool calls, results and reasoning in full
    #[arg(long)]
    full: bool,
    /// The form: text for a person, json for a machine
    #[arg(long, value_name = "FORM", default_value = "text")]
    format: Format,
    /// The file's own bytes
    #[arg(long, conflicts_with_all = ["last", "range", "only", "full", "reference"])]
    raw: bool,
    /// Exactly what the reference's show prints
    #[arg(long, conflicts_with_all = ["last", "range", "only", "full"])]
    reference: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    if flags.raw {
        return context.out.copy(context.store.history(&name)?.reader());
    }
    if flags.reference {
        let (text, conversation) = context.store.show_reference(&name)?;
        context.out.text(text.as_bytes())?;
        return Ok(completeness(&conversation));
    }
    let history = context.store.history(&name)?;
    let shown = match flags.last {
        Some(last) => the_last(&history, last)?,
        None => all(&history, flags.range.as_ref())?,
    };
    let diagnostics: Vec<_> = shown.defects.iter().map(|defect| Diagnostic::defect(name.as_str(), defect)).collect();
    if context.out.is_json() || flags.format == Format::Json {
        document(context, name.as_str(), &shown, &diagnostics)?;
    } else {
        context.out.diagnostics(&diagnostics);
        let detail = if flags.full { Detail::Full } else { Detail::Folded };
        context.out.page(&transcript(shown.events.iter(), &flags.only, detail, &context.out))?;
    }
    Ok(if shown.is_complete() { Exit::Done } else { Exit::Partial })
}

/// Events to show, and what was wrong with the lines around them.
#[derive(Default)]
struct Shown {
    events: Vec<Event>,
    defects: Vec<Defect>,
    uncertain: bool,
}

impl Shown {
    fn is_complete(&self) -> bool {
        !self.uncertain && !self.defects.iter().any(Defect::is_skipped)
    }
}

fn all(history: &HistoryView, range: Option<&RangeInclusive<u64>>) -> Result<Shown, Failure> {
    let live = history.live_events()?;
    let mut shown = Shown { uncertain: live.uncertain, ..Shown::default() };
    let mut number = 0;
    for item in history.forwards() {
        match item.map_err(|error| Failure::input("the history", &error))? {
            Item::Record(record) => {
                let is_live = live.events.get(number).copied().flatten();
                number += 1;
                if is_live != Some(false) && range.is_none_or(|range| range.contains(&(number as u64))) {
                    shown.events.push(*record.event);
                }
            }
            Item::Defect(defect) => shown.defects.push(defect),
        }
    }
    Ok(shown)
}

/// From the end of the file, until enough live messages are found.
fn the_last(history: &HistoryView, last: usize) -> Result<Shown, Failure> {
    let mut shown = Shown::default();
    let mut replay = ReplayBackwards::new(history.backwards()?);
    let mut messages = 0;
    while messages < last {
        let Some((record, live)) = replay.next_event().map_err(|error| Failure::input("the history", &error))? else {
            break;
        };
        messages += usize::from(live == Some(true));
        if live != Some(false) {
            shown.events.push(*record.event);
        }
    }
    shown.events.reverse();
    shown.uncertain = replay.is_uncertain();
    shown.defects = replay.into_defects();
    Ok(shown)
}

fn document(context: &Context, session: &str, shown: &Shown, diagnostics: &[Diagnostic]) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        uncertain: bool,
        events: Vec<Box<RawValue>>,
    }
    let events = shown.events.iter().map(|event| {
        let mut json = Vec::new();
        event.encode(&mut json);
        let json = String::from_utf8(json).map_err(Failure::bug)?;
        RawValue::from_string(json.trim_end().to_owned()).map_err(Failure::bug)
    });
    let events = events.collect::<Result<_, _>>()?;
    let document = Document { session, uncertain: shown.uncertain, events };
    context.out.document("show", shown.is_complete(), diagnostics, &document)
}
