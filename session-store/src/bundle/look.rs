//! What a session is at one moment, while others may be at work on it.
//!
//! No lock is taken, so that a session whose turn runs can be bundled. What is appended to (the history, logs) counts up to
//! the length that it had; of the history the last line counts only once it is whole, or is left as it is. What never
//! changes once it has its name (objects of checkpoints, spilled output) is named now and read later. All else is small,
//! and taken now; if anything of the session was another thing afterwards than before, the look counts for nothing.

use crate::inner_files::{InnerFile, InnerFiles, LeftOut, LeftOutWhy, inner_files};
use crate::{HistoryView, Result, SessionPaths, StoreError, inbox};
use session_core::{Belongs, Limits, SessionPath, layout};
use session_disk::{is_absent, read_regular};
use session_proc::{ProcError, ProcessFile, Registry};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// How often a session that changes is looked at again.
const ROUNDS: usize = 64;
/// A file that changes in place is smaller, as a rule. A larger one is read later, and must not have changed.
const SMALL_BYTES: u64 = 16 << 20;

/// What goes along, by the path that it has in the bundle.
pub(super) struct Look {
    pub(super) parts: BTreeMap<SessionPath, Part>,
    pub(super) history: HistoryView,
    pub(super) left_out: Vec<LeftOut>,
}

/// A file, or an empty directory.
pub(super) enum Part {
    Dir,
    /// Its bytes.
    Bytes(Vec<u8>),
    /// So many bytes of the history.
    History(u64),
    /// So many bytes of a file.
    File(PathBuf, u64),
}

/// Looks at a session until it stands still for the time of a look.
pub(super) fn look(paths: &SessionPaths, limits: Limits) -> Result<Look> {
    for _ in 0..ROUNDS {
        let before = inner_files(paths)?;
        let Some(look) = take(paths, &before, limits)? else { continue };
        if is_same(&before, &inner_files(paths)?) {
            return Ok(look);
        }
    }
    Err(StoreError::KeepsChanging { path: paths.dir().to_owned() })
}

/// Whether nothing has changed but the lengths of what is appended to.
fn is_same(before: &InnerFiles, after: &InnerFiles) -> bool {
    let is_file_same =
        |(one, other): (&InnerFile, &InnerFile)| one == other || (one.path == other.path && is_appended(&one.path));
    before.empty_dirs == after.empty_dirs
        && before.files.len() == after.files.len()
        && before.files.iter().zip(&after.files).all(is_file_same)
}

fn is_appended(path: &SessionPath) -> bool {
    path.as_str() == layout::HISTORY || is_log(path)
}

fn is_log(path: &SessionPath) -> bool {
    path.is_in(layout::PROC) && path.as_str().ends_with(".log")
}

/// Whether a file keeps its bytes once it has its name.
fn is_constant(path: &SessionPath) -> bool {
    let is_object = || path.as_str().split('/').any(|part| part == "objects");
    let dirs = [layout::TMP, layout::QUARANTINE, layout::BACKUPS, layout::RAW];
    dirs.iter().any(|dir| path.is_in(dir)) || path.is_in(layout::CHECKPOINTS) && is_object()
}

/// Takes what changes in place. `None`: something of it went away meanwhile.
fn take(paths: &SessionPaths, inner: &InnerFiles, limits: Limits) -> Result<Option<Look>> {
    let registry = crate::processes::registry(paths)?;
    let history = HistoryView::open(paths, limits)?;
    let mut look = Look { parts: BTreeMap::new(), history, left_out: inner.strange.clone() };
    for dir in &inner.empty_dirs {
        look.parts.insert(dir.clone(), Part::Dir);
    }
    for file in &inner.files {
        if !look.take(paths.dir(), file, &registry)? {
            return Ok(None);
        }
    }
    Ok(Some(look))
}

impl Look {
    fn take(&mut self, dir: &Path, file: &InnerFile, registry: &Registry) -> Result<bool> {
        let path = dir.join(&file.path);
        let is_large = is_log(&file.path) || is_constant(&file.path) || file.len > SMALL_BYTES;
        match file.path.belongs() {
            Belongs::Process => return self.process(file, registry),
            Belongs::Machine => {}
            Belongs::Session if file.path.as_str() == layout::HISTORY => {
                self.parts.insert(file.path.clone(), Part::History(self.history.len_bytes()));
            }
            Belongs::Session if is_large => {
                self.parts.insert(file.path.clone(), Part::File(path, file.len));
            }
            Belongs::Session | Belongs::Claim => {
                let bytes = match read_regular(&path, SMALL_BYTES) {
                    Ok((bytes, _)) => bytes,
                    Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::FileTooLarge => return Ok(false),
                    Err(source) => return Err(StoreError::read(&path)(source)),
                };
                self.parts.insert(inbox::unowned(&file.path), Part::Bytes(bytes));
            }
        }
        Ok(true)
    }

    /// A record, together with what else is known of the process.
    fn process(&mut self, file: &InnerFile, registry: &Registry) -> Result<bool> {
        let name = Path::new(file.path.as_str()).file_name().unwrap_or_default();
        let id = match ProcessFile::of(name) {
            Some(ProcessFile::Record(id)) => id,
            // It comes with its record, and says nothing without one.
            Some(ProcessFile::More(_)) => return Ok(true),
            None => return Ok(self.leave(file)),
        };
        let portable = match registry.portable(&id) {
            Ok(portable) => portable,
            // Somebody is about to fill it.
            Err(ProcError::NoProcess { .. }) => return Ok(true),
            Err(ProcError::Unreadable { .. }) => return Ok(self.leave(file)),
            Err(error) => return Err(error.into()),
        };
        self.parts.insert(file.path.clone(), Part::Bytes(portable.record));
        if let Some(more) = portable.more {
            let path = SessionPath::new(format!("{}/{}", layout::PROC, ProcessFile::More(id).name()));
            let path = path.expect("the name of a process, with a few letters around it, is a path");
            self.parts.insert(path, Part::Bytes(more));
        }
        Ok(true)
    }

    fn leave(&mut self, file: &InnerFile) -> bool {
        self.left_out.push(LeftOut { path: file.path.to_string(), why: LeftOutWhy::Unreadable });
        true
    }
}
