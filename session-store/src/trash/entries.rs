//! What is in the trash.

use super::forms::{Part, look};
use super::record::Record;
use crate::candidate::escaped;
use crate::directory;
use crate::{Result, StoreError};
use session_core::{SessionName, Timestamp, layout};
use session_disk::read_regular;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// What holds the files in an entry, each under the path that it has in its session.
pub(super) const FILES: &str = "files";

/// What the record of an entry is called.
pub(crate) const RECORD: &str = Record::FILE;

/// A session in the trash, or files of one that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrashEntry {
    /// Its name in the trash, by which it is restored: the session's name, the time, and something random.
    pub id: String,
    /// The name that it had.
    pub session: SessionName,
    /// When it was deleted, in UTC.
    pub deleted: Timestamp,
    /// Why, in the words of who did it; empty where nobody said.
    pub why: String,
    /// Where it is kept.
    pub path: PathBuf,
}

/// Something in the trash of which nobody can say what it is: what it holds has no record that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableTrash {
    /// Its name in the trash.
    pub id: String,
    /// Where it is.
    pub path: PathBuf,
}

/// Where the trash of a store is.
pub(crate) fn trash_dir(base: &Path) -> PathBuf {
    base.join(layout::STORE).join(layout::TRASH)
}

/// The sessions in the trash, the newest first. Directories that hold none are left out: [`broken`] has them.
pub(crate) fn entries(base: &Path) -> Result<Vec<TrashEntry>> {
    let mut entries: Vec<_> = names(base)?.into_iter().filter_map(|path| entry(&path)).collect();
    entries.sort_by(|a, b| (b.deleted, &a.id).cmp(&(a.deleted, &b.id)));
    Ok(entries)
}

/// What is in the trash and is no session: a record without its session, where somebody died between the two, or
/// anything else.
pub(crate) fn broken(base: &Path) -> Result<Vec<PathBuf>> {
    Ok(names(base)?.into_iter().filter(|path| entry(path).is_none()).collect())
}

/// Those of them that hold something all the same, by their names.
pub(super) fn unreadable(base: &Path) -> Result<Vec<UnreadableTrash>> {
    let found = broken(base)?.into_iter().filter(|path| !holds_nothing(path));
    let mut all: Vec<_> = found.map(|path| UnreadableTrash { id: id(&path), path }).collect();
    all.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(all)
}

/// Whether this is a directory with a record, or what is to become one, and nothing else. So it stands before something
/// is moved there, and after everything was moved back: the next moment it may hold a session.
pub(super) fn holds_nothing(path: &Path) -> bool {
    let is_record =
        |entry: &DirEntry| is_record(&entry.path()) || entry.file_name().as_encoded_bytes().starts_with(b".");
    matches!(look(path), Ok(Some(metadata)) if metadata.is_dir())
        && directory::entries(path).is_ok_and(|entries| entries.iter().all(is_record))
}

/// Whether this is the record of an entry.
pub(crate) fn is_record(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == RECORD)
}

/// Everything directly in the trash.
pub(super) fn names(base: &Path) -> Result<Vec<PathBuf>> {
    Ok(directory::entries(&trash_dir(base))?.iter().map(DirEntry::path).collect())
}

fn entry(path: &Path) -> Option<TrashEntry> {
    let holds_files = matches!(look(&path.join(FILES)), Ok(Some(_)));
    let holds_session = holds_files || Part::ALL.iter().any(|part| matches!(look(&part.in_entry(path)), Ok(Some(_))));
    let (bytes, _) = read_regular(&path.join(Record::FILE), Record::MAX_BYTES).ok().filter(|_| holds_session)?;
    let (session, deleted, why) = Record::read(&bytes)?;
    Some(TrashEntry { id: id(path), session, deleted, why, path: path.to_owned() })
}

/// What is called by this path in the trash.
pub(super) fn id(path: &Path) -> String {
    escaped(path.file_name().unwrap_or_default())
}

/// The entry with this id.
///
/// # Errors
/// [`StoreError::NotInTrash`].
pub(super) fn find(base: &Path, id: &str) -> Result<TrashEntry> {
    // Looked up among what is there, so that no id can lead anywhere else.
    let found = entries(base)?.into_iter().find(|entry| entry.id == id);
    found.ok_or_else(|| StoreError::NotInTrash { id: id.to_owned(), path: trash_dir(base) })
}
