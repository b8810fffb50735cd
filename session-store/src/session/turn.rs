//! A turn of the agent.

use super::state::CLOSE_WAIT;
use crate::{LockGuard, Result, Session, StoreError};
use session_core::{Event, Extension, TurnMark, TurnPhase};
use session_proc::{ProcError, TurnMarker};

/// A turn that this process runs. It ends when it is ended, or dropped, and cannot outlive the lock that it runs under.
#[derive(Debug)]
#[must_use = "the turn is over as soon as it is dropped"]
pub struct Turn<'a> {
    session: &'a Session,
    /// Held for as long as the turn runs.
    _lock: &'a LockGuard,
    id: String,
}

impl Session {
    /// Starts a turn of this process, under the session's lock. `id` tells it from the session's other turns.
    ///
    /// On disk when it returns: the turn's marker under `proc/`. The event that says so is written with the first event
    /// of the turn, so that an empty turn leaves no trace in the history.
    ///
    /// # Errors
    /// [`StoreError::LiveTurn`] where a turn runs, also one of this process; [`StoreError::NotLocked`] where the lock is
    /// another session's; [`StoreError::LockLost`]; [`StoreError::Succeeded`]; [`StoreError::Deleted`]; the step that
    /// failed.
    #[doc(alias = "MarkTurnStart")]
    pub fn begin_turn<'a>(&'a self, lock: &'a LockGuard, id: &str) -> Result<Turn<'a>> {
        let mut state = self.state();
        self.verify()?;
        if !lock.held().is_of(&self.paths)? {
            return Err(StoreError::NotLocked { name: self.name.clone() });
        }
        lock.check()?;
        self.remember(lock);
        self.refuse_succeeded(&mut state)?;
        let marker = TurnMarker::start(&self.paths.proc(), id).map_err(|error| match error {
            ProcError::TurnLive { turn, .. } => StoreError::LiveTurn { name: self.name.clone(), pid: turn.pid },
            error => StoreError::Process(error),
        })?;
        state.turn = Some(marker);
        state.waiting.push(self.turn_event(id, TurnPhase::Start, "", None));
        Ok(Turn { session: self, _lock: lock, id: id.to_owned() })
    }

    fn turn_event(&self, id: &str, phase: TurnPhase, outcome: &str, checkpoint: Option<u64>) -> Event {
        let mark = TurnMark { id: id.to_owned(), phase, outcome: outcome.to_owned(), checkpoint };
        Extension::Turn(mark).into_event(self.clock.utc())
    }
}

impl Turn<'_> {
    /// The turn's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Ends the turn. `outcome` is how, such as `done`, `interrupted` or `failed`; `checkpoint` the turn number of the
    /// snapshot that belongs to this end.
    ///
    /// On disk when it returns: an `x.turn` event, unless the turn left no event at all; `updated` in the metadata; no
    /// marker.
    ///
    /// # Errors
    /// The first step that failed. The turn is over all the same.
    pub fn end(self, outcome: &str, checkpoint: Option<u64>) -> Result<()> {
        let session = self.session;
        let left_events = !self.takes_back_its_start();
        let told = if left_events {
            session.append(&[session.turn_event(&self.id, TurnPhase::End, outcome, checkpoint)]).map(drop)
        } else {
            Ok(())
        };
        let mut state = session.state();
        let settled = session.settle(&mut state, CLOSE_WAIT);
        let ended = state.turn.take().map_or(Ok(()), TurnMarker::end);
        told?;
        settled?;
        Ok(ended?)
    }

    /// Forgets the event of the start, if it still waits.
    fn takes_back_its_start(&self) -> bool {
        let mut state = self.session.state();
        let before = state.waiting.len();
        state.waiting.retain(|event| {
            !matches!(event.extension(), Some(Extension::Turn(mark)) if mark.phase == TurnPhase::Start && mark.id == self.id)
        });
        state.waiting.len() < before
    }
}

impl Drop for Turn<'_> {
    /// A turn that is dropped without an end was interrupted: its start stands in the history without an end, as that of
    /// a turn whose process died.
    fn drop(&mut self) {
        self.takes_back_its_start();
        // Dropping the marker removes it.
        drop(self.session.state().turn.take());
    }
}
