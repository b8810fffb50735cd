//! Keeping turns out of a workspace while it is restored.

use super::place::Place;
use crate::context::Context;
use crate::failure::Failure;
use crate::kin::is_kin;
use session_proc::TurnMarker;
use session_store::{LockGuard, Options, Session, StoreError, Wait};
use std::time::Duration;

/// Takes the session's lock, so that no turn starts meanwhile. `None`: this process belongs to whoever holds the lock, or
/// runs the turn, and is one with it.
pub(super) fn hold(context: &Context, place: &Place, wait: Option<Duration>) -> Result<Option<LockGuard>, Failure> {
    let options = Options { wait: wait.map_or(Wait::No, Wait::UpTo), ..Options::default() };
    // Turns run in the session that the conversation goes on in.
    hold_session(&context.store_with(options).open(&place.name)?)
}

/// The same for a session that is open already.
pub(in crate::commands) fn hold_session(session: &Session) -> Result<Option<LockGuard>, Failure> {
    match session.lock() {
        Ok(guard) => match stranger(session)? {
            Some(pid) => Err(StoreError::LiveTurn { name: session.name().to_owned(), pid }.into()),
            None => Ok(Some(guard)),
        },
        Err(StoreError::Locked { holder, .. }) if holder.pid.map_or(Ok(false), is_kin)? => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The process of a live turn that this process is no part of.
fn stranger(session: &Session) -> Result<Option<i32>, Failure> {
    let Some(turn) = TurnMarker::read(&session.paths().proc()).map_err(StoreError::from)? else { return Ok(None) };
    Ok((!turn.is_of_this_process().map_err(StoreError::from)?).then_some(turn.pid))
}
