//! The trash.

use super::walk::{is_idle, visit};
use super::{Finding, FindingCode, Fix, Found};
use crate::directory::entries;
use crate::trash;
use session_core::counted;
use std::path::Path;

/// How much is in it.
pub(super) fn size(base: &Path) -> Found {
    let entries = trash::entries(base)?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let dir = trash::trash_dir(base);
    let mut bytes = 0;
    visit(&dir, &mut |_, metadata| bytes += if metadata.is_file() { metadata.len() } else { 0 });
    let text = format!("{}, {}", counted(entries.len() as u64, "session", "sessions"), counted(bytes, "byte", "bytes"));
    Ok(vec![Finding::new(FindingCode::Trash, &dir, text)])
}

/// What is in it and cannot be restored.
pub(super) fn broken(base: &Path) -> Found {
    let mut findings = Vec::new();
    for path in trash::broken(base)? {
        // A record alone is what somebody leaves who dies before the session is moved, or after it was moved back.
        let is_idle = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir() && is_idle(&metadata));
        let is_empty = is_idle && entries(&path)?.iter().all(|entry| trash::is_record(&entry.path()));
        let text = match is_empty {
            true => "a record of a session that is not there",
            false => "holds no session that could be restored",
        };
        let finding = Finding::new(FindingCode::BrokenTrash, &path, text);
        findings.push(Finding { fix: is_empty.then_some(Fix::Remove), ..finding });
    }
    Ok(findings)
}
