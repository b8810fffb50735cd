//! Removing the records of processes that have ended.

use crate::entry::{Entry, is_younger};
use crate::id::{last_number, names};
use crate::{ProcError, ProcessId, Registry, Status, dir_lock, settle};
use chrono::{DateTime, TimeDelta, Utc};
use session_core::layout;
use session_disk::remove_file_if_there;
use std::fs;
use std::path::{Path, PathBuf};

/// A claim and a temporary file live for seconds.
const OLD: TimeDelta = TimeDelta::hours(1);

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
    /// On disk when it returns: nothing of them. A record goes last, so that an id is not given again before. Files that belong to no process go, too: [`Registry::leftovers`].
    ///
    /// # Errors
    /// The step that failed; what was removed until then stays removed.
    pub fn prune(&self, prune: &Prune) -> Result<Vec<ProcessId>, ProcError> {
        let remove = |path: &Path| remove_file_if_there(path).map(drop).map_err(ProcError::from);
        let pruned = self.prune_into(prune, |_| true, remove)?;
        self.sweep()?;
        Ok(pruned)
    }

    /// As [`Registry::prune`], of the processes that `choose` chooses; `take` removes each file, or moves it away. It may
    /// be gone when it is asked for. Returns the ids.
    ///
    /// On disk when it returns: what `take` has left. A record is taken last.
    ///
    /// # Errors
    /// The step that failed; what was taken until then stays taken.
    pub fn prune_into<E: From<ProcError>>(
        &self,
        prune: &Prune,
        choose: impl Fn(&ProcessId) -> bool,
        mut take: impl FnMut(&Path) -> Result<(), E>,
    ) -> Result<Vec<ProcessId>, E> {
        let mut pruned = Vec::new();
        for status in self.prunable(prune)?.into_iter().filter(|status| choose(&status.id)) {
            let _lock = dir_lock::lock(&self.dir)?;
            // Somebody may have taken it up again since.
            let Some(mut entry) = Entry::load(&self.paths(&status.id))? else { continue };
            settle::settle(&mut entry)?;
            if !entry.record.as_ref().is_some_and(|record| record.state.is_final()) {
                continue;
            }
            for path in entry.paths.all().into_iter().filter(|path| path.symlink_metadata().is_ok()) {
                take(&path)?;
            }
            pruned.push(status.id);
        }
        Ok(pruned)
    }

    /// Files that belong to no process and that a prune removes: empty records of claims that were given up in favour of
    /// the reference or by a death, what stands beside a record that is not there, and temporary files of writers that
    /// died. What was written within the last hour may be at work, and is not among it. Writes nothing.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>, ProcError> {
        let last = last_number(&self.dir)?;
        let mut left = Vec::new();
        for name in names(&self.dir)? {
            let path = self.dir.join(&name);
            let is_left = if name.starts_with(layout::TEMPORARY) {
                is_old(&path, |_| true)
            } else {
                // The highest number stays taken, by whatever file.
                part_of(&name).is_some_and(|id| id.number() != Some(last) && self.is_leftover(&id, &path))
            };
            left.extend(is_left.then_some(path));
        }
        left.sort();
        Ok(left)
    }

    fn is_leftover(&self, id: &ProcessId, path: &Path) -> bool {
        let paths = self.paths(id);
        if path == paths.record() {
            !paths.dossier().exists() && is_old(path, |len| len == 0)
        } else {
            !paths.record().exists() && is_old(path, |_| true)
        }
    }

    fn sweep(&self) -> Result<(), ProcError> {
        for path in self.leftovers()? {
            // Another prune at the same time may be faster.
            remove_file_if_there(&path)?;
        }
        Ok(())
    }

    fn is_supervised(&self, id: &ProcessId) -> Result<bool, ProcError> {
        Entry::load(&self.paths(id))?.map_or(Ok(false), |entry| entry.is_supervised())
    }
}

/// The id of the process that a file of this name is a part of.
fn part_of(name: &str) -> Option<ProcessId> {
    const PARTS: [&str; 3] = [".json", ".log", ".exit"];
    const DOT_PARTS: [&str; 2] = [".id", ".cut"];
    let stem = match name.strip_prefix('.') {
        Some(rest) => DOT_PARTS.iter().find_map(|part| rest.strip_suffix(part)),
        None => PARTS.iter().find_map(|part| name.strip_suffix(part)),
    };
    ProcessId::new(stem?).ok()
}

/// Whether a regular file was written long ago and has such a length.
fn is_old(path: &Path, has_len: impl FnOnce(u64) -> bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|file| {
        let is_young = file.modified().map_or(true, |modified| is_younger(modified.into(), OLD));
        file.is_file() && has_len(file.len()) && !is_young
    })
}
