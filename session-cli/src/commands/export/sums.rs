//! What several sessions come to, for the index of their pages.

use super::redact::Redaction;
use crate::context::Context;
use crate::failure::Failure;
use crate::page::Sums;
use crate::tally::{self, About};
use session_core::{Period, SessionName, Statistics};

/// The sums of whole sessions, whatever part of each is on its page. Days are those of UTC, as all times of pages are.
pub(super) fn read(context: &Context, names: &[SessionName], redact: bool) -> Result<Sums, Failure> {
    let mut statistics = Statistics::default();
    let mut sessions = Vec::new();
    for name in names {
        tally::read(&context.store, name, sessions.len(), &mut statistics, &Period::ALL)?;
        let workspace = context.store.read_meta(name)?.meta.workspace;
        sessions.push(About { name: name.to_string(), workspace, bytes: None });
    }
    let mut sums = Sums::of(&statistics, &sessions);
    for name in names {
        Redaction::of(context, name, redact)?.texts(sums.names())?;
    }
    Ok(sums)
}
