//! Processes that were started and whose record is not there, or says something else.

use crate::entry::Entry;
use crate::mark::Mark;
use crate::members::{Kin, Snapshot};
use crate::target::Target;
use crate::{Identity, ProcError, ProcessId, Registry, procfs};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A process that carries the mark of a start or of a turn in this session, and that no record leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The id that was claimed for the start; `turn` for what a turn has started by itself.
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
    /// It was started by a turn without a record, and the turn's process has ended.
    TurnOver,
}

/// All processes that carry a mark, as they stood at one look: for who asks about many sessions.
#[derive(Debug)]
pub struct MarkedProcesses(Vec<Marked>);

#[derive(Debug)]
struct Marked {
    process: Identity,
    mark: Mark,
    /// Where the mark's directory really is. The starter may have known it by another path.
    dir: PathBuf,
}

impl MarkedProcesses {
    /// Looks at every process. Those of other users cannot be looked into.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn look() -> Result<MarkedProcesses, ProcError> {
        let snapshot = Snapshot::take()?;
        let marked = |(process, mark): (Identity, &Mark)| Marked { process, mark: mark.clone(), dir: real(&mark.dir) };
        Ok(MarkedProcesses(snapshot.marked().map(marked).collect()))
    }
}

impl Registry {
    /// Finds what runs of this session's starts and cannot be found by its record, through the environment mark that
    /// every background process passes on. Processes of other users cannot be looked into. Writes nothing.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn lost(&self) -> Result<Vec<Lost>, ProcError> {
        self.lost_among(&MarkedProcesses::look()?)
    }

    /// The same, among processes that were looked at before.
    ///
    /// # Errors
    /// As [`Registry::lost`].
    pub fn lost_among(&self, marked: &MarkedProcesses) -> Result<Vec<Lost>, ProcError> {
        let mut lost = Vec::new();
        for Marked { process, mark, .. } in self.of_this_session(marked) {
            let why = self.why_lost(mark)?;
            let (command, process) = (procfs::command_name(process.pid), process.clone());
            lost.extend(why.map(|why| Lost { id: mark.id.clone(), process, command, why }));
        }
        lost.sort_by_key(|lost| (lost.process.start_ticks, lost.process.pid));
        Ok(lost)
    }

    fn of_this_session<'a>(&self, marked: &'a MarkedProcesses) -> impl Iterator<Item = &'a Marked> {
        let dir = real(&self.dir);
        marked.0.iter().filter(move |marked| marked.dir == dir)
    }

    fn why_lost(&self, mark: &Mark) -> Result<Option<LostWhy>, ProcError> {
        if let Some(turn) = mark.turn() {
            return Ok((!turn.is_live()?).then_some(LostWhy::TurnOver));
        }
        Ok(match self.settled(&mark.id).map(|(_, entry)| entry) {
            Err(ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => Some(LostWhy::NoRecord),
            Err(error) => return Err(error),
            Ok(entry) if token(&entry) != Some(&mark.token) => Some(LostWhy::OtherStart),
            Ok(entry) => {
                let is_final = entry.record.as_ref().is_some_and(|record| record.state.is_final());
                is_final.then_some(LostWhy::Outlived)
            }
        })
    }

    /// What a stop has to reach besides the recorded processes, by the tokens of their starts. What a live turn has
    /// started by itself is not among it.
    pub(crate) fn lost_targets(&self, known: &HashSet<String>) -> Result<Vec<Target>, ProcError> {
        let mut starts = BTreeMap::new();
        for Marked { mark, .. } in self.of_this_session(&MarkedProcesses::look()?) {
            if !known.contains(&mark.token)
                && mark.turn().map_or(Ok(true), |turn| turn.is_live().map(|is_live| !is_live))?
            {
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

fn real(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned())
}
