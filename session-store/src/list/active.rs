//! Whose turn runs.

use crate::candidate::candidates;
use crate::{Result, StoreError};
use session_core::SessionName;
use session_proc::{LiveTurn, TurnMarker};
use std::path::Path;

/// The sessions whose turn runs.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ActiveTurns {
    /// Them, by name.
    pub turns: Vec<ActiveTurn>,
    /// Why it could not be told for others.
    pub unreadable: Vec<StoreError>,
}

/// A session whose turn runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActiveTurn {
    /// The session.
    pub session: SessionName,
    /// Who runs the turn, and since when.
    pub turn: LiveTurn,
}

/// Every live turn in the store.
pub(super) fn active_turns(base: &Path) -> Result<ActiveTurns> {
    let mut active = ActiveTurns::default();
    for candidate in candidates(base)? {
        let (Ok(session), Some(paths)) = (candidate.session_name(), candidate.paths(base)) else { continue };
        match TurnMarker::read(&paths.proc()) {
            Ok(turn) => active.turns.extend(turn.map(|turn| ActiveTurn { session, turn })),
            Err(error) => active.unreadable.push(error.into()),
        }
    }
    Ok(active)
}
