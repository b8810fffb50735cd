//! What is known about the directories in which others leave word: that no turn runs, and how many messages wait.

use super::Cache;
use super::key::{Key, Moment, Seen};
use serde::{Deserialize, Serialize};
use session_core::layout;
use std::ffi::OsStr;

/// A session in which no turn's marker stood. Whoever puts one there, or a message into the inbox, changes the
/// directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Quiet {
    /// `None`: there is no such directory.
    proc: Option<Key>,
    inbox: Option<Key>,
    seen: Moment,
    /// How many messages waited.
    pending: u64,
}

impl Quiet {
    /// Looks at the directories before they are read. `None` where something else stands in the place of one.
    pub(in super::super) fn look(cache: &Cache, session: &OsStr) -> Option<Self> {
        let directory = |name| match cache.look(session, name) {
            Seen::Nothing => Some(None),
            Seen::Directory(key) => Some(Some(key)),
            Seen::File(_) | Seen::Odd => None,
        };
        Some(Quiet {
            proc: directory(layout::PROC)?,
            inbox: directory(layout::INBOX)?,
            seen: cache.begun(),
            pending: 0,
        })
    }

    /// How many messages wait, if the directories are still as `now` saw them.
    pub(in super::super) fn believed(&self, now: &Quiet) -> Option<u64> {
        let is_same = (self.proc, self.inbox) == (now.proc, now.inbox);
        let had_settled = [self.proc, self.inbox].iter().flatten().all(|key| key.had_settled(self.seen));
        (is_same && had_settled).then_some(self.pending)
    }

    /// The same with what was read.
    pub(in super::super) fn with(self, pending: u64) -> Self {
        Quiet { pending, ..self }
    }
}
