//! What somebody died over.

use super::walk::{entries, files};
use super::{Finding, FindingCode, Found, Patient};
use session_core::layout;
use std::path::Path;

/// How the names of temporary files begin.
const TEMPORARY: &[u8] = b".tmp-";

/// Temporary files that were not renamed or removed.
pub(super) fn temporary(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    for dir in [paths.dir(), &paths.proc(), &paths.inbox(), &paths.tmp()] {
        let left = files(dir)?.into_iter().filter(|(path, _)| is_temporary(path));
        let text = "a temporary file that was not finished";
        findings.extend(left.map(|(path, _)| Finding::new(FindingCode::Leftover, &path, text)));
    }
    Ok(findings)
}

/// Whether a file has the name of a temporary one.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY))
}

/// What was not finished in the staging area. Somebody may be at work on it just now.
pub(super) fn staging(base: &Path) -> Found {
    let left = entries(&base.join(layout::STORE).join(layout::STAGING))?;
    let text = "something that was being built or deleted, and was not finished";
    Ok(left.into_iter().map(|entry| Finding::new(FindingCode::Leftover, &entry.path(), text)).collect())
}
