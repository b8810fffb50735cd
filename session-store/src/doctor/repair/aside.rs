//! Keeping what a repair replaces or moves away.

use crate::directory::make_own;
use crate::{Durability, Result, SessionPaths};
use session_core::{Timestamp, layout};
use session_disk::{hard_link, rename_new};
use std::io;
use std::path::{Path, PathBuf};

/// Where things of a session are kept.
pub(super) struct Aside<'a> {
    pub(super) paths: &'a SessionPaths,
    pub(super) now: Timestamp,
    pub(super) durability: Durability,
}

impl Aside<'_> {
    /// Moves a file into the backups. `None`: it is gone already.
    pub(super) fn take(&self, path: &Path) -> Result<Option<PathBuf>> {
        let kept = self.place(path)?;
        match rename_new(path, &kept) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            moved => {
                moved?;
                self.durability.sync_dir(&self.paths.backups())?;
                path.parent().map_or(Ok(()), |dir| self.durability.sync_dir(dir))?;
                Ok(Some(kept))
            }
        }
    }

    /// Gives a file that is about to be replaced a second name among the backups. `None`: there is none.
    pub(super) fn keep(&self, path: &Path) -> Result<Option<PathBuf>> {
        if !path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Ok(None);
        }
        let kept = self.place(path)?;
        hard_link(path, &kept)?;
        self.durability.sync_dir(&self.paths.backups())?;
        Ok(Some(kept))
    }

    fn place(&self, path: &Path) -> Result<PathBuf> {
        let dir = make_own(self.paths, &[layout::BACKUPS], self.durability)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (time, random) = (self.now.format("%Y%m%dT%H%M%SZ"), rand::random::<u64>());
        Ok(dir.join(format!("{}-{time}-{random:016x}", name.trim_start_matches('.'))))
    }
}
