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
use key::{Lookout, Seen};
use serde::{Deserialize, Serialize};
use session_core::Limits;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

/// What is known about the sessions of one store.
#[derive(Debug)]
pub(super) struct Cache {
    /// Where it is kept; `None`: nowhere.
    file: Option<CacheFile>,
    /// The store's directory, if it can be opened.
    lookout: Option<Lookout>,
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

/// Which sessions a list has looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// All that there are: what is known of others is forgotten.
    All,
    Some,
}

/// What a list found out about a part of a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found<T> {
    /// What the cache says.
    Same,
    /// This; `None`: nothing that could be kept.
    New(Option<T>),
}

impl<T: Clone> Found<T> {
    fn or(self, before: Option<&T>) -> Option<T> {
        match self {
            Found::Same => before.cloned(),
            Found::New(found) => found,
        }
    }
}

/// What a list found out about a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct News {
    pub(super) history: Found<Known>,
    pub(super) meta: Found<KnownMeta>,
    pub(super) quiet: Found<Quiet>,
}

impl News {
    /// There is nothing to know of it.
    pub(super) const NONE: Self = News { history: Found::New(None), meta: Found::New(None), quiet: Found::New(None) };
    /// All that the cache says still holds, as far as anybody looked.
    pub(super) const SAME: Self = News { history: Found::Same, meta: Found::Same, quiet: Found::Same };

    fn or(self, before: Option<&Entry>) -> Entry {
        Entry {
            history: self.history.or(before.and_then(|before| before.history.as_ref())),
            meta: self.meta.or(before.and_then(|before| before.meta.as_ref())),
            quiet: self.quiet.or(before.and_then(|before| before.quiet.as_ref())),
        }
    }
}

impl Cache {
    /// The cache of the store at `base`, in the directory `dir`. Whatever is wrong with it, it is an empty one then.
    pub(super) fn load(dir: Option<&Path>, base: &Path, limits: Limits) -> Self {
        let begun = Moment::now();
        let file = dir.and_then(|dir| Some(CacheFile::new(dir, &base.canonicalize().ok()?, limits)));
        let entries = file.as_ref().and_then(CacheFile::read).unwrap_or_default();
        Cache { file, lookout: Lookout::open(base).ok(), begun, entries }
    }

    /// When this list began.
    pub(super) fn begun(&self) -> Moment {
        self.begun
    }

    /// What stands under a name in a session's directory.
    fn look(&self, session: &OsStr, file: &str) -> Seen {
        self.lookout.as_ref().map_or(Seen::Odd, |lookout| lookout.look(session, file))
    }

    /// What is known about a session, believable or not.
    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Keeps what a list found.
    ///
    /// Nothing is synced, and no failure told: the next list would only be slower.
    pub(super) fn keep(mut self, found: Vec<(String, News)>, kept: Kept) {
        let Some(file) = self.file.take() else { return };
        let is_known = |(name, news): &(String, News)| *news == News::SAME && self.entries.contains_key(name);
        if found.iter().all(is_known) && (kept == Kept::Some || found.len() == self.entries.len()) {
            return;
        }
        let entry = |(name, news): (String, News)| {
            let entry = news.or(self.entries.get(&name));
            (name, entry)
        };
        let found: HashMap<String, Entry> = found.into_iter().map(entry).collect();
        let entries = match kept {
            Kept::All => found,
            Kept::Some => self.entries.clone().into_iter().chain(found).collect(),
        };
        if entries != self.entries {
            file.write(&entries);
        }
    }
}
