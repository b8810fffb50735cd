//! Everything that stands in a store under one session's name.

use crate::paths::{flat_path, migrated_path};
use crate::{Result, StoreError};
use session_core::SessionName;
use session_disk::is_absent;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// A part of a session, and what it is called in a trash entry. In the order in which parts are moved away: while the
/// directory stands, the session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The flat file.
    Flat,
    /// The flat file that was migrated.
    Migrated,
    /// The directory.
    Directory,
}

impl Part {
    pub(super) const ALL: [Part; 3] = [Part::Flat, Part::Migrated, Part::Directory];

    /// Where it stands in the store.
    pub(super) fn in_store(self, base: &Path, name: &SessionName) -> PathBuf {
        match self {
            Part::Flat => flat_path(base, name.as_str().as_ref()),
            Part::Migrated => migrated_path(base, name.as_str().as_ref()),
            Part::Directory => base.join(name),
        }
    }

    /// Where it stands in an entry of the trash.
    pub(super) fn in_entry(self, entry: &Path) -> PathBuf {
        entry.join(match self {
            Part::Flat => "flat",
            Part::Migrated => "migrated",
            Part::Directory => "session",
        })
    }
}

/// What a path names itself, be it a link; `None` for nothing.
pub(super) fn look(path: &Path) -> Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(StoreError::read(path)(source)),
    }
}
