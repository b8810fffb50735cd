//! Spilled output that the conversation does not mention any more.

use super::Protection;
use crate::{HistoryView, Result, SessionPaths, Store, TrashEntry, lock, spill, trash};
use chrono::{DateTime, Utc};
use session_core::{Item, Replay, SessionName, Timestamp};
use session_proc::TurnMarker;
use std::collections::BTreeSet;
use std::io::{Read as _, Seek as _, SeekFrom};

/// Which spilled outputs of a session would go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpillPlan {
    /// The session.
    pub name: SessionName,
    /// The files in its `tmp/` that no live message mentions, by name.
    pub doomed: BTreeSet<String>,
    /// How many stay: the live conversation mentions them, or they are newer than its last event.
    pub kept: u64,
    /// What keeps all of them.
    pub protections: Vec<Protection>,
}

impl Store {
    /// Says which spilled outputs [`Store::prune_spills`] would move: those that were written before the last event of the
    /// history and that no live message mentions. Reads only.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`], [`crate::StoreError::Escapes`], [`crate::StoreError::Read`].
    pub fn plan_prune_spills(&self, name: &SessionName) -> Result<SpillPlan> {
        let paths = self.existing(name)?;
        let mut protections = Vec::new();
        protections.extend(TurnMarker::read(&paths.proc())?.map(|turn| Protection::LiveTurn { pid: turn.pid }));
        self.look_inside(name, &mut protections)?;
        let view = self.history(name)?;
        let known = spill::names(&paths)?;
        let mut mentioned = BTreeSet::new();
        let defects = each_live_line(&view, |line| spill::mentions(line, &known, &mut mentioned))?;
        if defects > 0 {
            protections.push(Protection::Damaged { what: format!("{defects} lines of its history cannot be read") });
        }
        let is_old = |name: &String| is_older(&paths, name, view.modified());
        let all = known.len() as u64;
        let mut doomed: BTreeSet<String> =
            known.into_iter().filter(|name| !mentioned.contains(name) && is_old(name)).collect();
        if !protections.is_empty() {
            doomed.clear();
        }
        Ok(SpillPlan { name: name.clone(), kept: all - doomed.len() as u64, doomed, protections })
    }

    /// Moves what a plan names into the trash, under the session's lock. What is mentioned by now stays.
    ///
    /// On disk when it returns: the files in an entry of the trash of their own, synced as the durability says; restoring
    /// it puts them back. After an error each is in one of the two places. `None` where nothing is left to be moved.
    ///
    /// # Errors
    /// [`crate::StoreError::Locked`]; as [`Store::plan_prune_spills`]; the step that failed.
    pub fn prune_spills(&self, plan: &SpillPlan) -> Result<Option<TrashEntry>> {
        let paths = self.existing(&plan.name)?;
        let lock = lock::acquire(&paths, plan.name.as_str(), self.options().wait)?;
        let now = self.plan_prune_spills(&plan.name)?;
        let both: Vec<String> = plan.doomed.intersection(&now.doomed).cloned().collect();
        let entry = if both.is_empty() { None } else { Some(trash::trash_spills(self, &plan.name, &paths, &both)?) };
        lock.release()?;
        Ok(entry)
    }
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
        let mut line = Vec::new();
        let mut reader = view.reader();
        let read = reader.seek(SeekFrom::Start(offset)).map(|_| reader.take(len));
        view.told(read.and_then(|mut reader| reader.read_to_end(&mut line)))?;
        act(&line);
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
