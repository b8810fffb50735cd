//! Going back.

use super::{Finding, FindingCode, Found, Patient};
use crate::rewind;

/// A rewind that changes files and has not ended: no turn begins while it stands.
pub(super) fn interrupted(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let text = "a rewind was interrupted: repeating it does the rest, undoing it goes back";
    let finding = |path: std::path::PathBuf| Finding::new(FindingCode::RewindInterrupted, &path, text);
    Ok(rewind::stands(paths)?.map(finding).into_iter().collect())
}
