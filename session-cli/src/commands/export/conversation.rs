//! One session through one exporter.

use super::redact::Redaction;
use super::{Exporter, Flags, Format};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::CHUNK;
use crate::page::Summary;
use session_core::interop::export::{self as core, End, Entry, Export, Head, Selection};
use session_core::{Defect, Item, Meta, SessionName, Spending};
use session_store::HistoryView;
use std::io::Read as _;

/// What to say about an export.
#[derive(Debug)]
pub(super) struct Told {
    /// Events that are in it.
    pub(super) events: u64,
    pub(super) rolled_back: u64,
    /// Events in which secrets were masked.
    pub(super) redacted: u64,
    pub(super) end: End,
    /// What an index says about it, where it became a page.
    pub(super) summary: Option<Summary>,
}

impl Told {
    pub(super) fn is_complete(&self) -> bool {
        self.end.is_complete()
    }
}

/// Gives the export of a session to `write`, piece by piece.
pub(super) fn write(
    flags: &Flags,
    context: &Context,
    format: Format,
    name: &SessionName,
    write: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Told, Failure> {
    let history = context.store.history(name)?;
    let live = history.live_events()?;
    let detail = core::Detail::from(flags.detail);
    let range = flags.range.clone().unwrap_or(1..=u64::MAX);
    let selection = Selection::new(&live).range(range.clone()).raw(flags.raw).detail(detail);
    let rolled_back = selection.rolled_back();
    let end = End { uncertain: live.uncertain, ..End::default() };
    let mut told = Told { events: 0, rolled_back, redacted: 0, end, summary: None };
    let mut redaction = Redaction::of(context, name, !flags.no_redact)?;
    let is_untouched = flags.range.is_none() && detail == core::Detail::Full && !redaction.is_wanted();
    if flags.raw && format == Format::Jsonl && is_untouched {
        told.events = live.events.len() as u64;
        copy(&history, write)?;
        told.end.defects = defects(&history)?;
        return Ok(told);
    }
    let timeline = history.timeline()?;
    let (mut meta, mut turns) = (meta(context, name)?, timeline.turns().to_vec());
    redaction.head(&mut meta, &mut turns)?;
    let head = Head {
        turns,
        events: timeline.events(),
        range: range.clone(),
        rolled_back,
        is_raw: flags.raw,
        detail,
        ..Head::of(meta)
    };
    let told_to = |exporter: &mut dyn Export, told: &mut Told| {
        let events = Events { history: &history, selection, redaction: &mut redaction };
        through(events, &head, exporter, told, write)
    };
    match format.exporter() {
        Exporter::Text(mut exporter) => told_to(&mut *exporter, &mut told)?,
        Exporter::Page(mut page) => {
            told_to(&mut *page, &mut told)?;
            told.summary = page.into_summary();
        }
    }
    told.redacted = redaction.changed;
    Ok(told)
}

/// Where the events of an export come from.
struct Events<'a> {
    history: &'a HistoryView,
    selection: Selection<'a>,
    redaction: &'a mut Redaction,
}

fn through(
    Events { history, mut selection, redaction }: Events<'_>,
    head: &Head,
    exporter: &mut dyn Export,
    told: &mut Told,
    write: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut text = Vec::new();
    let mut spending = Spending::default();
    exporter.begin(head, &mut text);
    for item in history.forwards() {
        match item.map_err(|error| unreadable(&error))? {
            Item::Record(record) => {
                spending.event(&record);
                if let Some(entry) = selection.next(*record.event) {
                    let entry = Entry { event: redaction.event(entry.event)?, ..entry };
                    told.events += 1;
                    exporter.entry(&entry, &mut text);
                }
            }
            Item::Defect(defect) => told.end.defects.push(defect),
        }
        if text.len() > CHUNK {
            write(&text)?;
            text.clear();
        }
    }
    told.end.rollbacks = selection.rollbacks().to_vec();
    let spent = spending.responses().iter().filter(|spent| head.range.contains(&spent.event));
    told.end.spent = spent.cloned().collect();
    redaction.texts(told.end.spent.iter_mut().map(|spent| &mut spent.usage.model))?;
    exporter.end(&told.end, &mut text);
    write(&text)
}

/// The metadata, with the title that a list shows.
fn meta(context: &Context, name: &SessionName) -> Result<Meta, Failure> {
    let mut meta = context.store.read_meta(name)?.meta;
    if let Some(title) = context.store.title(name)? {
        meta.title = title;
    }
    name.as_str().clone_into(&mut meta.name);
    Ok(meta)
}

/// The file's own bytes.
fn copy(history: &HistoryView, write: &mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut reader = history.reader();
    let mut buffer = vec![0; CHUNK];
    loop {
        match reader.read(&mut buffer).map_err(|error| unreadable(&error))? {
            0 => return Ok(()),
            read => write(&buffer[..read])?,
        }
    }
}

fn defects(history: &HistoryView) -> Result<Vec<Defect>, Failure> {
    let mut defects = Vec::new();
    for item in history.forwards() {
        match item.map_err(|error| unreadable(&error))? {
            Item::Defect(defect) => defects.push(defect),
            Item::Record(_) => {}
        }
    }
    Ok(defects)
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::input("the history", error)
}
