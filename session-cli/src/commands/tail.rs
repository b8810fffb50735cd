//! `session tail`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::Follow;
use crate::output::escape::{Layout, escaped};
use crate::output::{Diagnostic, when};
use crate::view::{Detail, transcript};
use crate::{span, target};
use serde::Serialize;
use serde_json::value::RawValue;
use session_core::{Event, Item, Place, Record, SessionName};
use session_proc::{TurnMarker, live_processes};
use session_store::{HistoryView, StoreError};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The flags of `tail`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session tail @ -f\n  session tail oaks -f --json --until idle --timeout 10m")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Go on with the events to come
    #[arg(short, long)]
    follow: bool,
    /// The last so many events
    #[arg(short = 'n', long = "count", value_name = "N", default_value_t = 10)]
    count: usize,
    /// With -f, end when no turn is live (idle), or when nothing of the session runs (exit)
    #[arg(long, value_name = "STATE", requires = "follow")]
    until: Option<Until>,
    /// With -f, end after this long with exit status 124
    #[arg(long, value_name = "DUR", value_parser = span::duration, requires = "follow")]
    timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Until {
    Idle,
    Exit,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let history = context.store.history(&name)?;
    let mut last = VecDeque::new();
    let mut events = 0;
    for item in history.backwards()? {
        let item = item.map_err(|error| Failure::input("the history", &error))?;
        if events == flags.count {
            break;
        }
        events += usize::from(matches!(item, Item::Record(_)));
        last.push_front(item);
    }
    let mut partial = false;
    for item in last {
        partial |= print(context, &name, item)?;
    }
    if !flags.follow {
        return Ok(if partial { Exit::Partial } else { Exit::Done });
    }
    follow(flags, context, &name, history)
}

fn follow(flags: &Flags, context: &Context, name: &SessionName, history: HistoryView) -> Result<Exit, Failure> {
    let deadline = flags.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut follow = Follow::after(history)?;
    loop {
        let turn = TurnMarker::read(&context.store.paths(name)?.proc()).map_err(StoreError::from)?;
        follow.watch(context, name, turn.as_ref())?;
        // What ends the following is looked at before the file, so that nothing written until then is missed.
        let over = flags.until.map_or(Ok(false), |until| is_over(context, name, until))?;
        let mut news = false;
        for item in follow.news(context, name)? {
            news = true;
            print(context, name, item)?;
        }
        if over && !news {
            return Ok(Exit::Done);
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(Exit::TimedOut);
        }
        if !news {
            follow.wait(left)?;
        }
    }
}

fn is_over(context: &Context, name: &SessionName, until: Until) -> Result<bool, Failure> {
    let proc = context.store.paths(name)?.proc();
    let turn = TurnMarker::read(&proc).map_err(StoreError::from)?.is_some();
    Ok(match until {
        Until::Idle => !turn,
        Until::Exit => !turn && live_processes(&proc).map_err(StoreError::from)?.is_empty(),
    })
}

/// Prints one item. True for a line that gave no event.
fn print(context: &Context, name: &SessionName, item: Item) -> Result<bool, Failure> {
    match item {
        Item::Record(record) => event(context, &record).map(|()| false),
        Item::Defect(defect) => {
            let diagnostic = Diagnostic::defect(name.as_str(), &defect);
            if context.out.is_json() {
                #[derive(Serialize)]
                struct Line {
                    defect: Diagnostic,
                }
                context.out.json_line(&Line { defect: diagnostic })?;
            } else {
                context.out.note(&format!("warning: {}", diagnostic.text));
            }
            Ok(defect.is_skipped())
        }
    }
}

fn event(context: &Context, record: &Record) -> Result<(), Failure> {
    let event = &record.event;
    if context.out.is_json() {
        #[derive(Serialize)]
        struct Line {
            offset: u64,
            event: Box<RawValue>,
        }
        let mut json = Vec::new();
        event.encode(&mut json);
        let json = String::from_utf8(json).map_err(Failure::bug)?;
        let event = RawValue::from_string(json.trim_end().to_owned()).map_err(Failure::bug)?;
        let Place { offset, .. } = record.place;
        return context.out.json_line(&Line { offset, event });
    }
    if context.out.is_terminal() {
        let shown = transcript(std::iter::once(&**event), &[], Detail::Folded, &context.out);
        return if shown.is_empty() { Ok(()) } else { context.out.bytes(shown.as_bytes()) };
    }
    context.out.line(&row(event))
}

/// Time, kind, who, and what, separated by tabs.
fn row(event: &Event) -> String {
    let ts = event.ts.as_ref().map(when::machine).unwrap_or_default();
    let (who, what) = match &event.message {
        Some(message) => (message.role.to_string(), message.content.text().into_owned()),
        None => (event.tool.clone(), if event.text.is_empty() { event.model.clone() } else { event.text.clone() }),
    };
    let field = |text: &str| escaped(text, Layout::OneLine).into_owned();
    [ts, field(event.kind.as_str()), field(&who), field(&what)].join("\t")
}
