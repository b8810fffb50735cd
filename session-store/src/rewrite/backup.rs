//! What a replaced history is called.

use crate::directory::{files, make_own, own};
use crate::flock::Inode;
use crate::{Durability, Result, SessionPaths};
use session_core::{Timestamp, layout};
use session_disk::rename;
use std::fs::Metadata;
use std::path::PathBuf;

/// A history that another one has replaced: `history-<time>-<bytes>-<random>`, where `bytes` says how much of it went
/// into the new one, as it stood or changed. What is behind that came late.
#[derive(Debug, Clone)]
pub(crate) struct Backup {
    pub(crate) path: PathBuf,
    /// How much of it is in the history.
    pub(crate) decided_bytes: u64,
    pub(crate) metadata: Metadata,
    stem: String,
    random: String,
}

impl Backup {
    /// The path of a new one.
    pub(super) fn path(paths: &SessionPaths, now: Timestamp, decided_bytes: u64) -> PathBuf {
        let (time, random) = (now.format("%Y%m%dT%H%M%SZ"), rand::random::<u64>());
        paths.backups().join(format!("history-{time}-{decided_bytes}-{random:016x}"))
    }

    /// Makes its name say that so many bytes more are in the history.
    pub(super) fn move_on(&mut self, bytes: u64) -> Result<()> {
        let decided_bytes = self.decided_bytes + bytes;
        let path = self.path.with_file_name(format!("{}-{decided_bytes}-{}", self.stem, self.random));
        rename(&self.path, &path)?;
        (self.path, self.decided_bytes) = (path, decided_bytes);
        Ok(())
    }

    /// Which file it is.
    pub(crate) fn inode(&self) -> Inode {
        Inode::of(&self.metadata)
    }

    /// `None` for a name that is no backup's.
    fn of(path: PathBuf, metadata: Metadata) -> Option<Self> {
        let mut parts = path.file_name()?.to_str()?.rsplitn(3, '-');
        let (random, decided, stem) = (parts.next()?.to_owned(), parts.next()?, parts.next()?.to_owned());
        let decided_bytes = decided.parse().ok()?;
        Some(Backup { decided_bytes, metadata, stem, random, path })
    }
}

/// The backups of a session, the oldest first.
///
/// # Errors
/// What keeps the directory from being read; [`crate::StoreError::Escapes`] where it is a symbolic link. One that is missing
/// holds none.
pub(crate) fn backups(paths: &SessionPaths) -> Result<Vec<Backup>> {
    let dir = own(paths, &[layout::BACKUPS])?;
    Ok(files(&dir)?.into_iter().filter_map(|(path, metadata)| Backup::of(path, metadata)).collect())
}

/// Makes the directory of backups where it is missing, its entry synced.
pub(super) fn make_dir(paths: &SessionPaths) -> Result<()> {
    make_own(paths, &[layout::BACKUPS], Durability::Data).map(drop)
}
