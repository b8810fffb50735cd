//! The background processes of a session, as the session's directory has them.

use crate::directory::own;
use crate::{Result, SessionPaths, StoreError};
use session_core::{SessionName, layout};
use session_proc::{Registry, Stop, Stopped, TurnMarker, Which, live_processes};

/// How often everything is stopped before it is clear that somebody goes on starting.
const ROUNDS: usize = 3;

/// The registry of a session. One that a symbolic link leads to may be another session's.
pub(crate) fn registry(paths: &SessionPaths) -> Result<Registry> {
    Ok(Registry::open(&own(paths, &[layout::PROC])?)?)
}

/// The background processes of a session that run, by their ids.
pub(crate) fn running(paths: &SessionPaths) -> Result<Vec<String>> {
    Ok(live_processes(registry(paths)?.dir())?.into_iter().map(|process| process.id).collect())
}

/// Refuses what nobody may do beside a live turn.
pub(crate) fn refuse_turn(paths: &SessionPaths, name: &str) -> Result<()> {
    match TurnMarker::read(&paths.proc())? {
        Some(turn) => Err(StoreError::live_turn(name, turn.pid)),
        None => Ok(()),
    }
}

/// Refuses what nobody may do beside a live turn or a running process.
pub(crate) fn refuse_running(paths: &SessionPaths, name: &SessionName) -> Result<()> {
    refuse_turn(paths, name.as_str())?;
    let ids = running(paths)?;
    if ids.is_empty() { Ok(()) } else { Err(StoreError::Running { name: name.to_string(), ids }) }
}

/// Stops everything of a session that is about to be deleted.
pub(crate) fn stop_all(paths: &SessionPaths, name: &str) -> Result<()> {
    let registry = match registry(paths) {
        // What stands elsewhere is not the session's, and is not deleted with it.
        Err(StoreError::Escapes { .. }) => return Ok(()),
        registry => registry?,
    };
    let mut ids = Vec::new();
    for _ in 0..ROUNDS {
        let survivors = survivors(&registry.stop_all(Which::All, &Stop::default())?);
        if !survivors.is_empty() {
            return Err(StoreError::Survivors { name: name.to_owned(), survivors });
        }
        ids = live_processes(registry.dir())?.into_iter().map(|process| process.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
    }
    Err(StoreError::LiveProcesses { name: name.to_owned(), ids })
}

/// Those that could not be stopped, each with its reason.
pub(crate) fn survivors(stopped: &[Stopped]) -> Vec<String> {
    let of_one = |stopped: &Stopped| {
        let id = stopped.id.clone();
        stopped.survivors.iter().map(move |survivor| format!("{id}: {survivor}")).collect::<Vec<_>>()
    };
    stopped.iter().flat_map(of_one).collect()
}
