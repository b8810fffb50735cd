//! What was taken out of a history, or replaced, and is kept.

use super::walk::visit;
use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::directory::{files, own};
use crate::quarantine::INDEX;
use crate::rewrite::{backups, late};
use session_core::layout;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// What lies in quarantine.
pub(super) fn quarantine(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let files = files(&own(paths, &[layout::QUARANTINE])?)?.into_iter().filter(|(path, _)| !is_index(path));
    let finding = |(path, metadata): (PathBuf, Metadata)| {
        let text = format!("{} bytes that were no whole line were taken out of the history", metadata.len());
        Finding::new(FindingCode::Quarantine, &path, text)
    };
    Ok(files.map(finding).collect())
}

/// The list of what is in the file beside it.
fn is_index(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == INDEX)
}

/// What repairs have replaced.
pub(super) fn replaced(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let dir = paths.backups();
    let (mut count, mut bytes) = (0_u64, 0);
    visit(&dir, &mut |path, metadata| {
        if path != dir {
            count += 1;
            bytes += metadata.len();
        }
    });
    if count == 0 {
        return Ok(Vec::new());
    }
    let files = session_core::counted(count, "file", "files");
    let text = format!("{files}, {bytes} bytes, that repairs have replaced or moved away");
    Ok(vec![Finding::new(FindingCode::Backup, &dir, text)])
}

/// Names for a history that was not replaced in the end, and lines that came while one was.
pub(super) fn unfinished(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    if let Ok(history) = paths.history().symlink_metadata() {
        let current = crate::flock::Inode::of(&history);
        let text = "a second name for the history, which was about to be replaced";
        let left = backups(paths)?.into_iter().filter(|backup| backup.inode() == current);
        findings
            .extend(left.map(|backup| Finding::new(FindingCode::Leftover, &backup.path, text).fixed_by(Fix::Remove)));
    }
    for late in late::lines(paths)? {
        let place = session_core::Place { line: None, offset: late.offset };
        let text = format!("{} bytes of whole lines came while the history was replaced", late.len_bytes());
        let finding = Finding::new(FindingCode::LateLines, &late.backup.path, text);
        findings.push(finding.at(place).fixed_by(Fix::CarryOver));
    }
    Ok(findings)
}
