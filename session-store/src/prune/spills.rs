//! Spilled output that the conversation does not mention any more.

use super::Protection;
use crate::{HistoryView, Result, SessionPaths, spill};
use chrono::{DateTime, Utc};
use session_core::{Item, Replay, Timestamp, counted};
use std::collections::BTreeSet;

/// The files of a session's `tmp/` that were written before its last event and that no live message mentions, and how
/// many others there are. Where a line cannot be read, nobody can say what it mentions.
pub(super) fn choose(
    view: &HistoryView,
    paths: &SessionPaths,
    protections: &mut Vec<Protection>,
) -> Result<(BTreeSet<String>, u64)> {
    let known = spill::names(paths)?;
    let mut mentioned = BTreeSet::new();
    let defects = each_live_line(view, |line| spill::mentions(line, &known, &mut mentioned))?;
    if defects > 0 {
        protections.push(Protection::Damaged {
            what: format!("{} of its history cannot be read", counted(defects, "line", "lines")),
        });
    }
    let is_old = |name: &String| is_older(paths, name, view.modified());
    let all = known.len() as u64;
    let doomed: BTreeSet<String> = known.into_iter().filter(|name| !mentioned.contains(name) && is_old(name)).collect();
    let kept = all - doomed.len() as u64;
    Ok((doomed, kept))
}

/// Gives the lines of the live messages, and says how many lines could not be read.
fn each_live_line(view: &HistoryView, mut act: impl FnMut(&[u8])) -> Result<u64> {
    let (mut live, mut defects) = (Replay::new(), 0);
    for item in view.forwards() {
        match view.told(item)? {
            Item::Defect(defect) => defects += u64::from(defect.is_skipped()),
            Item::Record(record) => live.event(&record.event.effect(), || (record.place.offset, record.len)),
        }
    }
    for (offset, len) in live.into_live() {
        act(&view.line(offset, len)?);
    }
    Ok(defects)
}

/// Whether a file was written before the history was: a newer one may be what the next message mentions. What cannot be
/// told is newer.
fn is_older(paths: &SessionPaths, name: &str, history: Option<Timestamp>) -> bool {
    let written = paths.tmp().join(name).symlink_metadata().and_then(|metadata| metadata.modified());
    let Ok(written) = written.map(DateTime::<Utc>::from) else { return false };
    history.is_some_and(|history| written < history)
}
