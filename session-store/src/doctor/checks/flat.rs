//! Flat files from before sessions were directories.

use super::{Finding, FindingCode, Found, Patient};
use crate::flat::{FlatFile, flat_path};

/// How far the session's flat file is migrated.
pub(super) fn flat(patient: &Patient<'_>) -> Found {
    let standing = patient.standing()?;
    let (code, text) = match standing.flat {
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
    Ok(vec![Finding::new(code, &flat_path(patient.base, &patient.candidate.name), text)])
}
