//! Printing hits as they come, or what they come to.

use crate::context::Context;
use crate::failure::Failure;
use crate::output::escape::{Layout, escaped};
use crate::output::{self, Diagnostic, Rows, when};
use crate::view::hit;
use serde::Serialize;
use session_core::search::Hit;
use session_store::Searched;
use std::borrow::Cow;
use std::ops::ControlFlow;

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Hits,
    Counts,
    Names,
}

/// Prints hits as they come. In JSON they wait for the one document.
#[derive(Debug)]
pub(super) struct Printer<'a> {
    context: &'a Context,
    limit: Option<u64>,
    shape: Shape,
    width: Option<u16>,
    hits: u64,
    /// The sessions with hits so far, and how many each has.
    counts: Vec<Count>,
    text: String,
    documents: Vec<HitDocument>,
}

#[derive(Debug, Serialize)]
struct Count {
    session: String,
    hits: u64,
}

#[derive(Debug, Serialize)]
struct HitDocument {
    session: String,
    event: u64,
    line: Option<u64>,
    offset: u64,
    ts: Option<String>,
    role: &'static str,
    tool: Option<String>,
    live: Option<bool>,
    text: String,
    /// In characters of the text.
    matches: Vec<[usize; 2]>,
    cut_before: bool,
    cut_behind: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(limit: Option<u64>, shape: Shape, context: &'a Context) -> Self {
        let width = terminal_size::terminal_size().map(|(width, _)| width.0);
        let width = width.filter(|_| context.out.is_terminal());
        let (counts, documents) = (Vec::new(), Vec::new());
        Printer { context, limit, shape, width, hits: 0, counts, text: String::new(), documents }
    }

    /// Prints a hit. Breaks where no more are wanted.
    pub(super) fn hit(&mut self, session: &str, hit: Hit, live: Option<bool>) -> Result<ControlFlow<()>, Failure> {
        let is_new = self.counts.last().is_none_or(|count| count.session != session);
        let full = |n: usize| self.limit.is_some_and(|limit| n as u64 >= limit);
        if is_new {
            if self.shape == Shape::Counts && full(self.counts.len()) {
                return Ok(ControlFlow::Break(()));
            }
            self.end_of_session();
            self.counts.push(Count { session: session.to_owned(), hits: 0 });
        }
        self.hits += 1;
        if let Some(count) = self.counts.last_mut() {
            count.hits += 1;
        }
        match self.shape {
            Shape::Counts => return Ok(ControlFlow::Continue(())),
            Shape::Names if !self.context.out.is_json() => self.text += &format!("{}\n", self.name(session)),
            Shape::Names => {}
            Shape::Hits if self.context.out.is_json() => self.documents.push(HitDocument::new(session, hit, live)),
            Shape::Hits if self.context.out.is_terminal() => {
                self.text += &hit::line(&self.context.out, self.width, session, &hit, live);
            }
            Shape::Hits => {
                let mut row = Rows::new(&[]);
                let mark = live.map_or("", |live| if live { "live" } else { "rolled-back" });
                let (event, text) = (hit.event.to_string(), hit::elided(&hit.excerpt));
                row.push(vec![session.to_owned(), event, hit.kind.as_str().to_owned(), mark.to_owned(), text]);
                self.text += &row.separated();
            }
        }
        if self.text.len() > output::CHUNK {
            self.flush()?;
        }
        Ok(if self.limit.is_some_and(|limit| self.hits >= limit) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }

    fn name<'n>(&self, session: &'n str) -> Cow<'n, str> {
        if self.context.out.is_terminal() { escaped(session, Layout::OneLine) } else { session.into() }
    }

    /// What is known of a session once the hits of the next one come.
    fn end_of_session(&mut self) {
        if self.shape != Shape::Counts || self.context.out.is_json() {
            return;
        }
        if let Some(Count { session, hits }) = self.counts.last() {
            let between = if self.context.out.is_terminal() { ": " } else { "\t" };
            self.text += &format!("{}{between}{hits}\n", self.name(session));
        }
    }

    /// Prints what waits.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() { Ok(()) } else { self.context.out.bytes(text.as_bytes()) }
    }

    /// Prints the rest, and gives the number of hits.
    pub(super) fn finish(mut self, searched: &Searched, diagnostics: &[Diagnostic]) -> Result<u64, Failure> {
        #[derive(Serialize)]
        struct Document<'a> {
            hits: &'a [HitDocument],
            counts: &'a [Count],
            searched: Covered,
            skipped: Vec<Skipped<'a>>,
        }
        #[derive(Serialize)]
        struct Covered {
            sessions: u64,
            bytes: u64,
            stopped: bool,
        }
        #[derive(Serialize)]
        struct Skipped<'a> {
            session: &'a str,
            reason: &'a str,
            text: &'a str,
        }
        self.end_of_session();
        self.flush()?;
        if self.context.out.is_json() {
            let Searched { sessions, bytes, stopped, .. } = *searched;
            let skipped = diagnostics.iter().map(|diagnostic| Skipped {
                session: diagnostic.session.as_deref().unwrap_or_default(),
                reason: &diagnostic.code,
                text: &diagnostic.text,
            });
            let document = Document {
                hits: &self.documents,
                counts: &self.counts,
                searched: Covered { sessions, bytes, stopped },
                skipped: skipped.collect(),
            };
            self.context.out.document("search", diagnostics.is_empty(), diagnostics, &document)?;
        }
        Ok(self.hits)
    }
}

impl HitDocument {
    fn new(session: &str, hit: Hit, live: Option<bool>) -> Self {
        let text = hit.excerpt.text;
        let characters = |upto: usize| text[..upto].chars().count();
        let matches =
            hit.excerpt.matches.iter().map(|found| [characters(found.start), characters(found.end)]).collect();
        HitDocument {
            session: session.to_owned(),
            event: hit.event,
            line: hit.place.line,
            offset: hit.place.offset,
            ts: hit.ts.as_ref().map(when::machine),
            role: hit.kind.as_str(),
            tool: hit.tool,
            live,
            matches,
            text,
            cut_before: hit.excerpt.cut_before,
            cut_behind: hit.excerpt.cut_behind,
        }
    }
}
