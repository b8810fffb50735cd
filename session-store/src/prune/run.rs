//! Carrying a plan out.

use super::plan::{Doomed, PrunePlan, Seen};
use crate::{Deletion, Empties, Result, SessionInfo, Store, StoreError, TrashEntry, trash};
use session_core::SessionName;
use std::collections::HashMap;

/// What pruning did.
#[derive(Debug, Default)]
#[must_use = "it tells which sessions stand where they stood, and why"]
#[non_exhaustive]
pub struct Pruned {
    /// What is in the trash now.
    pub trashed: Vec<TrashEntry>,
    /// What stands where it stood, and why.
    pub failed: Vec<(SessionName, StoreError)>,
}

impl Store {
    /// Moves what a plan names into the trash, one session after the other. One that was used, pinned or replaced since
    /// it was planned stays, and no process is stopped.
    ///
    /// On disk when it returns: each session whole, in the trash or in its place, also after a crash; planning and
    /// pruning again does the rest.
    ///
    /// # Errors
    /// As [`Store::list`]. One that cannot be moved is part of the answer, and keeps none of the others.
    pub fn prune(&self, plan: &PrunePlan) -> Result<Pruned> {
        let mut pruned = Pruned::default();
        let now = self.list(Empties::Show)?;
        let now: HashMap<&str, &SessionInfo> = now.iter().map(|info| (info.name.as_str(), info)).collect();
        for doomed in &plan.doomed {
            let info = now.get(doomed.name.as_str()).copied();
            let seen = info.map(Seen::of).transpose();
            match seen.and_then(|seen| self.prune_one(doomed, seen.as_ref())) {
                Ok(entry) => pruned.trashed.push(entry),
                Err(error) => pruned.failed.push((doomed.name.clone(), error)),
            }
        }
        Ok(pruned)
    }

    fn prune_one(&self, doomed: &Doomed, seen: Option<&Seen>) -> Result<TrashEntry> {
        let name = &doomed.name;
        let mut protections = Vec::new();
        if seen == Some(&doomed.seen) && self.base_dir().join(name).is_dir() {
            self.look_inside(name, &mut protections)?;
        }
        if seen != Some(&doomed.seen) || !protections.is_empty() {
            return Err(StoreError::PruneChanged { name: name.clone() });
        }
        let reasons: Vec<String> = doomed.reasons.iter().map(ToString::to_string).collect();
        let why = format!("pruned: {}", reasons.join(", "));
        trash::trash_seen(self, name, &why, Deletion::Careful, doomed.seen.inode)
    }
}
