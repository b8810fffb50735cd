//! Holding the lock.

use super::{LockHolder, file};
use crate::flock::{names, unlock};
use crate::{Result, SessionPaths, StoreError};
use session_disk::{truncate, write_at};
use std::fs::File;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

/// The lock of a session, held until it is dropped or the process dies.
///
/// ```
/// # fn main() -> session_store::Result<()> {
/// # let dir = tempfile::tempdir().expect("a scratch directory");
/// # let store = session_store::Store::open_at(dir.path().join("sessions"));
/// let session = store.create(&session_store::NewSession::default())?;
/// let lock = session.lock()?;
/// assert!(session.lock().is_err());
/// lock.release()?;
/// assert!(session.lock().is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[doc(alias = "AcquireLock")]
#[must_use = "the lock is free as soon as the guard is dropped"]
pub struct LockGuard {
    held: Arc<Held>,
}

impl LockGuard {
    pub(super) fn new(held: Arc<Held>) -> Self {
        LockGuard { held }
    }

    pub(crate) fn held(&self) -> &Arc<Held> {
        &self.held
    }

    /// Whether the lock still is the session's: an append under it asks this first.
    ///
    /// Where somebody removed the lock file, it is taken anew if nobody else has it. A lock that was lost once stays
    /// lost.
    ///
    /// # Errors
    /// [`StoreError::LockLost`] where the session's directory is gone or replaced, or another holds the new file.
    pub fn check(&self) -> Result<()> {
        self.held.check()
    }

    /// Frees the lock, as dropping does, and says whether that worked. An append of another thread that is under way
    /// under this lock still ends under it.
    ///
    /// On disk when it returns: `.lock`, empty.
    ///
    /// # Errors
    /// The step that failed. The lock is free all the same.
    pub fn release(self) -> Result<()> {
        match Arc::into_inner(self.held) {
            Some(held) => held.release(),
            None => Ok(()),
        }
    }
}

/// The two locked files.
#[derive(Debug)]
pub(crate) struct Held {
    name: String,
    paths: SessionPaths,
    dir: File,
    /// `None` once the lock was lost.
    file: Mutex<Option<File>>,
    pid: u32,
}

impl Held {
    pub(super) fn new(name: &str, paths: SessionPaths, dir: File, file: File) -> Self {
        Held { name: name.to_owned(), paths, dir, file: Mutex::new(Some(file)), pid: process::id() }
    }

    /// Whether this is the lock of the session at `paths`.
    pub(crate) fn is_of(&self, paths: &SessionPaths) -> Result<bool> {
        names(paths.dir(), &self.dir)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.paths.lock();
        if let Some(file) = slot.as_ref()
            && names(self.paths.dir(), &self.dir)?
        {
            if names(&lock, file)? {
                return Ok(());
            }
            let text = LockHolder::read(file);
            if let Some(file) = file::take(&lock)? {
                text.iter().for_each(|text| write_text(&file, &self.paths, text));
                *slot = Some(file);
                return Ok(());
            }
        }
        *slot = None;
        Err(StoreError::LockLost { name: self.name.clone() })
    }

    /// Writes who holds the lock.
    pub(super) fn say_who(&self, holder: &LockHolder) {
        let slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        slot.iter().for_each(|file| write_text(file, &self.paths, holder));
    }

    fn release(&self) -> Result<()> {
        // After a fork the copy of this process shares the lock: it closes its descriptors and frees nothing.
        if self.pid != process::id() {
            return Ok(());
        }
        let path = self.paths.lock();
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        let emptied = file.as_ref().map_or(Ok(()), |file| truncate(file, &path, 0));
        let unlocked = file.as_ref().map_or(Ok(()), |file| unlock(file, &path));
        unlock(&self.dir, self.paths.dir())?;
        unlocked?;
        Ok(emptied?)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // There is nobody to tell. The kernel frees the lock when the descriptors are closed, which is next; a text that
        // stays is only information.
        drop(self.release());
    }
}

/// Replaces the text of the lock file. A text that cannot be written (a full disk) makes no lock less held.
fn write_text(file: &File, paths: &SessionPaths, holder: &LockHolder) {
    let path = paths.lock();
    drop(truncate(file, &path, 0).and_then(|()| write_at(file, &path, 0, holder.to_text().as_bytes())));
}
