//! Messages that nobody got.

use super::walk::files;
use super::{Finding, FindingCode, Found, Patient};
use session_core::layout;
use std::path::Path;

/// Messages that wait.
pub(super) fn waiting(patient: &Patient<'_>) -> Found {
    found(patient, "", FindingCode::InboxWaiting, "a message waits for the next turn")
}

/// Messages that were taken and not acknowledged.
pub(super) fn claimed(patient: &Patient<'_>) -> Found {
    let text = "a message was taken and not acknowledged";
    found(patient, layout::CLAIMS, FindingCode::InboxClaimed, text)
}

/// Messages that could not be delivered.
pub(super) fn failed(patient: &Patient<'_>) -> Found {
    let text = "a message could not be delivered";
    found(patient, layout::FAILED, FindingCode::InboxFailed, text)
}

fn found(patient: &Patient<'_>, below: &str, code: FindingCode, text: &str) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let files = files(&paths.inbox().join(below))?.into_iter().filter(|(path, _)| !is_hidden(path));
    Ok(files.map(|(path, _)| Finding::new(code, &path, text)).collect())
}
