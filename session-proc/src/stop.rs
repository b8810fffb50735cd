//! Stopping background processes: asked, waited for, killed, and whoever is left is named.

use crate::dossier::StopRequest;
use crate::members::{Member, Snapshot};
use crate::signal::Signal;
use crate::target::{BETWEEN_LOOKS, KILL_PATIENCE, Survivor, Target, ask, kill, wait_for};
use crate::{Lifetime, ProcError, ProcessId, Registry, State, Status};
use chrono::Utc;
use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant};

/// A claim becomes a process within this time, or is stuck.
const START_PATIENCE: Duration = Duration::from_secs(10);

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The signal that asks: `TERM`, unless something else is wanted.
    pub signal: Signal,
    /// How long to wait before the processes that are left are killed.
    pub grace: Duration,
}

impl Default for Stop {
    /// `TERM`, and five seconds.
    fn default() -> Stop {
        Stop { signal: Signal::TERM, grace: Duration::from_secs(5) }
    }
}

/// Which processes to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// All of the session, also those whose record was lost, and what turns that are over have started by themselves.
    All,
    /// Those that are meant to end with the turn.
    Ephemeral,
    /// Of these, those that were started during a turn: what ends with it.
    OfTurn,
    /// Of these, those that still run. Whoever asks knows that no turn does: it is what one that is over has left.
    LeftOver,
}

/// What became of a background process that was to be stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// Which one.
    pub id: ProcessId,
    /// The process afterwards. `None`: it has no record.
    pub status: Option<Status>,
    /// The processes that were asked to end, or killed.
    pub signalled: Vec<Member>,
    /// Those that still run.
    pub survivors: Vec<Survivor>,
}

impl Registry {
    /// The processes that belong to a background process and run, also when its leader has ended. Writes nothing.
    ///
    /// # Errors
    /// As [`Registry::look`].
    pub fn members(&self, id: &ProcessId) -> Result<Vec<Member>, ProcError> {
        let entry = self.settled(id)?.1;
        if entry.is_at_home() { Ok(Snapshot::take()?.members(&entry.kin())) } else { Ok(Vec::new()) }
    }

    /// Stops a process with everything that belongs to it: the signal, the grace, `KILL`. One that has ended is no
    /// error; what it left running is stopped.
    ///
    /// Every target is checked right before each signal. The calling process and those that it descends from are never
    /// signalled; nor is what is in its group or session, unless it carries a mark that the caller does not carry.
    ///
    /// On disk when it returns: the record in its final state, *killed* if the process was running.
    ///
    /// # Errors
    /// [`ProcError::Misplaced`]; otherwise as [`Registry::status`]. A process that could not be stopped is in the answer.
    #[doc(alias = "Kill")]
    #[expect(clippy::missing_panics_doc, reason = "one target gives one answer")]
    pub fn stop(&self, id: &ProcessId, stop: &Stop) -> Result<Stopped, ProcError> {
        let target = self.target(id, stop)?;
        let mut stopped = self.stop_targets(vec![target], stop)?;
        Ok(stopped.pop().expect("one target gives one answer"))
    }

    /// Stops many at once, all within one grace.
    ///
    /// On disk when it returns: as after [`Registry::stop`], for each.
    ///
    /// # Errors
    /// As [`Registry::list`].
    #[doc(alias = "KillAll")]
    pub fn stop_all(&self, which: Which, stop: &Stop) -> Result<Vec<Stopped>, ProcError> {
        let mut targets = Vec::new();
        let is_meant = |status: &Status| match which {
            Which::All => true,
            Which::Ephemeral => status.lifetime == Some(Lifetime::Ephemeral),
            Which::OfTurn => status.lifetime == Some(Lifetime::Ephemeral) && status.has_turn,
            Which::LeftOver => {
                status.lifetime == Some(Lifetime::Ephemeral) && status.has_turn && !status.state.is_final()
            }
        };
        for status in self.list()?.processes.into_iter().filter(is_meant) {
            match self.target(&status.id, stop) {
                Ok(target) => targets.push(target),
                Err(ProcError::Misplaced { .. } | ProcError::NoProcess { .. } | ProcError::Unreadable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if which == Which::All {
            let known: HashSet<_> = targets.iter().filter_map(|target| target.kin.token.clone()).collect();
            targets.extend(self.lost_targets(&known)?);
        }
        self.stop_targets(targets, stop)
    }

    /// Announces the stop, so that whoever sees the end knows what it was.
    fn target(&self, id: &ProcessId, stop: &Stop) -> Result<Target, ProcError> {
        let end = Instant::now() + START_PATIENCE;
        while self.look(id)?.state == State::Starting && Instant::now() < end {
            thread::sleep(BETWEEN_LOOKS);
        }
        let grace_ms = u64::try_from(stop.grace.as_millis()).unwrap_or(u64::MAX);
        let change = self.change(id, |entry| {
            if !entry.is_at_home() {
                return Err(ProcError::Misplaced { path: entry.paths.record() });
            }
            if entry.record.as_ref().is_some_and(|record| record.state == State::Running) {
                entry.dossier.stop = Some(StopRequest { asked: Utc::now(), grace_ms });
            }
            Ok(entry.kin())
        })?;
        Ok(Target::new(id, change.answer, true))
    }

    fn stop_targets(&self, mut targets: Vec<Target>, stop: &Stop) -> Result<Vec<Stopped>, ProcError> {
        if stop.signal != Signal::KILL {
            ask(&mut targets, stop.signal, stop.grace)?;
        }
        kill(&mut targets)?;
        let snapshot = Snapshot::take()?;
        let mut stopped = Vec::new();
        for mut target in targets {
            let survivors = target.survivors(&snapshot);
            if let Some(supervisor) = target.kin.supervisor.as_ref().filter(|_| survivors.is_empty()) {
                wait_for(std::slice::from_ref(supervisor), KILL_PATIENCE)?;
            }
            let status = if target.has_record { Some(self.status(&target.id)?) } else { None };
            stopped.push(Stopped { id: target.id, status, signalled: target.signalled, survivors });
        }
        Ok(stopped)
    }
}
