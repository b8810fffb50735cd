//! The journal of a restore: there from before its first change until after its last.

use crate::layout::Layout;
use crate::options::ConflictPolicy;
use crate::point::{Point, TurnRef};
use crate::rel_path::RelPath;
use crate::{Error, Oid, stored};
use serde::{Deserialize, Serialize};
use session_disk::Durability;

/// What an interrupted restore needs to be resumed or undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// The name of what is restored.
    pub(crate) target: String,
    pub(crate) target_commit: Oid,
    /// The safety snapshot of the workspace before the first change.
    pub(crate) safety: u32,
    pub(crate) safety_commit: Oid,
    /// Part of the names of our temporary files in the workspace.
    pub(crate) token: u64,
    /// The same of the restores that this one resumes or undoes.
    #[serde(default)]
    pub(crate) earlier_tokens: Vec<u64>,
    /// Only these paths and what lies below them; all where it is empty.
    pub(crate) paths: Vec<RelPath>,
    /// Only these, from the list of the session's own changes.
    pub(crate) mine: Option<Vec<RelPath>>,
    pub(crate) policy: ConflictPolicy,
    /// Of one that leaves what is in conflict: those paths. The safety snapshot holds what they were edited to, so that a
    /// restore which resumes this one could not tell them from the rest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left: Vec<RelPath>,
    pub(crate) time_ms: i64,
}

/// A restore that did not end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Interrupted {
    /// What was being restored.
    pub target: String,
    /// The safety snapshot of the workspace as it was before.
    pub safety: u32,
    /// When it began, in milliseconds since 1970, UTC.
    pub time_ms: i64,
    /// Whether all of the target was asked for: without limits, and not leaving what is in conflict.
    pub whole: bool,
}

impl Journal {
    pub(crate) fn told(&self) -> Interrupted {
        Interrupted { target: self.target.clone(), safety: self.safety, time_ms: self.time_ms, whole: self.is_whole() }
    }

    /// Whether all of the target was asked for.
    pub(crate) fn is_whole(&self) -> bool {
        self.paths.is_empty() && self.mine.is_none() && self.policy != ConflictPolicy::KeepMine
    }

    /// The name of the target for those who take names.
    pub(crate) fn target_ref(&self) -> Option<TurnRef> {
        self.target.parse().ok()
    }

    pub(crate) fn is_of(&self, target: &Point) -> bool {
        self.target_commit == target.oid
    }

    /// Puts it on the disk, synced: from here on the restore can be found.
    pub(crate) fn write(&self, layout: &Layout) -> Result<(), Error> {
        let bytes = serde_json::to_vec(self).expect("a journal has string keys and no failing serializer");
        Ok(session_disk::replace(&layout.journal(), &bytes, Durability::Data)?)
    }
}

/// Reads the journal, if there is one.
pub(crate) fn read(layout: &Layout) -> Result<Option<Journal>, Error> {
    let path = layout.journal();
    let Some(bytes) = stored::read(&path)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|_| Error::Damaged { path })
}

/// Removes it: the restore is complete.
pub(crate) fn remove(layout: &Layout) -> Result<(), Error> {
    session_disk::remove_file(&layout.journal())?;
    Ok(session_disk::sync_dir(&layout.store)?)
}
