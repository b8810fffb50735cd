//! Doing whichever of both is needed.

use super::{Copied, PullOptions, PushOptions, Remote, RemoteError, RemoteResult};
use crate::Store;
use session_core::SessionName;

/// What was done to bring both to the same state.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Synced {
    /// What came in; `None` where the copy had nothing new.
    pub pulled: Option<Copied>,
    /// What was sent; `None` where there was no need to look for it.
    pub pushed: Option<Copied>,
}

impl Remote {
    /// Brings in what is new of a copy, and sends what is new of the session.
    ///
    /// # Errors
    /// As [`Remote::push`] and [`Remote::pull`].
    pub fn sync(&self, store: &Store, name: &SessionName, dry_run: bool) -> RemoteResult<Synced> {
        let pull = PullOptions { dry_run, ..PullOptions::default() };
        let push = PushOptions { dry_run, ..PushOptions::default() };
        if !store.exists(name) {
            return Ok(Synced { pulled: Some(self.pull(store, name, &pull)?), pushed: None });
        }
        let session = store.open_exactly(name)?;
        match self.push(&session, &push) {
            // A history that was replaced elsewhere looks as if the two had gone apart.
            Err(RemoteError::Behind { .. } | RemoteError::Diverged(_)) => {}
            pushed => return Ok(Synced { pulled: None, pushed: Some(pushed?) }),
        }
        let pulled = Some(self.pull(store, name, &pull)?);
        // Files may be new here although the history is not.
        let pushed = if dry_run { None } else { Some(self.push(&session, &push)?) };
        Ok(Synced { pulled, pushed })
    }
}
