//! What is known about one session's metadata, and when it may be believed.

use super::key::{Key, Moment};
use crate::{MetaReading, MetaSource, SessionPaths};
use serde::{Deserialize, Serialize};
use session_core::{Fields, Meta};
use std::path::Path;

/// What is known about a session's metadata: only what came whole from `meta.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct KnownMeta {
    file: Key,
    /// Our copy, if there is one.
    copy: Option<Key>,
    seen: Moment,
    /// What a list shows, as `meta.json` has it.
    shown: String,
}

impl KnownMeta {
    /// Looks at the files before they are read.
    pub(in super::super) fn look(paths: &SessionPaths, begun: Moment) -> Option<Self> {
        let key = |path: &Path| path.symlink_metadata().ok().map(|metadata| Key::of(&metadata));
        Some(KnownMeta { file: key(&paths.meta())?, copy: key(&paths.meta_copy()), seen: begun, shown: String::new() })
    }

    /// What is known, if the files are still as `now` saw them.
    pub(in super::super) fn believed(&self, now: &KnownMeta) -> Option<Meta> {
        let keys = [Some(self.file), self.copy];
        let is_same = keys == [Some(now.file), now.copy];
        let had_settled = keys.iter().flatten().all(|key| key.had_settled(self.seen));
        if is_same && had_settled { Meta::parse(self.shown.as_bytes()).ok() } else { None }
    }

    /// The same with what was read, if it can be kept.
    pub(in super::super) fn with(self, reading: &MetaReading) -> Option<Self> {
        if reading.source != MetaSource::File || reading.damage.is_some() {
            return None;
        }
        let shown = Meta {
            first_prompt: String::new(),
            summary: String::new(),
            extra: Fields::new(),
            x: Fields::new(),
            ..reading.meta.clone()
        };
        Some(KnownMeta { shown: String::from_utf8(shown.to_json()).ok()?, ..self })
    }
}
