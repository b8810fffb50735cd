//! Giving the new history its name.

use super::backup::{Backup, backups, make_dir};
use super::{KeepBackup, Rewrite, late};
use crate::flock::{self, names};
use crate::history::last_line;
use crate::{Result, StoreError};
use session_core::{Event, Timestamp};
use session_disk::{hard_link, remove_file, rename};
use std::path::{Path, PathBuf};

/// How often what comes meanwhile is copied before the names change; what comes later is carried over then.
const ROUNDS: usize = 16;

impl Rewrite<'_> {
    /// Copies what is left, adds `events`, and puts the new history in the old one's place. Gives the path of the backup.
    ///
    /// On disk when it returns: the new history, the events last but for what came late; the old one in `.backup/`, if it
    /// is kept; all synced as the durability says. After an error the old history stands, or the new one whole, with the
    /// old one in `.backup/`.
    ///
    /// # Errors
    /// [`StoreError::LockLost`]; [`StoreError::Deleted`] where the path names another history meanwhile; the step that
    /// failed.
    pub(crate) fn end(mut self, events: &[Event], keep: KeepBackup, now: Timestamp) -> Result<Option<PathBuf>> {
        self.copy_upto(self.len)?;
        self.catch_up()?;
        self.add(events)?;
        self.flush()?;
        let history = self.paths.history();
        let Some(temp) = self.temp.clone() else { return Err(self.gone(&history)) };
        self.durability.sync_data(&self.new, &temp)?;
        // Who opens it under its name waits until what came late is in it.
        flock::exclusive(&self.new, &temp)?;
        self.lock.check()?;
        if !names(&history, &self.old)? {
            return Err(self.gone(&history));
        }
        let backup = self.name_backup(now)?;
        rename(&temp, &history)?;
        self.temp = None;
        self.durability.sync_dir(self.paths.dir())?;
        let backup = late::carry_settled(self.paths, &self.old, backup, self.durability)?;
        if keep == KeepBackup::No {
            remove_file(&backup)?;
            self.durability.sync_dir(&self.paths.backups())?;
        }
        Ok((keep == KeepBackup::Yes).then_some(backup))
    }

    /// Copies what was appended since the old history was locked: the reference asks for no lock.
    fn catch_up(&mut self) -> Result<()> {
        let history = self.paths.history();
        for _ in 0..ROUNDS {
            let len = self.old.metadata().map_err(StoreError::read(&history))?.len();
            let whole = last_line(&self.old, len).map_err(StoreError::read(&history))?;
            if whole <= self.at {
                break;
            }
            self.copy_upto(whole)?;
        }
        Ok(())
    }

    fn add(&mut self, events: &[Event]) -> Result<()> {
        if self.last.is_some_and(|last| last != b'\n') {
            self.push(b"\n")?;
        }
        let mut lines = Vec::new();
        events.iter().for_each(|event| event.encode(&mut lines));
        self.push(&lines)
    }

    /// Gives the old history its second name.
    fn name_backup(&self, now: Timestamp) -> Result<PathBuf> {
        make_dir(self.paths)?;
        // Names that an earlier try gave to what is still the history, and that is going to be more than they say.
        for left in backups(self.paths)?.iter().filter(|backup| backup.inode() == self.inode) {
            remove_file(&left.path)?;
        }
        let backup = Backup::path(self.paths, now, self.at);
        hard_link(&self.paths.history(), &backup)?;
        self.durability.sync_dir(&self.paths.backups())?;
        Ok(backup)
    }

    fn gone(&self, history: &Path) -> StoreError {
        let name = self.paths.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        StoreError::Deleted { name, path: history.to_owned() }
    }
}
