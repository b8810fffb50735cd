//! What somebody died over.

use super::walk::is_idle;
use super::{Finding, FindingCode, Fix, Found, Patient};
use crate::SessionPaths;
use crate::directory::{entries, files, own};
use crate::doctor::or_unreadable;
use crate::flock::try_exclusive;
use crate::paths::staging_path;
use crate::stamp::age;
use session_core::layout;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Spilled output may come slowly, from a command that runs for long.
const SPILL_IDLE: Duration = Duration::from_secs(3600);

/// Temporary files that were not renamed or removed.
pub(super) fn temporary(patient: &Patient<'_>) -> Found {
    let Some(paths) = &patient.paths else { return Ok(Vec::new()) };
    let idle: fn(&Metadata) -> bool = is_idle;
    let spill_idle: fn(&Metadata) -> bool = |metadata| age(metadata).is_ok_and(|age| age >= SPILL_IDLE);
    let dirs: [(&[&str], _); 6] = [
        (&[], idle),
        (&[layout::PROC], idle),
        (&[layout::INBOX], idle),
        (&[layout::INBOX, layout::FAILED], idle),
        (&[layout::QUARANTINE], idle),
        (&[layout::TMP], spill_idle),
    ];
    // What keeps one of them from being looked at says nothing of the others.
    let found = |(dir, is_left)| or_unreadable(paths.dir(), temporary_in(paths, dir, is_left));
    Ok(dirs.into_iter().flat_map(found).collect())
}

fn temporary_in(paths: &SessionPaths, dir: &[&str], is_left: fn(&Metadata) -> bool) -> Found {
    let finding = |(path, metadata): (PathBuf, Metadata)| {
        let is_left = is_left(&metadata);
        let text = if is_left { "a temporary file that was not finished" } else { "a temporary file" };
        Finding { fix: is_left.then_some(Fix::SetAside), ..Finding::new(FindingCode::Leftover, &path, text) }
    };
    let files = files(&own(paths, dir)?)?.into_iter();
    Ok(files.filter(|(path, _)| is_temporary(path)).map(finding).collect())
}

/// Whether a file has the name of a temporary one.
pub(super) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(layout::TEMPORARY.as_bytes()))
}

/// What was not finished in the staging area.
pub(super) fn staging(base: &Path) -> Found {
    let mut findings = Vec::new();
    for entry in entries(&staging_path(base))? {
        let path = entry.path();
        let is_left = is_nobodys(&path);
        let text = match is_left {
            true => "something that was being built or deleted, and was not finished",
            false => "something is being built or deleted",
        };
        let finding = Finding::new(FindingCode::Leftover, &path, text);
        findings.push(Finding { fix: is_left.then_some(Fix::Remove), ..finding });
    }
    Ok(findings)
}

/// Whether nobody works on something in staging: who builds a session holds its lock, what is done there otherwise takes
/// moments.
pub(in crate::doctor) fn is_nobodys(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else { return false };
    if !metadata.is_dir() {
        return is_idle(&metadata);
    }
    is_idle(&metadata) && File::open(path).is_ok_and(|dir| try_exclusive(&dir, path).unwrap_or(false))
}
