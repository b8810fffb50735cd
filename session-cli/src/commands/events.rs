//! `session events`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, target};
use serde::Serialize;
use serde_json::value::RawValue;
use session_core::{Defect, Item, LiveEvents, Outcome, Place, Record};
use session_store::HistoryView;
use std::collections::VecDeque;
use std::io::{Read as _, Seek as _, SeekFrom};

/// The flags of `events`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each line is an object with line, offset, event (its number, from 1), live (null where the event is no message) \
and the event itself; what could not be read comes as line, offset and defect.\n\nExamples:\n  session events @ -n 5 --reverse\n  \
session events @ --raw > history.jsonl"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Print the file's own bytes
    #[arg(long)]
    raw: bool,
    /// The last event first
    #[arg(long)]
    reverse: bool,
    /// At most so many events
    #[arg(short = 'n', long = "count", value_name = "N")]
    count: Option<usize>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let history = context.store.history(&name)?;
    if flags.raw && !flags.reverse && flags.count.is_none() {
        return context.out.copy(history.reader());
    }
    let live = history.live_events()?;
    let mut printer =
        Printer { context, history: &history, live, number: 0, partial: false, raw: flags.raw, lines: Vec::new() };
    let mut held = Held { lines: VecDeque::new(), events: 0, most: flags.count.unwrap_or(usize::MAX) };
    for item in history.forwards() {
        if !flags.reverse && flags.count.is_some_and(|count| printer.number >= count) {
            break;
        }
        let item = item.map_err(|error| Failure::input("the history", &error))?;
        let is_event = matches!(item, Item::Record(_));
        let line = printer.line(item)?;
        if flags.reverse {
            held.push(line, is_event);
        } else {
            printer.print(line)?;
        }
    }
    held.lines.into_iter().try_for_each(|(line, _)| printer.print(line))?;
    printer.flush()?;
    Ok(if printer.partial || printer.live.uncertain { Exit::Partial } else { Exit::Done })
}

/// The lines to print in reverse: the last events, and what stands after the first of them.
struct Held {
    /// The last line first, and whether it is an event.
    lines: VecDeque<(Vec<u8>, bool)>,
    events: usize,
    most: usize,
}

impl Held {
    fn push(&mut self, line: Vec<u8>, is_event: bool) {
        self.lines.push_front((line, is_event));
        self.events += usize::from(is_event);
        while self.events > self.most {
            self.events -= usize::from(self.lines.pop_back().is_some_and(|(_, is_event)| is_event));
        }
        // Who prints forwards ends with the last event that is asked for.
        while self.events == self.most && self.lines.back().is_some_and(|(_, is_event)| !is_event) {
            self.lines.pop_back();
        }
    }
}

struct Printer<'a> {
    context: &'a Context,
    history: &'a HistoryView,
    live: LiveEvents,
    /// Events so far.
    number: usize,
    partial: bool,
    raw: bool,
    lines: Vec<u8>,
}

impl Printer<'_> {
    fn line(&mut self, item: Item) -> Result<Vec<u8>, Failure> {
        let mut line = match item {
            Item::Record(record) if self.raw => {
                self.number += 1;
                self.bytes(record.place, record.len)?
            }
            Item::Defect(defect) if self.raw => {
                self.partial |= defect.is_skipped();
                // A repaired event comes by itself, with the same bytes.
                return if defect.is_skipped() {
                    self.bytes(defect.place, defect.len).map(|line| [line, vec![b'\n']].concat())
                } else {
                    Ok(Vec::new())
                };
            }
            Item::Record(record) => self.event(&record)?,
            Item::Defect(defect) => self.defect(&defect)?,
        };
        line.push(b'\n');
        Ok(line)
    }

    /// Bytes as they stand in the file.
    fn bytes(&self, place: Place, len: u64) -> Result<Vec<u8>, Failure> {
        let mut reader = self.history.reader();
        let mut bytes = Vec::new();
        let read = reader.seek(SeekFrom::Start(place.offset)).and_then(|_| reader.take(len).read_to_end(&mut bytes));
        read.map_err(|error| Failure::input("the history", &error))?;
        Ok(bytes)
    }

    fn event(&mut self, record: &Record) -> Result<Vec<u8>, Failure> {
        #[derive(Serialize)]
        struct Line<'a> {
            line: Option<u64>,
            offset: u64,
            number: usize,
            live: Option<bool>,
            event: &'a RawValue,
        }
        let live = self.live.events.get(self.number).copied().flatten();
        self.number += 1;
        let mut json = Vec::new();
        record.event.encode(&mut json);
        let json = String::from_utf8(json).map_err(Failure::bug)?;
        let event = serde_json::from_str(json.trim_end()).map_err(Failure::bug)?;
        let Place { line, offset } = record.place;
        serde_json::to_vec(&Line { line, offset, number: self.number, live, event }).map_err(Failure::bug)
    }

    fn defect(&mut self, defect: &Defect) -> Result<Vec<u8>, Failure> {
        #[derive(Serialize)]
        struct Line {
            line: Option<u64>,
            offset: u64,
            defect: Bad,
        }
        #[derive(Serialize)]
        struct Bad {
            code: &'static str,
            text: String,
            bytes: u64,
            skipped: bool,
            rollback: bool,
        }
        self.partial |= defect.is_skipped();
        let bad = Bad {
            code: defect.fault.code(),
            text: defect.fault.to_string(),
            bytes: defect.len,
            skipped: defect.is_skipped(),
            rollback: defect.outcome == Outcome::SkippedRollback,
        };
        let Place { line, offset } = defect.place;
        serde_json::to_vec(&Line { line, offset, defect: bad }).map_err(Failure::bug)
    }

    fn print(&mut self, line: Vec<u8>) -> Result<(), Failure> {
        self.lines.extend(line);
        if self.lines.len() > output::CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.context.out.json_lines(&std::mem::take(&mut self.lines))
    }
}
