//! Flat files from before sessions were directories.

use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::flat::FlatFile;
use crate::paths::flat_path;

/// How far the session's flat file is migrated.
pub(super) fn flat(patient: &Patient<'_>) -> Found {
    let (code, text) = match patient.told()?.flat {
        FlatFile::Absent => return Ok(Vec::new()),
        FlatFile::Waiting => (FindingCode::FlatWaiting, "not migrated yet; opening the session does it"),
        FlatFile::Interrupted => {
            (FindingCode::FlatInterrupted, "its migration was interrupted; opening the session goes on with it")
        }
        FlatFile::Migrated => (FindingCode::FlatMigrated, "migrated; opening the session renames it"),
        FlatFile::Shadowed => {
            (FindingCode::FlatShadowed, "the directory of its name holds another conversation, and this one is hidden")
        }
    };
    let finding = Finding::new(code, &flat_path(patient.base, &patient.candidate.name), text);
    let can_migrate = code != FindingCode::FlatShadowed && patient.candidate.session_name().is_ok();
    Ok(vec![Finding { fix: can_migrate.then_some(Fix::Migrate), ..finding }])
}
