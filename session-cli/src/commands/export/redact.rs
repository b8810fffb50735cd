//! Taking secrets out of what is exported, before any form is made of it.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use session_core::{Event, Item, Meta, Redact as _, RedactError, SessionName, TurnSpan, scan_bytes};
use session_secrets::Redactor;
use std::borrow::Cow;

/// Takes secrets out, or leaves everything as it is.
pub(super) struct Redaction {
    redactor: Option<Redactor>,
    /// How many events it has changed.
    pub(super) changed: u64,
}

impl Redaction {
    /// That of a session: what anything in it tells to be a secret is one wherever it stands. What it is asked about has to
    /// be in the session already.
    pub(super) fn of(context: &Context, name: &SessionName, is_wanted: bool) -> Result<Self, Failure> {
        let known = is_wanted.then(|| context.store.known_secrets(name)).transpose()?;
        Ok(Redaction { redactor: known.as_ref().map(Redactor::knowing), changed: 0 })
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.redactor.is_some()
    }

    /// An event without its secrets. Where that cannot be told, nothing is exported: a text is never dropped silently.
    pub(super) fn event(&mut self, event: Event) -> Result<Event, Failure> {
        let Some(redactor) = &self.redactor else { return Ok(event) };
        let mut line = Vec::new();
        event.encode(&mut line);
        let line = String::from_utf8(line).map_err(Failure::bug)?;
        let Cow::Owned(masked) = redactor.json(line.trim_end()).map_err(|error| refused(&error))? else {
            return Ok(event);
        };
        let masked = scan_bytes(masked.as_bytes()).find_map(|item| match item {
            Item::Record(record) => Some(*record.event),
            Item::Defect(_) => None,
        });
        self.changed += 1;
        masked.ok_or_else(|| refused(&"what is left is no event".into()))
    }

    /// The same for what stands around the events. What a turn was asked for stands in its events.
    pub(super) fn head(&self, meta: &mut Meta, turns: &mut [TurnSpan]) -> Result<(), Failure> {
        let texts = [&mut meta.title, &mut meta.first_prompt, &mut meta.summary, &mut meta.workspace, &mut meta.model];
        let outcomes = turns.iter_mut().filter_map(|turn| turn.outcome.as_mut());
        self.texts(texts.into_iter().chain(outcomes))?;
        if self.is_wanted() {
            turns.iter_mut().for_each(|turn| turn.prompt.clear());
        }
        Ok(())
    }

    /// The same for some texts.
    pub(super) fn texts<'a>(&self, texts: impl IntoIterator<Item = &'a mut String>) -> Result<(), Failure> {
        let Some(redactor) = &self.redactor else { return Ok(()) };
        for text in texts {
            if let Cow::Owned(masked) = redactor.text(text).map_err(|error| refused(&error))? {
                *text = masked;
            }
        }
        Ok(())
    }
}

fn refused(error: &RedactError) -> Failure {
    Failure::new(Exit::Refused, format!("cannot tell what is secret: {}", causes(&**error)))
        .hint("no file was written; --no-redact exports everything as it is")
}
