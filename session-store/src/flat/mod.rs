//! Flat files: what a session was before it was a directory. `<base>/<name>.jsonl` holds one message a line.
//!
//! Reading takes them as they are; opening migrates ([`migrate`]). While a flat file and a directory of one name both
//! exist, [`Standing::of`] says which of them is the session, so that an interrupted migration hides nothing.

mod compare;
mod convert;
mod migrate;
mod place;

pub(crate) use migrate::{RENAME_AGE, migrate};

use crate::candidate::Candidate;
use crate::paths::{flat_path, migrated_path};
use crate::{HistoryView, Result};
use compare::{Relation, compare};
use session_core::Limits;
use std::ffi::OsStr;
use std::path::Path;

/// Which form of a session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionForm {
    /// The directory.
    Directory,
    /// The flat file, from before sessions were directories.
    Flat,
}

/// What became of a session's flat file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlatFile {
    /// There is none.
    Absent,
    /// It was not migrated yet: it is the session.
    Waiting,
    /// Its migration was interrupted: the directory holds a part of it, and it is the session.
    Interrupted,
    /// It was migrated and will be renamed when the session is next opened.
    Migrated,
    /// The directory holds another conversation, which is the session. The flat file is left alone.
    Shadowed,
}

/// What is to be read for a session.
#[derive(Debug)]
pub(crate) struct Standing {
    /// The file of the form that counts. `None` for a directory without a history.
    pub(crate) history: Option<HistoryView>,
    pub(crate) form: SessionForm,
    pub(crate) flat: FlatFile,
}

impl Standing {
    /// No history and no flat file.
    pub(crate) const NOTHING: Standing =
        Standing { history: None, form: SessionForm::Directory, flat: FlatFile::Absent };

    /// Looks at both forms of a session.
    ///
    /// # Errors
    /// What reading the files reports. A flat file that cannot be read hides no history.
    pub(crate) fn of(base: &Path, candidate: &Candidate, limits: Limits) -> Result<Self> {
        let name = candidate.name.as_os_str();
        let paths = candidate.paths(base);
        let history = paths.map_or(Ok(None), |paths| HistoryView::at(&paths.history(), limits))?;
        let flat = match source(base, name, history.as_ref(), limits) {
            Err(_) if history.is_some() => None,
            flat => flat?,
        };
        let is_renamed = flat.as_ref().is_some_and(|flat| flat.path() == migrated_path(base, name));
        let (flat_file, form) = match (&history, &flat) {
            (_, None) => (FlatFile::Absent, SessionForm::Directory),
            (None, Some(_)) => (FlatFile::Waiting, SessionForm::Flat),
            (Some(history), Some(flat)) => match compare(history, flat)? {
                Relation::Interrupted { .. } => (FlatFile::Interrupted, SessionForm::Flat),
                Relation::Complete | Relation::Different if is_renamed => (FlatFile::Absent, SessionForm::Directory),
                Relation::Complete => (FlatFile::Migrated, SessionForm::Directory),
                Relation::Different => (FlatFile::Shadowed, SessionForm::Directory),
            },
        };
        let history = match form {
            SessionForm::Directory => history,
            SessionForm::Flat => flat,
        };
        Ok(Standing { history, form, flat: flat_file })
    }
}

/// The flat file; or, where the history is empty, the one that was migrated: the reference empties a history when the
/// flat file vanishes in the middle of its own migration.
fn source(base: &Path, name: &OsStr, history: Option<&HistoryView>, limits: Limits) -> Result<Option<HistoryView>> {
    match HistoryView::at(&flat_path(base, name), limits)? {
        None if history.is_some_and(|history| history.len_bytes() == 0) => {
            HistoryView::at(&migrated_path(base, name), limits)
        }
        flat => Ok(flat),
    }
}
