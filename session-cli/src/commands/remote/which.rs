//! Which sessions are sent: those that are named, or those that a filter takes.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{span, target};
use chrono::{DateTime, Utc};
use session_core::SessionName;
use session_store::{Empties, SessionInfo};
use std::path::PathBuf;

/// The sessions, or a filter.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The sessions
    #[arg(add = target::completer())]
    sessions: Vec<String>,
    /// All sessions
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    /// The sessions that work in this directory [default without a value: the current one]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", require_equals = true)]
    #[arg(conflicts_with = "sessions")]
    workspace: Option<PathBuf>,
    /// The sessions updated since then: 2h, 3d, 2026-11-01 (local), or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = span::instant, conflicts_with = "sessions")]
    since: Option<DateTime<Utc>>,
}

impl Which {
    /// Their names.
    pub(crate) fn names(&self, context: &Context) -> Result<Vec<SessionName>, Failure> {
        if !self.sessions.is_empty() {
            return target::resolve_all(context, &self.sessions);
        }
        if !self.all && self.workspace.is_none() && self.since.is_none() {
            return Err(Failure::new(Exit::Usage, "no session is named").hint("--all takes all of them"));
        }
        let canonical =
            |dir: &PathBuf| dir.canonicalize().map_err(|error| Failure::input(&dir.display().to_string(), &error));
        let dir = self.workspace.as_ref().map(canonical).transpose()?;
        let is_wanted = |session: &SessionInfo| {
            dir.as_deref().is_none_or(|dir| session.works_in(dir))
                && self.since.is_none_or(|since| session.updated.is_some_and(|updated| updated >= since))
        };
        let sessions = context.store.list(Empties::Show)?;
        let wanted = sessions.into_iter().filter(is_wanted);
        Ok(wanted.filter_map(|session| SessionName::new(session.name).ok()).collect())
    }
}
