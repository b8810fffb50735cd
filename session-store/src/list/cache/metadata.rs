//! What is known about one session's metadata, and when it may be believed.

use super::Cache;
use super::key::{Key, Moment, Seen};
use crate::{MetaReading, MetaSource, workspace};
use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use session_core::{Meta, Timestamp, layout};
use std::ffi::OsStr;

/// What is known about a session's metadata: only what came whole from `meta.json`, or, where there is neither that nor
/// our copy, from the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct KnownMeta {
    file: Option<Key>,
    /// Our copy, if there is one.
    copy: Option<Key>,
    seen: Moment,
    shown: Shown,
}

/// What a list shows of the metadata.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Shown {
    title: String,
    workspace: String,
    workspace_id: Option<String>,
    model: String,
    parent: String,
    succeeded_by: String,
    created: Option<Time>,
    updated: Option<Time>,
    cost: f64,
}

/// Seconds since 1970, nanoseconds, and the seconds that local time is ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Time(i64, u32, i32);

impl From<&Timestamp> for Time {
    fn from(ts: &Timestamp) -> Self {
        Time(ts.timestamp(), ts.timestamp_subsec_nanos(), ts.offset().local_minus_utc())
    }
}

impl Time {
    fn timestamp(self) -> Option<Timestamp> {
        Some(DateTime::from_timestamp(self.0, self.1)?.with_timezone(&FixedOffset::east_opt(self.2)?))
    }
}

impl From<Meta> for Shown {
    fn from(meta: Meta) -> Self {
        Shown {
            workspace_id: workspace::id_of(&meta),
            title: meta.title,
            workspace: meta.workspace,
            model: meta.model,
            parent: meta.parent,
            succeeded_by: meta.succeeded_by,
            created: meta.created.as_ref().map(Time::from),
            updated: meta.updated.as_ref().map(Time::from),
            cost: meta.cost,
        }
    }
}

impl From<Shown> for Meta {
    fn from(shown: Shown) -> Self {
        let mut meta = Meta {
            title: shown.title,
            workspace: shown.workspace,
            model: shown.model,
            parent: shown.parent,
            succeeded_by: shown.succeeded_by,
            created: shown.created.and_then(Time::timestamp),
            updated: shown.updated.and_then(Time::timestamp),
            cost: shown.cost,
            ..Meta::default()
        };
        if let Some(id) = shown.workspace_id {
            workspace::set_id(&mut meta, id);
        }
        meta
    }
}

impl KnownMeta {
    /// Looks at the files before they are read.
    pub(in super::super) fn look(cache: &Cache, session: &OsStr) -> Option<Self> {
        let key = |name| match cache.look(session, name) {
            Seen::File(key) => Some(Some(key)),
            Seen::Nothing => Some(None),
            Seen::Directory(_) | Seen::Odd => None,
        };
        let (file, copy) = (key(layout::META)?, key(layout::META_COPY)?);
        Some(KnownMeta { file, copy, seen: cache.begun(), shown: Shown::default() })
    }

    /// What is known, if the files are still as `now` saw them. `history_stands`: the history is the one that was read.
    pub(in super::super) fn believed(&self, now: &KnownMeta, history_stands: bool) -> Option<Meta> {
        let keys = [self.file, self.copy];
        let is_same = keys == [now.file, now.copy];
        let had_settled = keys.iter().flatten().all(|key| key.had_settled(self.seen));
        let has_a_source = self.file.is_some() || history_stands;
        (is_same && had_settled && has_a_source).then(|| self.shown.clone().into())
    }

    /// The same with what was read, if it can be kept.
    pub(in super::super) fn with(self, reading: &MetaReading) -> Option<Self> {
        let is_whole = match reading.source {
            MetaSource::File => true,
            MetaSource::History => self.file.is_none() && self.copy.is_none(),
            MetaSource::Copy | MetaSource::Nothing => false,
        };
        if !is_whole || reading.damage.is_some() {
            return None;
        }
        Some(KnownMeta { shown: reading.meta.clone().into(), ..self })
    }
}
