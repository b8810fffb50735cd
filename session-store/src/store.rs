//! The directory that sessions live in.

use crate::paths::flat_path;
use crate::{Clock, Options, Redaction, Result, SessionPaths, StoreError, default_dir, flat};
use session_core::{Redact, SessionName, Timestamp};
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

    /// The same store with a redactor for every session that is opened or created in it: see
    /// [`Session::redacted_by`](crate::Session::redacted_by).
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
        flat_path(&self.base, name.as_str().as_ref())
    }

    /// Whether something has this name: then [`Store::create`] does not give it again. A session exists as soon as it was
    /// created, also while nothing has happened in it.
    pub fn exists(&self, name: &SessionName) -> bool {
        let is_there = |paths: SessionPaths| paths.dir().symlink_metadata().is_ok();
        self.paths(name).is_ok_and(is_there) || is_file(&self.flat_path(name))
    }

    /// Whether a session of this name has a history, in its directory or in a flat file. A session that was created and
    /// in which nothing has happened has none; [`Store::open`] opens it all the same.
    #[doc(alias = "SessionExists")]
    pub fn has_history(&self, name: &SessionName) -> bool {
        self.paths(name).is_ok_and(|paths| is_file(&paths.history())) || is_file(&self.flat_path(name))
    }
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}
