//! Parts of sessions that stand: spilled output, what is left of processes that ended, checkpoints.

use super::{Protection, spills};
use crate::{Result, SessionPaths, Store, TrashEntry, lock, processes, rewind_record, trash};
use session_core::{SessionName, counted, layout};
use session_proc::{ProcessId, Prune, TurnMarker};
use std::collections::BTreeSet;
use std::path::Path;

/// A part of a session that can be pruned by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PrunePart {
    /// The checkpoints, all of them.
    Checkpoints,
    /// The records and logs of background processes that have ended.
    Proc,
    /// Spilled output that no live message mentions.
    Tmp,
}

impl PrunePart {
    /// What it is called in a session's directory, and for machines.
    pub fn as_str(self) -> &'static str {
        match self {
            PrunePart::Checkpoints => layout::CHECKPOINTS,
            PrunePart::Proc => layout::PROC,
            PrunePart::Tmp => layout::TMP,
        }
    }

    /// What goes, in words.
    fn count(self, number: usize) -> String {
        let (one, several) = match self {
            PrunePart::Checkpoints => return "the checkpoints".to_owned(),
            PrunePart::Proc => ("process that has ended", "processes that have ended"),
            PrunePart::Tmp => ("spilled output that nothing mentions", "spilled outputs that nothing mentions"),
        };
        counted(number as u64, one, several)
    }
}

/// What of a part of a session would go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartPlan {
    /// The session.
    pub name: SessionName,
    /// Which part.
    pub part: PrunePart,
    /// What goes: the names of spilled outputs, the ids of processes, the name of the checkpoints' directory.
    pub doomed: BTreeSet<String>,
    /// How many of the same kind stay.
    pub kept: u64,
    /// What keeps all of them.
    pub protections: Vec<Protection>,
}

impl PartPlan {
    /// Keeps everything, for a reason that the store cannot know.
    pub fn keep(&mut self, why: Protection) {
        self.kept += self.doomed.len() as u64;
        self.doomed.clear();
        self.protections.push(why);
    }
}

impl Store {
    /// Says what [`Store::prune_part`] would move. Of spilled output that is what was written before the last event of the
    /// history and what no live message mentions. Reads only.
    ///
    /// # Errors
    /// [`crate::StoreError::NotFound`], [`crate::StoreError::Escapes`], [`crate::StoreError::Read`].
    pub fn plan_prune_part(&self, name: &SessionName, part: PrunePart) -> Result<PartPlan> {
        let paths = self.existing(name)?;
        let mut protections = Vec::new();
        protections.extend(TurnMarker::read(&paths.proc())?.map(|turn| Protection::LiveTurn { pid: turn.pid }));
        self.look_inside(name, &mut protections)?;
        let (doomed, kept) = match part {
            PrunePart::Tmp => spills::choose(&self.history(name)?, &paths, &mut protections)?,
            PrunePart::Proc => {
                // One that runs does not keep those that have ended.
                protections.retain(|protection| !matches!(protection, Protection::Processes { .. }));
                ended(&paths)?
            }
            PrunePart::Checkpoints => checkpoints(&paths, &mut protections)?,
        };
        let mut plan = PartPlan { name: name.clone(), part, doomed, kept, protections: Vec::new() };
        protections.into_iter().for_each(|why| plan.keep(why));
        Ok(plan)
    }

    /// Moves what a plan names into the trash, under the session's lock. What a plan that is made now does not name stays.
    ///
    /// On disk when it returns: the files in an entry of the trash of their own, synced as the durability says; restoring
    /// it puts them back. After an error each is in one of the two places. `None` where nothing is left to be moved.
    ///
    /// # Errors
    /// [`crate::StoreError::Locked`]; as [`Store::plan_prune_part`]; the step that failed.
    pub fn prune_part(&self, plan: &PartPlan) -> Result<Option<TrashEntry>> {
        let paths = self.existing(&plan.name)?;
        let lock = lock::acquire(&paths, plan.name.as_str(), self.options().wait)?;
        let now = self.plan_prune_part(&plan.name, plan.part)?;
        let both: BTreeSet<String> = plan.doomed.intersection(&now.doomed).cloned().collect();
        let entry = if both.is_empty() { None } else { self.move_part(&paths, plan, &both)? };
        lock.release()?;
        Ok(entry)
    }

    fn move_part(
        &self,
        paths: &SessionPaths,
        plan: &PartPlan,
        doomed: &BTreeSet<String>,
    ) -> Result<Option<TrashEntry>> {
        let why = format!("pruned: {}", plan.part.count(doomed.len()));
        let entry = trash::begin_files(self, &plan.name, plan.part.as_str(), &why)?;
        match plan.part {
            PrunePart::Checkpoints => entry.take(paths, layout::CHECKPOINTS.as_ref())?,
            PrunePart::Tmp => {
                doomed.iter().try_for_each(|file| entry.take(paths, &Path::new(layout::TMP).join(file)))?;
            }
            PrunePart::Proc => {
                let chosen = |id: &ProcessId| doomed.contains(id.as_str());
                let take = |file: &Path| {
                    entry.take(paths, &Path::new(layout::PROC).join(file.file_name().unwrap_or_default()))
                };
                processes::registry(paths)?.prune_into(&Prune::default(), chosen, take)?;
            }
        }
        entry.end(paths)
    }
}

/// The processes that have ended and whose records can go, and how many others there are.
fn ended(paths: &SessionPaths) -> Result<(BTreeSet<String>, u64)> {
    let registry = processes::registry(paths)?;
    let all = registry.list()?.processes.len();
    let doomed: BTreeSet<String> =
        registry.prunable(&Prune::default())?.into_iter().map(|status| status.id.to_string()).collect();
    let kept = all.saturating_sub(doomed.len()) as u64;
    Ok((doomed, kept))
}

/// The checkpoints' directory, if it is one. A rewind that has not ended needs them.
fn checkpoints(paths: &SessionPaths, protections: &mut Vec<Protection>) -> Result<(BTreeSet<String>, u64)> {
    if rewind_record::stands(paths)?.is_some() {
        protections.push(Protection::Rewind);
    }
    let is_there = paths.checkpoints().symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    Ok((is_there.then(|| layout::CHECKPOINTS.to_owned()).into_iter().collect(), 0))
}
