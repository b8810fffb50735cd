//! What a list found out about sessions, kept for the next one in a file of the user's cache directory.
//!
//! It can be deleted at any time and costs time, never truth. An entry is believed only while every file that it was
//! read from is the same, as far as a look at the file can tell, and was not written just before it was read. A history
//! that has only grown is counted from where the last count ended, if the bytes before that place are still the same.
//! A cache file that is missing, damaged, of another version, or cannot be written is the same as none.

mod file;
mod history;
mod key;
mod metadata;
mod quiet;

pub(super) use history::{Conversed, Counting, Known};
pub(super) use key::Moment;
pub(super) use metadata::KnownMeta;
pub(super) use quiet::Quiet;

use file::CacheFile;
use serde::{Deserialize, Serialize};
use session_core::Limits;
use std::collections::HashMap;
use std::path::Path;

/// What is known about the sessions of one store.
#[derive(Debug)]
pub(super) struct Cache {
    /// Where it is kept; `None`: nowhere.
    file: Option<CacheFile>,
    /// When this list began.
    begun: Moment,
    entries: HashMap<String, Entry>,
}

/// What is known about one session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) history: Option<Known>,
    pub(super) meta: Option<KnownMeta>,
    pub(super) quiet: Option<Quiet>,
}

impl Cache {
    /// The cache of the store at `base`, in the directory `dir`. Whatever is wrong with it, it is an empty one then.
    pub(super) fn load(dir: Option<&Path>, base: &Path, limits: Limits) -> Self {
        let begun = Moment::now();
        let file = dir.and_then(|dir| Some(CacheFile::new(dir, &base.canonicalize().ok()?, limits)));
        let entries = file.as_ref().and_then(CacheFile::read).unwrap_or_default();
        Cache { file, begun, entries }
    }

    /// When this list began.
    pub(super) fn begun(&self) -> Moment {
        self.begun
    }

    /// What is known about a session, believable or not.
    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Keeps what a list found: `found` are all sessions that it looked at, and with `whole` all that there are.
    ///
    /// Nothing is synced, and no failure told: the next list would only be slower.
    pub(super) fn keep(mut self, found: Vec<(String, Entry)>, whole: bool) {
        let Some(file) = self.file.take() else { return };
        let is_news = |(name, entry): &(String, Entry)| self.entries.get(name) != Some(entry);
        if !found.iter().any(is_news) && (!whole || found.len() == self.entries.len()) {
            return;
        }
        let mut entries = if whole { HashMap::new() } else { self.entries };
        entries.extend(found);
        file.write(&entries);
    }
}
