//! What a store offers for listing and reading.

use super::{ActiveTurns, Empties, Placed, SessionInfo, View, active, reading, similar};
use crate::candidate::{Candidate, candidates};
use crate::{HistoryView, Result, Store};
use session_core::{Conversation, LastReport, SessionName};

/// Listing and reading. Nothing is created, migrated, locked or written: all of it works on a read-only store, and on one
/// that does not exist. Flat files from before sessions were directories are read as they are, and links to successors are
/// not followed.
impl Store {
    fn view(&self) -> View<'_> {
        let (base, limits, now) = (self.base_dir(), self.options().limits, self.clock().utc());
        View { base, limits, now, cache_dir: self.cache_dir() }
    }

    /// Every session, the newest first: by the time of the newest event, then by when the history was last written, then
    /// by name. Copying or touching a store does not change the order, and a time that has not come yet is not believed.
    ///
    /// What was counted is kept where [`Store::with_cache_dir`] says.
    ///
    /// What is wrong with a session is part of its entry. A directory whose name is no session name is listed as damaged.
    ///
    /// # Errors
    /// Only what keeps the store's directory itself from being read: [`crate::StoreError::NotADirectory`] or
    /// [`crate::StoreError::Read`].
    #[doc(alias = "ListSessions")]
    pub fn list(&self, empties: Empties) -> Result<Vec<SessionInfo>> {
        super::list(&self.view(), empties)
    }

    /// The first `limit` sessions of [`Store::list`] that are `wanted`. Only those are read; of each other one at most
    /// the end of its history, and nothing where the cache knows it.
    ///
    /// # Errors
    /// As [`Store::list`].
    pub fn newest(
        &self,
        empties: Empties,
        limit: usize,
        wanted: impl FnMut(&SessionInfo) -> bool,
    ) -> Result<Vec<SessionInfo>> {
        super::newest(&self.view(), empties, limit, wanted)
    }

    /// All sessions, or some, in the order of [`Store::list`], looked at only so far as the order asks for.
    pub(crate) fn in_order(&self, some: Option<Vec<Candidate>>) -> Result<Vec<Placed>> {
        super::in_order(&self.view(), some)
    }

    /// The session whose newest event is the newest of all, of those that have a message.
    ///
    /// # Errors
    /// As [`Store::list`].
    #[doc(alias = "MostRecent")]
    pub fn most_recent(&self) -> Result<Option<SessionName>> {
        super::most_recent(&self.view())
    }

    /// Names of sessions that somebody may have meant by `name`, the closest first, at most three.
    ///
    /// # Errors
    /// As [`Store::list`].
    pub fn similar(&self, name: &str) -> Result<Vec<SessionName>> {
        similar::similar(self.base_dir(), name)
    }

    /// The names of all sessions that a verb takes, in byte order; no session is looked into.
    ///
    /// # Errors
    /// As [`Store::list`].
    pub fn names(&self) -> Result<Vec<SessionName>> {
        let found = candidates(self.base_dir())?;
        let mut names: Vec<_> = found.iter().filter_map(|candidate| candidate.session_name().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// A session's history as it stands now, or the flat file that is shown for it. A session without either has an
    /// empty one.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn history(&self, name: &SessionName) -> Result<HistoryView> {
        reading::history(self.base_dir(), name, self.options().limits)
    }

    /// A session's live conversation. A session without a history has an empty one.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`]; [`crate::StoreError::Escapes`] where a symbolic link has the name;
    /// [`crate::StoreError::Read`]. Bad content is a defect.
    #[doc(alias = "LoadSession")]
    pub fn load(&self, name: &SessionName) -> Result<Conversation> {
        self.history(name)?.load()
    }

    /// What the reference's show prints for a session, and the conversation that it shows.
    ///
    /// # Errors
    /// As [`Store::load`].
    #[doc(alias = "ShowSession")]
    pub fn show_reference(&self, name: &SessionName) -> Result<(String, Conversation)> {
        reading::show_reference(self.base_dir(), name, self.options().limits)
    }

    /// A session's title. A flat file has none.
    ///
    /// # Errors
    /// As [`Store::load`].
    #[doc(alias = "SessionTitle")]
    pub fn title(&self, name: &SessionName) -> Result<Option<String>> {
        reading::title(self.base_dir(), name, self.options().limits)
    }

    /// The last structured report of a session, and whether it is still current. The history is read from its end.
    ///
    /// # Errors
    /// As [`Store::load`].
    #[doc(alias = "LastReport")]
    pub fn last_report(&self, name: &SessionName) -> Result<Option<LastReport>> {
        self.history(name)?.last_report()
    }

    /// The model of a session's last settings event. The history is read from its end.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn last_model(&self, name: &SessionName) -> Result<Option<String>> {
        self.history(name)?.last_model()
    }

    /// The sessions whose turn runs.
    ///
    /// # Errors
    /// As [`Store::list`]. A session that cannot be looked at is part of the answer.
    #[doc(alias = "ActiveTurns")]
    pub fn active_turns(&self) -> Result<ActiveTurns> {
        active::active_turns(self.base_dir())
    }
}
