//! The files that are here, and what they hold.

use super::files::{self, LocalFile, Stamp};
use super::sha::Sha;
use super::state::Files;
use super::tree::{Entry, PART};
use super::{RemoteError, RemoteResult};
use crate::part::Part;
use crate::{SessionPaths, StoreError};
use session_disk::{is_absent, open_regular};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How often files are looked through again that changed meanwhile.
const LOOKS: usize = 8;

/// A file that is here, and what it holds.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) at: PathBuf,
    pub(super) stamp: Stamp,
    pub(super) entry: Entry,
}

/// The files that are here, with what they hold. Those that are as they were then are not read.
pub(super) fn local_files(
    paths: &SessionPaths,
    machine: &str,
    known: Option<&Files>,
) -> RemoteResult<BTreeMap<String, File>> {
    let mut changed = paths.dir().to_owned();
    for _ in 0..LOOKS {
        let mut all = BTreeMap::new();
        let listed = files::files(paths, machine)?;
        let complete = listed.into_iter().try_for_each(|file| match looked_at(&file, known)? {
            Some(entry) => {
                all.insert(file.path, File { at: file.at, stamp: file.stamp, entry });
                Ok(())
            }
            None => Err(Gone::Changed(file.at)),
        });
        match complete {
            Ok(()) => return Ok(all),
            Err(Gone::Changed(path)) => changed = path,
            Err(Gone::Failed(error)) => return Err(error),
        }
    }
    Err(RemoteError::KeepsChanging { path: changed })
}

enum Gone {
    /// The file is not what was listed: all are listed again, because they belong together.
    Changed(PathBuf),
    Failed(RemoteError),
}

impl From<StoreError> for Gone {
    fn from(error: StoreError) -> Self {
        Gone::Failed(error.into())
    }
}

/// What a file holds that nobody writes to; `None` where there is none.
pub(super) fn entry_at(path: &str, at: &Path) -> RemoteResult<Option<Entry>> {
    match at.symlink_metadata() {
        Ok(metadata) => {
            let file = LocalFile { path: path.to_owned(), at: at.to_owned(), stamp: Stamp::of(&metadata) };
            Ok(looked_at(&file, None)?)
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(StoreError::read(at)(error).into()),
    }
}

/// What a file holds; `None` where it is not as it was listed.
fn looked_at(file: &LocalFile, known: Option<&Files>) -> Result<Option<Entry>, StoreError> {
    if let Some((stamp, entry)) = known.and_then(|known| known.get(&file.path))
        && *stamp == file.stamp
    {
        return Ok(Some(entry.clone()));
    }
    let (open, metadata) = match open_regular(&file.at) {
        Ok(open) => open,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(StoreError::read(&file.at)(error)),
    };
    let bytes = file.stamp.bytes();
    let mut parts = Vec::new();
    for part in 0..bytes.div_ceil(PART).max(1) {
        let (at, upto) = (part * PART, bytes.min((part + 1) * PART));
        parts.push(Sha::of_reader(Part { file: &open, at, upto }).map_err(StoreError::read(&file.at))?);
    }
    let is_same = Stamp::of(&metadata) == file.stamp
        && Stamp::of(&open.metadata().map_err(StoreError::read(&file.at))?) == file.stamp;
    Ok(is_same.then_some(Entry { bytes, parts }))
}
