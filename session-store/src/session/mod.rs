//! One open session.

#[cfg(feature = "remote")]
mod adopt;
mod append;
mod fact;
mod metadata;
mod pin;
mod places;
mod price;
mod read;
mod repair;
mod state;
mod steering;
mod title;
mod turn;
mod turn_start;

pub use repair::TurnRepair;
pub use steering::{Steered, Steering};
pub use turn::{Turn, TurnEnd};

use crate::directory::hold;
use crate::flock::Inode;
use crate::lock::{self, Held};
use crate::staging::directories;
use crate::{Clock, LockGuard, Options, Redaction, Result, SessionPaths, StoreError};
use session_core::{Redact, Timestamp, layout};
use state::State;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// An open session: a directory with a conversation and everything else that outlives one turn.
///
/// It is used through a shared reference, from several threads if need be. Opening it takes no lock; see
/// [`Session::lock`].
#[derive(Debug)]
pub struct Session {
    name: String,
    paths: SessionPaths,
    /// The directory that was opened: another of its name is another session. Kept open, so that no other can have its
    /// inode.
    opened: (File, Inode),
    options: Options,
    clock: Clock,
    redaction: Redaction,
    dangling: Option<String>,
    held: Mutex<Weak<Held>>,
    state: Mutex<State>,
}

impl Session {
    pub(crate) fn new(
        name: String,
        paths: SessionPaths,
        options: Options,
        clock: Clock,
        dangling: Option<String>,
    ) -> Result<Self> {
        let opened = hold(paths.dir()).and_then(|opened| Ok((Inode::of(&opened.metadata()?), opened)));
        let (inode, opened) = opened.map_err(StoreError::read(paths.dir()))?;
        let state = Mutex::new(State::new(&paths, &name, options));
        let (redaction, held) = (Redaction::default(), Mutex::default());
        Ok(Session { name, paths, opened: (opened, inode), options, clock, redaction, dangling, held, state })
    }

    /// Opens or creates a session at any directory, as the reference's `OpenDir` does. Its name is the directory's; links
    /// to successors are not followed.
    ///
    /// On disk when it returns: the directory with those inside it, and its metadata.
    ///
    /// # Errors
    /// [`StoreError::NotADirectory`], [`StoreError::Read`], or the step that failed.
    #[doc(alias = "OpenDir")]
    pub fn open_dir(dir: impl AsRef<Path>, options: Options) -> Result<Self> {
        let dir = dir.as_ref();
        if dir.exists() && !dir.is_dir() {
            return Err(StoreError::NotADirectory { path: dir.to_owned() });
        }
        session_disk::create_dir_all(dir)?;
        // `.` has no name, and a relative path means another directory once the process has moved.
        let dir = dir.canonicalize().map_err(StoreError::read(dir))?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let session = Session::new(name, SessionPaths::new(dir), options, Clock::SYSTEM, None)?;
        session.complete()?;
        Ok(session)
    }

    /// The same session with a redactor: from here on it is asked about each line before it is written, and about the texts
    /// of the metadata that change. Where it fails, nothing is written and the error says so; text is never dropped.
    ///
    /// Spilled output and messages for the inbox are written as they are given.
    #[must_use]
    pub fn redacted_by(self, redactor: Arc<dyn Redact>) -> Self {
        self.with_redaction(Redaction::by(redactor))
    }

    pub(crate) fn with_redaction(mut self, redaction: Redaction) -> Self {
        self.state().history.redact_by(redaction.clone());
        self.redaction = redaction;
        self
    }

    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    /// Makes what the reference expects of a session that was opened: the directories and `meta.json`.
    pub(crate) fn complete(&self) -> Result<()> {
        directories(&self.paths)?;
        if self.paths.meta().symlink_metadata().is_ok() {
            return Ok(());
        }
        let now = self.clock.utc();
        self.change_meta(|meta| {
            meta.created = meta.created.or(Some(now));
            meta.updated = meta.updated.or(Some(now));
            Ok(())
        })?;
        Ok(())
    }

    /// The session's name: its directory's.
    #[doc(alias = "Name")]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The session's directory.
    #[doc(alias = "Dir")]
    pub fn dir(&self) -> &Path {
        self.paths.dir()
    }

    /// What stands where in it.
    pub fn paths(&self) -> &SessionPaths {
        &self.paths
    }

    /// The options that it was opened with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What this session names as its successor although there is no such session. It can be read; appending to it is
    /// refused as for every session that was succeeded.
    pub fn dangling_successor(&self) -> Option<&str> {
        self.dangling.as_deref()
    }

    /// Takes the session's lock: no other process, the reference's included, and no other handle of this process has it
    /// then. It is free again when the guard is dropped or this process dies. While it is held, each append through this
    /// handle makes sure first that it still is.
    ///
    /// On disk when it returns: `.lock`, which says who holds it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] names the holder, after the time that the options give; [`StoreError::LockUnsupported`];
    /// [`StoreError::Deleted`]; the step that failed.
    #[doc(alias = "AcquireLock")]
    pub fn lock(&self) -> Result<LockGuard> {
        self.verify()?;
        let guard =
            lock::acquire(&self.paths, &self.name, self.options.wait).map_err(|error| self.or_deleted(error))?;
        // It may have been replaced while this waited.
        self.verify()?;
        self.remember(&guard);
        Ok(guard)
    }

    /// From here on each append makes sure first that this lock is still held.
    pub(crate) fn remember(&self, guard: &LockGuard) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(guard.held());
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock that was taken through this handle, if it is still held.
    fn held_now(&self) -> Option<Arc<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    pub(crate) fn held(&self) -> Result<Arc<Held>> {
        self.held_now().ok_or_else(|| StoreError::NotLocked { name: self.name.clone() })
    }

    /// Whether the directory still is the one that was opened.
    pub(crate) fn verify(&self) -> Result<()> {
        if self.opened.1.is_at(self.paths.dir())? { Ok(()) } else { Err(self.deleted()) }
    }

    /// The present time, in UTC.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.utc()
    }

    fn deleted(&self) -> StoreError {
        StoreError::Deleted { name: self.name.clone(), path: self.paths.dir().join(layout::HISTORY) }
    }

    /// An error, or that the session is gone, which explains it.
    fn or_deleted(&self, error: StoreError) -> StoreError {
        match self.verify() {
            Err(gone @ StoreError::Deleted { .. }) => gone,
            Ok(()) | Err(_) => error,
        }
    }
}
