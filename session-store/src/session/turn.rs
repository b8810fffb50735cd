//! A turn of the agent.

use super::state::CLOSE_WAIT;
use super::{TurnRepair, turn_start};
use crate::{LockGuard, Result, Session, StoreError, processes, rewind_record};
use session_core::{Event, Extension, TurnMark, TurnPhase};
use session_proc::{ProcError, Stop, Stopped, TurnMarker, Which};
use std::ffi::OsString;

/// A turn that this process runs. It ends when it is ended, or dropped, and cannot outlive the lock that it runs under.
#[derive(Debug)]
#[must_use = "the turn is over as soon as it is dropped"]
pub struct Turn<'a> {
    session: &'a Session,
    /// Held for as long as the turn runs.
    _lock: &'a LockGuard,
    id: String,
    repair: Option<TurnRepair>,
}

/// What the end of a turn did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The background processes that ended with it. One that could not be stopped says which process survived; a notice
    /// in the history says so too.
    pub stopped: Vec<Stopped>,
}

impl Session {
    /// Starts a turn of this process, under the session's lock. `id` tells it from the session's other turns.
    ///
    /// What a turn that crashed has left is cleared up first: the background processes that should have ended with it are
    /// stopped, which may take the time that they are given to end, and a notice in the history says what was found. See
    /// [`Turn::repair`].
    ///
    /// On disk when it returns: the turn's marker under `proc/`. The event that says so is written with the first event
    /// of the turn, whichever process appends it, so that an empty turn leaves no trace in the history.
    ///
    /// # Errors
    /// [`StoreError::LiveTurn`] where a turn runs, also one of this process; [`StoreError::NotLocked`] where the lock is
    /// another session's; [`StoreError::LockLost`]; [`StoreError::Succeeded`]; [`StoreError::RewindInterrupted`]; [`StoreError::Deleted`]; the step that
    /// failed.
    #[doc(alias = "MarkTurnStart")]
    pub fn begin_turn<'a>(&'a self, lock: &'a LockGuard, id: &str) -> Result<Turn<'a>> {
        self.begin_turn_at(lock, id, None)
    }

    /// The same, with the checkpoint that shows the workspace as the turn begins.
    ///
    /// # Errors
    /// As [`Session::begin_turn`].
    pub fn begin_turn_at<'a>(&'a self, lock: &'a LockGuard, id: &str, checkpoint: Option<u64>) -> Result<Turn<'a>> {
        self.verify()?;
        if !lock.held().is_of(&self.paths)? {
            return Err(StoreError::NotLocked { name: self.name.clone() });
        }
        lock.check()?;
        self.remember(lock);
        self.refuse_succeeded(&mut self.state())?;
        if let Some(path) = rewind_record::stands(&self.paths)? {
            return Err(StoreError::RewindInterrupted { name: self.name.clone(), path });
        }
        let live = |pid| StoreError::LiveTurn { name: self.name.clone(), pid };
        if let Some(turn) = TurnMarker::read(&self.paths.proc())? {
            return Err(live(turn.pid));
        }
        let repair = self.repair()?;
        let marker = TurnMarker::start(&self.paths.proc(), id).map_err(|error| match error {
            ProcError::TurnLive { turn, .. } => live(turn.pid),
            error => StoreError::Process(error),
        })?;
        // A failure drops the marker, which removes it.
        turn_start::put(&self.paths, &self.turn_event(id, TurnPhase::Start, "", checkpoint))?;
        self.state().turn = Some(marker);
        Ok(Turn { session: self, _lock: lock, id: id.to_owned(), repair })
    }

    pub(super) fn turn_event(&self, id: &str, phase: TurnPhase, outcome: &str, checkpoint: Option<u64>) -> Event {
        let mark = TurnMark { id: id.to_owned(), phase, outcome: outcome.to_owned(), checkpoint };
        Extension::Turn(mark).into_event(self.clock.utc())
    }
}

impl Turn<'_> {
    /// The turn's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What a turn that crashed had left, and what became of it.
    pub fn repair(&self) -> Option<&TurnRepair> {
        self.repair.as_ref()
    }

    /// The variable of the environment, and its value, with which this turn starts programs: if it crashes, they can be
    /// found. See [`TurnMarker::mark`].
    pub fn mark(&self) -> Option<(&'static str, OsString)> {
        self.session.state().turn.as_ref().map(TurnMarker::mark)
    }

    /// Ends the turn. The background processes that were started during it are stopped, unless they are persistent.
    /// `outcome` is how it ended, such as `done`, `interrupted` or `failed`; `checkpoint` the turn number of the snapshot
    /// that belongs to this end.
    ///
    /// On disk when it returns: the records of what was stopped; an `x.turn` event, unless the turn left no event at all;
    /// `updated` in the metadata; no marker.
    ///
    /// # Errors
    /// The first step that failed. The turn is over all the same.
    pub fn end(self, outcome: &str, checkpoint: Option<u64>) -> Result<TurnEnd> {
        let session = self.session;
        let stopped = self.stop_processes();
        let told = self.tell_end(outcome, checkpoint);
        let mut state = session.state();
        let settled = session.settle(&mut state, CLOSE_WAIT);
        let ended = state.turn.take().map_or(Ok(()), TurnMarker::end);
        drop(state);
        let stopped = stopped?;
        told?;
        settled?;
        ended?;
        Ok(TurnEnd { stopped })
    }

    fn stop_processes(&self) -> Result<Vec<Stopped>> {
        let stopped = self.session.registry()?.stop_all(Which::OfTurn, &Stop::default())?;
        let survivors = processes::survivors(&stopped);
        if !survivors.is_empty() {
            self.session
                .notice(format!("Some background processes could not be stopped: {}.", survivors.join("; ")))?;
        }
        Ok(stopped)
    }

    fn tell_end(&self, outcome: &str, checkpoint: Option<u64>) -> Result<()> {
        if turn_start::take_back(&self.session.paths, &self.id)? {
            return Ok(());
        }
        self.session.append(&[self.session.turn_event(&self.id, TurnPhase::End, outcome, checkpoint)]).map(drop)
    }
}

impl Drop for Turn<'_> {
    /// A turn that is dropped without an end was interrupted: its start stands in the history without an end, as that of
    /// a turn whose process died, and what it started in the background runs on. The next turn stops that.
    fn drop(&mut self) {
        if let Some(marker) = self.session.state().turn.take() {
            // What stays of the start belongs to no live turn, and is never written.
            drop(turn_start::take_back(&self.session.paths, &self.id));
            drop(marker);
        }
    }
}
