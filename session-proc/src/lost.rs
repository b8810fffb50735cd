//! Processes that were started and whose record is not there, or says something else.

use crate::entry::Entry;
use crate::members::{Kin, Snapshot};
use crate::target::Target;
use crate::{Identity, ProcError, ProcessId, Registry, procfs};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

/// A process that carries the mark of a start in this session, and that no record leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The id that was claimed for the start.
    pub id: ProcessId,
    /// Which process.
    pub process: Identity,
    /// Its command name, as it calls itself: escape it before it reaches a terminal.
    pub command: Option<String>,
    /// What is wrong.
    pub why: LostWhy,
}

/// Why no record leads to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostWhy {
    /// There is no record of the id, or it cannot be read.
    NoRecord,
    /// The record of the id is that of another start.
    OtherStart,
    /// The record says that the process has ended: this one outlived it.
    Outlived,
}

impl Registry {
    /// Finds what runs of this session's starts and cannot be found by its record, through the environment mark that
    /// every background process passes on. Processes of other users cannot be looked into. Writes nothing.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn lost(&self) -> Result<Vec<Lost>, ProcError> {
        let snapshot = Snapshot::take()?;
        let mut lost = Vec::new();
        for (process, mark) in snapshot.marked().filter(|(_, mark)| is_same_dir(&mark.dir, &self.dir)) {
            let why = match self.settled(&mark.id).map(|(_, entry)| entry) {
                Err(ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => Some(LostWhy::NoRecord),
                Err(error) => return Err(error),
                Ok(entry) if token(&entry) != Some(&mark.token) => Some(LostWhy::OtherStart),
                Ok(entry) => {
                    let is_final = entry.record.as_ref().is_some_and(|record| record.state.is_final());
                    is_final.then_some(LostWhy::Outlived)
                }
            };
            let command = procfs::command_name(process.pid);
            lost.extend(why.map(|why| Lost { id: mark.id.clone(), process, command, why }));
        }
        lost.sort_by_key(|lost| (lost.process.start_ticks, lost.process.pid));
        Ok(lost)
    }

    /// What a stop has to reach besides the recorded processes, by the tokens of their starts.
    pub(crate) fn lost_targets(&self, known: &HashSet<String>) -> Result<Vec<Target>, ProcError> {
        let snapshot = Snapshot::take()?;
        let mut starts = BTreeMap::new();
        for (_, mark) in snapshot.marked() {
            if is_same_dir(&mark.dir, &self.dir) && !known.contains(&mark.token) {
                starts.insert(mark.token.clone(), mark.id.clone());
            }
        }
        let target =
            |(token, id): (String, ProcessId)| Target::new(&id, Kin { token: Some(token), ..Kin::default() }, false);
        Ok(starts.into_iter().map(target).collect())
    }
}

fn token(entry: &Entry) -> Option<&String> {
    entry.dossier.origin.as_ref().map(|origin| &origin.token)
}

/// The starter may have known the directory by another path.
fn is_same_dir(a: &Path, b: &Path) -> bool {
    a == b || matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
