//! Processes that run, and whose record is not there or says something else.

use crate::entry::Entry;
use crate::id::recorded;
use crate::mark::Mark;
use crate::members::{Bond, Kin, Snapshot};
use crate::target::Target;
use crate::{Identity, ProcError, ProcessId, Registry, procfs};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A process of this session that runs, and of which no record says so.
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

/// Why no record says that a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostWhy {
    /// There is no record of the id, or it cannot be read.
    NoRecord,
    /// The record of the id is that of another start.
    OtherStart,
    /// The record says that the process has ended, to which this one belongs: it outlived it.
    Outlived,
    /// It was started by a turn without a record, and the turn's process has ended.
    TurnOver,
}

/// All processes and the marks that they carry, as they stood at one look: for who asks about many sessions.
#[derive(Debug)]
pub struct MarkedProcesses {
    all: Snapshot,
    marked: Vec<Marked>,
}

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
        let all = Snapshot::take()?;
        let marked = |(process, mark): (Identity, &Mark)| Marked { process, mark: mark.clone(), dir: real(&mark.dir) };
        let marked = all.marked().map(marked).collect();
        Ok(MarkedProcesses { all, marked })
    }
}

impl Registry {
    /// Finds what runs of this session's starts although no record says so: through the environment mark that every
    /// background process passes on, and through whatever else leads to the [members](Registry::members) of those that
    /// have ended. What only a number leads to, which may be another one's by now, is not among it. Processes of other
    /// users cannot be looked into. Writes nothing.
    ///
    /// # Errors
    /// When the directory or `/proc` cannot be read.
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
        for outlived in self.outlived(&marked.all)? {
            if !lost.iter().any(|lost| lost.process == outlived.process) {
                lost.push(outlived);
            }
        }
        // A record that says that a process has ended may be younger than the look at the process.
        let mut still_lost = Vec::new();
        for one in lost {
            still_lost.extend(one.process.liveness()?.is_live().then_some(one));
        }
        still_lost.sort_by_key(|lost| (lost.process.start_ticks, lost.process.pid));
        Ok(still_lost)
    }

    /// What processes that have ended have left running.
    fn outlived(&self, snapshot: &Snapshot) -> Result<Vec<Lost>, ProcError> {
        let mut outlived = Vec::new();
        for id in recorded(&self.dir)? {
            let entry = match self.settled(&id) {
                Ok((_, entry)) => entry,
                Err(ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => continue,
                Err(error) => return Err(error),
            };
            if !is_final(&entry) || !entry.is_at_home() {
                continue;
            }
            // What no stop would signal is not told as something that is to be stopped.
            let members = snapshot.members(&entry.kin()).into_iter().filter(|member| member.bond != Bond::Number);
            outlived.extend(members.map(|member| Lost {
                id: id.clone(),
                process: member.process,
                command: member.command,
                why: LostWhy::Outlived,
            }));
        }
        Ok(outlived)
    }

    fn of_this_session<'a>(&self, marked: &'a MarkedProcesses) -> impl Iterator<Item = &'a Marked> {
        let dir = real(&self.dir);
        marked.marked.iter().filter(move |marked| marked.dir == dir)
    }

    fn why_lost(&self, mark: &Mark) -> Result<Option<LostWhy>, ProcError> {
        if let Some(turn) = mark.turn() {
            return Ok((!turn.is_live()?).then_some(LostWhy::TurnOver));
        }
        Ok(match self.settled(&mark.id).map(|(_, entry)| entry) {
            Err(ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => Some(LostWhy::NoRecord),
            Err(error) => return Err(error),
            Ok(entry) if token(&entry) != Some(&mark.token) => Some(LostWhy::OtherStart),
            Ok(entry) => is_final(&entry).then_some(LostWhy::Outlived),
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

fn is_final(entry: &Entry) -> bool {
    entry.record.as_ref().is_some_and(|record| record.state.is_final())
}

fn real(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned())
}
