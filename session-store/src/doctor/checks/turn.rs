//! The marker of the turn.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::directory::own;
use session_core::layout;
use session_proc::TurnMarker;

/// The marker of a turn that does not run any more.
pub(super) fn stale(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let proc = own(paths, &[layout::PROC])?;
    let stands = [layout::TURN_PID, layout::TURN]
        .map(|file| proc.join(file))
        .into_iter()
        .find(|path| path.symlink_metadata().is_ok());
    match stands {
        Some(path) if TurnMarker::read(&proc)?.is_none() => {
            let text = "the turn that it marks does not run any more";
            Ok(vec![Finding::new(FindingCode::StaleTurn, &path, text).fixed_by(Fix::EndTurn)])
        }
        _ => Ok(Vec::new()),
    }
}
