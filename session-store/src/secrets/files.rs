//! The files of a session that may hold text.

use crate::directory::{entries, nodes, own};
use crate::paths::{flat_path, migrated_path};
use crate::{Result, SessionPaths};
use session_core::layout;
use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionFile {
    pub(super) path: PathBuf,
    /// Its path for people: relative to the session, of a flat file its name.
    pub(super) shown: String,
    pub(super) shape: Shape,
}

/// What a file is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Lines of JSON.
    Lines,
    /// One JSON text, or something small that is none.
    Document,
    /// Text of any length.
    Text,
}

/// What holds no text, or is told by itself: checkpoints, locks and marks, what is known of copies, and backups.
const PASSED_OVER: [&str; 5] = [layout::CHECKPOINTS, layout::LOCK, layout::META_LOCK, layout::REMOTE, layout::BACKUPS];
const MARKS: [&str; 2] = [layout::TURN_PID, layout::TURN];

/// A document that is larger is looked through as a text.
const LARGEST_DOCUMENT: u64 = 16 << 20;

/// The files, the history last: what is found by its context there is found again after a death before the end.
pub(super) fn files(paths: &SessionPaths) -> Result<Vec<SessionFile>> {
    let mut files = Vec::new();
    below(paths.dir(), "", &mut files)?;
    if let (Some(base), Some(name)) = (paths.dir().parent(), paths.dir().file_name()) {
        for path in [flat_path(base, name), migrated_path(base, name)] {
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                let shown = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.push(SessionFile { path, shown, shape: Shape::Lines });
            }
        }
    }
    files.sort_by_key(|file| (file.is_history(paths), file.shown.clone()));
    Ok(files)
}

impl SessionFile {
    pub(super) fn is_history(&self, paths: &SessionPaths) -> bool {
        self.path == paths.history()
    }
}

/// The backups that hold what was there before, by their paths in the session.
pub(super) fn backups(paths: &SessionPaths) -> Result<Vec<String>> {
    let named = |entry: DirEntry| format!("{}/{}", layout::BACKUPS, entry.file_name().to_string_lossy());
    Ok(entries(&own(paths, &[layout::BACKUPS])?)?.into_iter().map(named).collect())
}

/// The regular files in a directory and in those below it. Links are not followed.
fn below(dir: &Path, prefix: &str, files: &mut Vec<SessionFile>) -> Result<()> {
    for (entry, metadata) in nodes(dir)? {
        let name = entry.file_name();
        let is_one_of = |names: &[&str]| names.iter().any(|one| name == OsStr::new(one));
        if (prefix.is_empty() && is_one_of(&PASSED_OVER)) || is_one_of(&MARKS) {
            continue;
        }
        let shown = format!("{prefix}{}", name.to_string_lossy());
        if metadata.is_dir() {
            below(&entry.path(), &format!("{shown}/"), files)?;
        } else if metadata.is_file() {
            let shape = shape(&shown, metadata.len());
            files.push(SessionFile { path: entry.path(), shown, shape });
        }
    }
    Ok(())
}

/// What a file is made of, by its path in the session and its length.
pub(crate) fn shape(shown: &str, len: u64) -> Shape {
    let is_in = |dir: &str| shown.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
    match () {
        () if shown.ends_with(layout::FLAT_SUFFIX) => Shape::Lines,
        () if is_in(layout::TMP) || shown.ends_with(".log") || len > LARGEST_DOCUMENT => Shape::Text,
        () => Shape::Document,
    }
}
