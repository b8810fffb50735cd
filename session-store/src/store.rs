//! The directory that sessions live in.

use crate::chain::{self, Member};
use crate::create::{self, NewSession};
use crate::meta::{self, MetaReading};
use crate::{
    Clock, Inbox, LockGuard, Options, Redaction, Result, Session, SessionPaths, StoreError, default_dir, flat, lock,
    processes,
};
use session_core::{Redact, SessionName, Timestamp, layout};
use session_proc::{ProcError, ProcessId, Registry};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory full of sessions.
///
/// A value of this type is a path and options: opening it touches nothing, and verbs that read create nothing. The
/// directory is made by the first session that is created in it.
#[derive(Debug, Clone)]
#[doc(alias = "Manager")]
pub struct Store {
    base: PathBuf,
    options: Options,
    clock: Clock,
    cache_dir: Option<PathBuf>,
    redaction: Redaction,
}

impl Store {
    /// The store at [`default_dir`].
    ///
    /// # Errors
    /// [`StoreError::NoHome`] where no home directory is known.
    #[doc(alias = "NewManager")]
    pub fn open_default() -> Result<Self> {
        default_dir().map(Store::open_at)
    }

    /// The store at a directory, which need not exist.
    #[doc(alias = "NewManagerIn")]
    pub fn open_at(base: impl Into<PathBuf>) -> Self {
        Store {
            base: base.into(),
            options: Options::default(),
            clock: Clock::SYSTEM,
            cache_dir: None,
            redaction: Redaction::default(),
        }
    }

    /// The same store with other options.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Store { options, ..self }
    }

    /// The same store with another clock, which gives the time in the local zone. Stored times are UTC; only the date in
    /// a generated name is local.
    #[must_use]
    pub fn with_clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Store { clock: Clock::new(now), ..self }
    }

    /// The same store with a directory for what listing found out, in the user's cache directory as a rule: listing again
    /// then reads only what has changed. Without it nothing is kept.
    ///
    /// The directory is made by the first list. Its files may be deleted at any time, and damaged ones are passed over:
    /// it changes how long a list takes, never what it says.
    #[must_use]
    pub fn with_cache_dir(self, dir: impl Into<PathBuf>) -> Self {
        Store { cache_dir: Some(dir.into()), ..self }
    }

    /// The same store with a redactor for every session that is opened or created in it: see [`Session::redacted_by`].
    #[must_use]
    pub fn redacted_by(self, redactor: Arc<dyn Redact>) -> Self {
        Store { redaction: Redaction::by(redactor), ..self }
    }

    pub(crate) fn redaction(&self) -> &Redaction {
        &self.redaction
    }

    pub(crate) fn cache_dir(&self) -> Option<&Path> {
        self.cache_dir.as_deref()
    }

    /// The directory.
    #[doc(alias = "BaseDir")]
    pub fn base_dir(&self) -> &Path {
        &self.base
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Where a session of this name stands, whether it exists or not. Every path into the store is made here.
    ///
    /// # Errors
    /// [`StoreError::Escapes`] where the name is a symbolic link: a session stands directly in the store.
    pub fn paths(&self, name: &SessionName) -> Result<SessionPaths> {
        let dir = self.base.join(name);
        match dir.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => Err(StoreError::Escapes { path: dir }),
            Ok(_) => Ok(SessionPaths::new(dir)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Ok(SessionPaths::new(dir)),
                io::ErrorKind::NotADirectory => Err(StoreError::NotADirectory { path: self.base.clone() }),
                _ => Err(StoreError::read(&dir)(error)),
            },
        }
    }

    /// The paths of a session whose directory exists.
    pub(crate) fn existing(&self, name: &SessionName) -> Result<SessionPaths> {
        let paths = self.paths(name)?;
        match fs::symlink_metadata(paths.dir()) {
            Ok(metadata) if metadata.is_dir() => Ok(paths),
            Ok(_) => Err(StoreError::NotADirectory { path: paths.dir().to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(self.not_found(name)),
            Err(error) => Err(StoreError::read(paths.dir())(error)),
        }
    }

    /// The same, once its flat file, if it has one, was migrated.
    pub(crate) fn ready(&self, name: &SessionName) -> Result<SessionPaths> {
        self.paths(name)?;
        flat::migrate(&self.base, name, &self.options)?;
        self.existing(name)
    }

    pub(crate) fn not_found(&self, name: &SessionName) -> StoreError {
        StoreError::NotFound { name: name.to_string(), base: self.base.clone() }
    }

    /// Where the flat file of a session from before sessions were directories stands.
    pub(crate) fn flat_path(&self, name: &SessionName) -> PathBuf {
        self.base.join(format!("{name}{}", layout::FLAT_SUFFIX))
    }

    /// Whether a session of this name has a history, in its directory or in a flat file. A session that was created and
    /// in which nothing has happened has none; [`Store::open`] opens it all the same.
    #[doc(alias = "SessionExists")]
    pub fn exists(&self, name: &SessionName) -> bool {
        let is_file = |path: PathBuf| path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        self.paths(name).is_ok_and(|paths| is_file(paths.history())) || is_file(self.flat_path(name))
    }

    /// Creates a session and claims its name, in one step: it exists whole or not at all.
    ///
    /// On disk when it returns: the session's directory with its metadata, synced as the durability says, and no
    /// history; the store's directory where it was missing.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the name is taken; the step that failed otherwise.
    #[doc(alias = "GenerateSessionName")]
    pub fn create(&self, new: &NewSession) -> Result<Session> {
        let name = create::create(self, new)?;
        self.session(Member { paths: self.existing(&name)?, name, dangling: None })
    }

    /// Opens a session that exists, or the one that goes on with it: links to successors are followed. Where such a link
    /// leads nowhere, the last session that exists is opened: see [`Session::dangling_successor`].
    ///
    /// A session that is a flat file from before sessions were directories is migrated. Otherwise nothing is created and
    /// nothing changes.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::SuccessorLoop`] and [`StoreError::ChainTooLong`]; [`StoreError::Escapes`]
    /// where the name is a symbolic link; [`StoreError::Read`].
    pub fn open(&self, name: &SessionName) -> Result<Session> {
        self.session(chain::last_member(self, name)?)
    }

    /// Opens a session that exists, and not the one that goes on with it.
    ///
    /// A session that is a flat file from before sessions were directories is migrated. Otherwise nothing is created and
    /// nothing changes.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Escapes`] where the name is a symbolic link; [`StoreError::Read`].
    pub fn open_exactly(&self, name: &SessionName) -> Result<Session> {
        self.session(Member { paths: self.ready(name)?, name: name.clone(), dangling: None })
    }

    /// Opens a session, and creates it where it does not exist, as the reference's `Open` does.
    ///
    /// On disk when it returns: the session with its directories and its metadata.
    ///
    /// # Errors
    /// Those of [`Store::open`] but for `NotFound`, and those of [`Store::create`] but for `Exists`.
    #[doc(alias = "Open")]
    pub fn open_or_create(&self, name: &SessionName) -> Result<Session> {
        match self.open(name) {
            Err(StoreError::NotFound { .. }) => {}
            opened => {
                let session = opened?;
                session.complete()?;
                return Ok(session);
            }
        }
        match self.create(&NewSession { name: Some(name.clone()), ..NewSession::default() }) {
            // Another process was faster.
            Err(StoreError::Exists { .. }) => self.open(name),
            created => created,
        }
    }

    pub(crate) fn session(&self, member: Member) -> Result<Session> {
        let (name, paths, clock) = (member.name.to_string(), member.paths, self.clock.clone());
        let session = Session::new(name, paths, self.options, clock, member.dangling)?;
        Ok(session.with_redaction(self.redaction.clone()))
    }

    /// A session's metadata, without opening it. Links to successors are not followed, nothing is created.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Escapes`], [`StoreError::Read`]. Bad content is no error.
    #[doc(alias = "ReadMeta")]
    pub fn read_meta(&self, name: &SessionName) -> Result<MetaReading> {
        meta::read(&self.existing(name)?, name.as_str(), self.options.limits)
    }

    /// The messages that wait for a session's turn. The session is not opened, and nothing is created.
    ///
    /// # Errors
    /// [`StoreError::Escapes`] where a symbolic link has the name.
    #[doc(alias = "InboxDirFor")]
    pub fn inbox(&self, name: &SessionName) -> Result<Inbox> {
        Ok(Inbox::new(self.paths(name)?, name.as_str(), self.options.durability))
    }

    /// The background processes of a session. The session is not opened, and nothing is created.
    ///
    /// # Errors
    /// [`StoreError::Escapes`] where a symbolic link has the name, or stands in the place of the records.
    pub fn registry(&self, name: &SessionName) -> Result<Registry> {
        processes::registry(&self.paths(name)?)
    }

    /// The registry that has a background process: that of the session, or else that of the last session that it goes on
    /// with and that has one of this id. Where none has, the session's own. Nothing is created.
    ///
    /// # Errors
    /// As [`Store::registries`].
    pub fn registry_of(&self, name: &SessionName, id: &ProcessId) -> Result<(SessionName, Registry)> {
        let mut registries = self.registries(name)?;
        let has = |registry: &Registry| !matches!(registry.look(id), Err(ProcError::NoProcess { .. }));
        let at = registries.iter().position(|(_, registry)| has(registry)).unwrap_or_default();
        Ok(registries.swap_remove(at))
    }

    /// The background processes of a session, and of those that it goes on with, the last one first: a compaction leaves
    /// processes where they were started. Nothing is created.
    ///
    /// # Errors
    /// As [`Store::registry`]; failed reads.
    pub fn registries(&self, name: &SessionName) -> Result<Vec<(SessionName, Registry)>> {
        let paths = self.paths(name)?;
        let mut registries = vec![(name.clone(), processes::registry(&paths)?)];
        for (name, paths) in chain::predecessors(&paths, name.as_str(), self.options.limits)? {
            registries.push((name, processes::registry(&paths)?));
        }
        Ok(registries)
    }

    /// Takes the lock of a session, without opening it. Links to successors are not followed.
    ///
    /// # Errors
    /// As [`Session::lock`], and [`StoreError::NotFound`].
    #[doc(alias = "AcquireLock")]
    pub fn lock(&self, name: &SessionName) -> Result<LockGuard> {
        lock::acquire(&self.existing(name)?, name.as_str(), self.options.wait)
    }
}
