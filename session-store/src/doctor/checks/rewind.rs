//! What was begun and not ended: going back, and a repair.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::doctor::journal;
use crate::rewind_record;
use std::path::PathBuf;

/// A rewind that changes files and has not ended: no turn begins while it stands.
pub(super) fn interrupted(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let text = "a rewind was interrupted: repeating it does the rest, undoing it goes back";
    let finding = |path: PathBuf| {
        let finding = Finding::new(FindingCode::RewindInterrupted, &path, text);
        // Its files are brought back by whoever keeps the checkpoints, and an unreadable record says nothing.
        let can_end = patient.checkpoints.is_some() && rewind_record::is_readable(paths);
        Finding { fix: can_end.then_some(Fix::EndRewind), ..finding }
    };
    Ok(rewind_record::stands(paths)?.map(finding).into_iter().collect())
}

/// A repair that was interrupted. What it was going to do is found again; that it began is told by the next one.
pub(super) fn repair(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let text = "a repair was interrupted, and the history does not tell of it";
    let finding = |path: PathBuf| Finding::new(FindingCode::RepairInterrupted, &path, text).fixed_by(Fix::TellRepair);
    Ok(journal::stands(paths).map(finding).into_iter().collect())
}
