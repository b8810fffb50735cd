//! What a push or a pull did, or would do.

use super::manifest::Manifest;
use super::{RemoteError, Traffic};
use session_core::SessionName;

/// What was, or would be, done about one of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Both were the same.
    Nothing,
    /// It was made.
    Made,
    /// What was new was added.
    Added,
    /// Its history was replaced by one that was scrubbed or repaired: a new generation.
    Replaced,
    /// It has more than the other one; nothing was done.
    Ahead,
}

/// What a push or a pull did, or would do. A push changes the copy, a pull the session here.
#[derive(Debug)]
#[non_exhaustive]
pub struct Copied {
    /// The session here.
    pub session: SessionName,
    /// The name of its copy.
    pub copy: SessionName,
    /// What became of the one that was to be changed.
    pub change: Change,
    /// The generation of the copy.
    pub generation: u64,
    /// How long the history is that both have now.
    pub history_bytes: u64,
    /// How much of that one of them did not have before.
    pub new_bytes: u64,
    /// The other files that are new or changed.
    pub files: u64,
    /// Files that were changed here and there, each in its own way: both stay as they are.
    pub conflicts: Vec<String>,
    /// Why the state of the copy is not remembered here, where it could not be written down. All else was done; the next
    /// time takes longer.
    pub not_remembered: Option<RemoteError>,
    /// What was sent and received.
    pub traffic: Traffic,
}

impl Copied {
    /// What a pull does that makes the history here the copy's, before anything is fetched. `before` is how long the
    /// history here was.
    pub(super) fn by_pull(session: &SessionName, copy: &SessionName, manifest: &Manifest, before: u64) -> Self {
        let history_bytes = manifest.history.bytes;
        Copied {
            session: session.clone(),
            copy: copy.clone(),
            change: Change::Made,
            generation: manifest.generation,
            history_bytes,
            new_bytes: history_bytes.saturating_sub(before),
            files: 0,
            conflicts: Vec::new(),
            not_remembered: None,
            traffic: Traffic::default(),
        }
    }
}
