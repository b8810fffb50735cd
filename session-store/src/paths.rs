//! The paths inside one session's directory, and those of flat files beside it.

use session_core::layout;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A session's directory, and what stands where in it. Nothing is touched by asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    dir: PathBuf,
}

impl SessionPaths {
    /// The paths of the session at `dir`.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        SessionPaths { dir: dir.into() }
    }

    /// The directory.
    #[doc(alias = "Dir")]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The append-only transcript.
    #[doc(alias = "HistoryPath")]
    pub fn history(&self) -> PathBuf {
        self.dir.join(layout::HISTORY)
    }

    /// The metadata.
    pub fn meta(&self) -> PathBuf {
        self.dir.join(layout::META)
    }

    /// Our full copy of the metadata.
    pub fn meta_copy(&self) -> PathBuf {
        self.dir.join(layout::META_COPY)
    }

    /// The lock of the metadata.
    pub(crate) fn meta_lock(&self) -> PathBuf {
        self.dir.join(layout::META_LOCK)
    }

    /// The lock file.
    pub fn lock(&self) -> PathBuf {
        self.dir.join(layout::LOCK)
    }

    /// The shadow repository.
    #[doc(alias = "CheckpointsDir")]
    pub fn checkpoints(&self) -> PathBuf {
        self.dir.join(layout::CHECKPOINTS)
    }

    /// Records and logs of background processes, and the turn's marker.
    #[doc(alias = "ProcDir")]
    pub fn proc(&self) -> PathBuf {
        self.dir.join(layout::PROC)
    }

    /// The start of the running turn, until it is written.
    pub(crate) fn turn_start(&self) -> PathBuf {
        self.proc().join(layout::TURN_START)
    }

    /// Messages that wait for the turn.
    #[doc(alias = "InboxDir")]
    #[doc(alias = "InboxDirFor")]
    pub fn inbox(&self) -> PathBuf {
        self.dir.join(layout::INBOX)
    }

    /// Tool output that is too large for a message.
    #[doc(alias = "TmpDir")]
    pub fn tmp(&self) -> PathBuf {
        self.dir.join(layout::TMP)
    }

    /// Histories as they were before another one took their place.
    pub fn backups(&self) -> PathBuf {
        self.dir.join(layout::BACKUPS)
    }

    /// Bytes that were taken out of the history.
    pub fn quarantine(&self) -> PathBuf {
        self.dir.join(layout::QUARANTINE)
    }

    /// Records of an import that nobody understood.
    pub fn raw(&self) -> PathBuf {
        self.dir.join(layout::RAW)
    }

    /// What is known of the session's copies in object stores.
    #[cfg(feature = "remote")]
    pub(crate) fn remote(&self) -> PathBuf {
        self.dir.join(layout::REMOTE)
    }
}

/// The flat file of a session.
pub(crate) fn flat_path(base: &Path, name: &OsStr) -> PathBuf {
    base.join(with_suffix(name, layout::FLAT_SUFFIX))
}

/// What the flat file is called once it was migrated.
pub(crate) fn migrated_path(base: &Path, name: &OsStr) -> PathBuf {
    base.join(with_suffix(&with_suffix(name, layout::FLAT_SUFFIX), layout::MIGRATED_SUFFIX))
}

/// Where what is built or deleted stands until it is whole or gone. Whatever nobody holds there may be removed at any time.
pub(crate) fn staging_path(base: &Path) -> PathBuf {
    base.join(layout::STORE).join(layout::STAGING)
}

/// A name with something behind it.
pub(crate) fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}
