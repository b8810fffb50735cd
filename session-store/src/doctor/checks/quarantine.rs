//! Bytes that were taken out of a history.

use super::walk::files;
use super::{Finding, FindingCode, Found, Patient};
use std::fs::Metadata;
use std::path::PathBuf;

/// What lies in quarantine.
pub(super) fn quarantine(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let files = files(&paths.quarantine())?;
    let finding = |(path, metadata): (PathBuf, Metadata)| {
        let text = format!("{} bytes that were no whole line were taken out of the history", metadata.len());
        Finding::new(FindingCode::Quarantine, &path, text)
    };
    Ok(files.into_iter().map(finding).collect())
}
