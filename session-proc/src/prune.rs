//! Removing the records of processes that have ended.

use crate::entry::Entry;
use crate::id::last_number;
use crate::{ProcError, ProcessId, Registry, Status, dir_lock, settle};
use chrono::{DateTime, Utc};
use session_disk::remove_file;
use std::io::ErrorKind;

/// Which records of ended processes to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prune {
    /// Only of processes that ended before this moment.
    pub ended_before: Option<DateTime<Utc>>,
    /// Keep this many of those that ended last.
    pub keep: usize,
}

impl Registry {
    /// What [`Registry::prune`] would remove now, oldest start first. Writes nothing.
    ///
    /// Never among it: a process that runs, one whose supervisor still works, a record under another name, and the
    /// record with the highest number, because its id would be given again.
    ///
    /// # Errors
    /// As [`Registry::list`].
    pub fn prunable(&self, prune: &Prune) -> Result<Vec<Status>, ProcError> {
        let last = last_number(&self.dir)?;
        let mut ended = self.list()?.processes;
        ended.retain(|status| status.state.is_final());
        ended.sort_by_key(|status| status.ended);
        ended.truncate(ended.len().saturating_sub(prune.keep));
        ended.retain(|status| prune.ended_before.is_none_or(|before| status.ended.is_some_and(|ended| ended < before)));
        ended.retain(|status| status.id.number() != Some(last) && status.recorded_id == status.id.as_str());
        let mut prunable = Vec::new();
        for status in ended {
            if !self.is_supervised(&status.id)? {
                prunable.push(status);
            }
        }
        prunable.sort_by(|a, b| (a.started, a.id.rank()).cmp(&(b.started, b.id.rank())));
        Ok(prunable)
    }

    /// Removes the records, logs and statuses of processes that have ended. Returns the ids.
    ///
    /// On disk when it returns: nothing of them. A record goes last, so that an id is not given again before.
    ///
    /// # Errors
    /// The step that failed; what was removed until then stays removed.
    pub fn prune(&self, prune: &Prune) -> Result<Vec<ProcessId>, ProcError> {
        let mut pruned = Vec::new();
        for status in self.prunable(prune)? {
            let _lock = dir_lock::lock(&self.dir)?;
            // Somebody may have taken it up again since.
            let Some(mut entry) = Entry::load(&self.paths(&status.id))? else { continue };
            settle::settle(&mut entry)?;
            if !entry.record.as_ref().is_some_and(|record| record.state.is_final()) {
                continue;
            }
            for path in entry.paths.all() {
                match remove_file(&path) {
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    removed => removed?,
                }
            }
            pruned.push(status.id);
        }
        Ok(pruned)
    }

    fn is_supervised(&self, id: &ProcessId) -> Result<bool, ProcError> {
        let Some(entry) = Entry::load(&self.paths(id))? else { return Ok(false) };
        match &entry.dossier.supervisor {
            Some(supervisor) => Ok(supervisor.liveness()?.is_live()),
            None => Ok(false),
        }
    }
}
