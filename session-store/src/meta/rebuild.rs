//! What the history says about its session, for metadata that is lost.

use super::rules::{FORMAT, REBUILT, count_cost, is_pinned, set_pinned, title_by};
use crate::history::BUFFER;
use crate::{ImportOrigin, Result, StoreError};
use serde_json::Value;
use session_core::{
    Extension, Fields, Item, Kind, Limits, Meta, Note, Record, Responses, Scan, SessionHeader, Spending, Timestamp,
    TitleSet, TitleSource,
};
use session_disk::open_regular;
use std::io::{self, BufReader};
use std::path::Path;

/// Everything that metadata can take from a history.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    first_prompt: Option<String>,
    header: Option<SessionHeader>,
    title: Option<TitleSet>,
    /// Of the last settings event that names one.
    model: String,
    succeeded_by: String,
    /// Whether it is pinned, where a note says so.
    pinned: Option<bool>,
    /// Where its workspace was moved to.
    relocated: String,
    spending: Spending,
    /// Where it was imported from, as a member of `x`.
    import: Fields,
}

/// The metadata that a history gives by itself.
///
/// # Errors
/// [`StoreError::Read`] where it cannot be read.
pub(crate) fn of_history(history: &Path, limits: Limits) -> Result<Meta> {
    let mut meta = Meta::default();
    facts(history, limits)?.unwrap_or_default().complete(&mut meta);
    Ok(meta)
}

/// Reads a history through. `None` where there is none, or not one event in it.
///
/// # Errors
/// [`StoreError::Read`] where it is there and cannot be read. Content is never an error.
pub(super) fn facts(history: &Path, limits: Limits) -> Result<Option<Facts>> {
    let file = match open_regular(history) {
        Ok((file, _)) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => return Ok(None),
        Err(source) => return Err(StoreError::Read { path: history.to_owned(), source }),
    };
    let mut facts = None;
    for item in Scan::with_limits(BufReader::with_capacity(BUFFER, file), limits) {
        match item.map_err(StoreError::read(history))? {
            Item::Record(record) => facts.get_or_insert_with(Facts::default).note(&record),
            Item::Defect(_) => {}
        }
    }
    Ok(facts)
}

impl Facts {
    /// Takes note of the next event.
    pub(crate) fn note(&mut self, record: &Record) {
        let event = &*record.event;
        self.spending.event(record);
        if let Some(ts) = event.ts {
            self.first.get_or_insert(ts);
            self.last = Some(ts);
        }
        match event.extension() {
            Some(Extension::Session(header)) if self.header.is_none() => {
                self.header = Some(header);
                self.import.take_over(ImportOrigin::MEMBER, &event.x);
            }
            Some(Extension::Title(title)) if self.accepts(title.by) => self.title = Some(title),
            Some(Extension::Successor(successor)) => self.succeeded_by = successor.name,
            Some(Extension::Note(note)) => self.take_note(note),
            Some(
                Extension::Session(_)
                | Extension::Title(_)
                | Extension::Usage(_)
                | Extension::Turn(_)
                | Extension::Checkpoint(_),
            )
            | None => {}
        }
        if self.first_prompt.is_none() {
            self.first_prompt = event.prompt();
        }
        if event.kind == Kind::Settings && !event.model.is_empty() {
            self.model.clone_from(&event.model);
        }
    }

    fn take_note(&mut self, note: Note) {
        match note.topic.as_str() {
            Note::PINNED => self.pinned = Some(true),
            Note::UNPINNED => self.pinned = Some(false),
            Note::RELOCATED => self.relocated = note.text,
            _ => {}
        }
    }

    /// Who the history says goes on with the session; empty where it says nothing.
    pub(crate) fn successor(&self) -> &str {
        &self.succeeded_by
    }

    /// The members in which metadata says something else than the history, of those of which the history is the
    /// authority.
    pub(crate) fn contradicted_by(&self, meta: &Meta) -> Vec<&'static str> {
        let title = self.title.as_ref().is_some_and(|title| title.title != meta.title);
        let successor = !self.succeeded_by.is_empty() && self.succeeded_by != meta.succeeded_by;
        let pinned = self.pinned.is_some_and(|pinned| pinned != is_pinned(meta));
        let workspace = !self.relocated.is_empty() && self.relocated != meta.workspace;
        let all = [(title, "title"), (successor, "succeeded_by"), (pinned, "pinned"), (workspace, "workspace")];
        all.into_iter().filter_map(|(differs, member)| differs.then_some(member)).collect()
    }

    /// Writes into metadata what it contradicts.
    pub(crate) fn correct(&self, meta: &mut Meta) {
        self.complete(meta);
        if !self.relocated.is_empty() {
            meta.workspace.clone_from(&self.relocated);
        }
    }

    /// A person's title is never replaced by an automatic one.
    fn accepts(&self, by: TitleSource) -> bool {
        by == TitleSource::User || self.title.as_ref().is_none_or(|title| title.by == TitleSource::Auto)
    }

    /// The metadata that the history gives by itself, marked as rebuilt.
    pub(super) fn into_meta(self) -> Meta {
        let mut meta = Meta::default();
        self.complete(&mut meta);
        meta.x.set(REBUILT, &Value::Bool(true));
        meta
    }

    /// Fills what `meta` does not say, and what the history says with authority.
    pub(super) fn complete(&self, meta: &mut Meta) {
        let utc = |ts: Timestamp| ts.to_utc().fixed_offset();
        meta.created = meta.created.or(self.first.map(utc));
        meta.updated = meta.updated.max(self.last.map(utc));
        let header = self.header.clone().unwrap_or_default();
        if self.header.is_some() {
            meta.x.set(FORMAT, &header.format.into());
        }
        meta.x.take_over(ImportOrigin::MEMBER, &self.import);
        if let Some(title) = &self.title {
            meta.title.clone_from(&title.title);
            title_by(meta, title.by);
        }
        if !self.succeeded_by.is_empty() {
            meta.succeeded_by.clone_from(&self.succeeded_by);
        }
        if let Some(pinned) = self.pinned {
            set_pinned(meta, pinned);
        }
        let workspace = if self.relocated.is_empty() { header.workspace } else { self.relocated.clone() };
        let model = if self.model.is_empty() { header.model } else { self.model.clone() };
        for (field, value) in [
            (&mut meta.name, header.name),
            (&mut meta.workspace, workspace),
            (&mut meta.model, model),
            (&mut meta.first_prompt, self.first_prompt.clone().unwrap_or_default()),
            (&mut meta.parent, header.parent),
        ] {
            if field.is_empty() {
                *field = value;
            }
        }
        let responses: Responses = self.spending.responses().iter().sum();
        if let Some(price) = responses.cost.sum().filter(|_| meta.cost == 0.0) {
            count_cost(meta, price);
        }
    }
}
