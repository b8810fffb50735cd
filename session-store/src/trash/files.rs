//! Files in the trash of a session that stands.

use super::TrashEntry;
use super::entries::{FILES, trash_dir};
use super::record::Record;
use crate::directory::own;
use crate::{Durability, Result, SessionPaths, Store, StoreError};
use session_core::{SessionName, layout};
use session_disk::{create_dir, create_dir_all, ensure_dir, remove_dir, remove_file, rename_new, replace};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// An entry that files are being moved into.
pub(crate) struct FilesEntry {
    entry: TrashEntry,
    durability: Durability,
}

/// Makes an entry for files of a session. `part` becomes part of its id.
pub(crate) fn begin_files(store: &Store, name: &SessionName, part: &str, why: &str) -> Result<FilesEntry> {
    let now = store.clock().utc();
    let id = format!("{name}-{part}-{}-{:08x}", now.format("%Y%m%dT%H%M%SZ"), rand::random::<u32>());
    let path = trash_dir(store.base_dir()).join(&id);
    create_dir_all(&trash_dir(store.base_dir()))?;
    create_dir(&path)?;
    replace(&path.join(Record::FILE), &Record::new(name, &now, why).to_json(), store.options().durability)?;
    create_dir(&path.join(FILES))?;
    let entry = TrashEntry { id, session: name.clone(), deleted: now, why: why.to_owned(), path };
    Ok(FilesEntry { entry, durability: store.options().durability })
}

impl FilesEntry {
    /// Moves a file, or a directory, by its path in the session.
    pub(crate) fn take(&self, paths: &SessionPaths, file: &Path) -> Result<()> {
        let to = self.entry.path.join(FILES).join(file);
        to.parent().map_or(Ok(false), ensure_dir)?;
        Ok(rename_new(&paths.dir().join(file), &to)?)
    }

    /// Ends it. `None` where nothing was moved, and then nothing is left of it.
    pub(crate) fn end(self, paths: &SessionPaths) -> Result<Option<TrashEntry>> {
        let files = self.entry.path.join(FILES);
        let moved = places(&files)?;
        if moved.is_empty() {
            discard(&self.entry);
            return Ok(None);
        }
        let sources = moved.iter().map(|place| paths.dir().join(&place.dir));
        let targets = moved.iter().map(|place| files.join(&place.dir));
        let dirs: BTreeSet<PathBuf> = sources.chain(targets).chain([files.clone()]).collect();
        for dir in dirs.iter().map(PathBuf::as_path).chain([self.entry.path.as_path()]) {
            self.durability.sync_dir(dir)?;
        }
        self.durability.sync_dir(self.entry.path.parent().unwrap_or(Path::new(".")))?;
        Ok(Some(self.entry))
    }
}

/// Something that was moved as one.
struct Place {
    /// Where it stands in the session; empty for the session's directory itself.
    dir: PathBuf,
    name: std::ffi::OsString,
}

impl Place {
    /// The directory of the session in which it stands.
    fn dir_in(&self, paths: &SessionPaths) -> Result<PathBuf> {
        own(paths, &[&self.dir])
    }
}

/// What an entry holds: the checkpoints are one thing, of other directories each file is.
fn places(files: &Path) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for top in names(files)? {
        if top == OsStr::new(layout::CHECKPOINTS) {
            places.push(Place { dir: PathBuf::new(), name: top });
            continue;
        }
        let inner = names(&files.join(&top))?;
        places.extend(inner.into_iter().map(|name| Place { dir: PathBuf::from(&top), name }));
    }
    Ok(places)
}

fn names(dir: &Path) -> Result<Vec<std::ffi::OsString>> {
    let entries = fs::read_dir(dir).map_err(StoreError::read(dir))?;
    let mut names = entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(StoreError::read(dir))?;
    names.sort();
    Ok(names)
}

/// Puts the files of an entry back into their session, which must stand. Where the name of one is taken, none is moved.
pub(super) fn restore(store_dir: &Path, entry: &TrashEntry, durability: Durability) -> Result<SessionName> {
    let (name, from) = (entry.session.clone(), entry.path.join(FILES));
    let session = store_dir.join(&name);
    if !session.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(StoreError::NotFound { name: name.to_string(), base: store_dir.to_owned() });
    }
    let places = places(&from)?;
    let paths = SessionPaths::new(&session);
    for place in &places {
        let to = place.dir_in(&paths)?.join(&place.name);
        if super::forms::look(&to)?.is_some() {
            return Err(StoreError::InTheWay { path: to });
        }
    }
    for Place { dir, name } in &places {
        ensure_dir(&session.join(dir))?;
        rename_new(&from.join(dir).join(name), &session.join(dir).join(name))?;
    }
    for dir in places.iter().map(|place| &place.dir).collect::<BTreeSet<_>>() {
        durability.sync_dir(&session.join(dir))?;
        durability.sync_dir(&from.join(dir))?;
    }
    discard(entry);
    Ok(name)
}

/// Removes an entry whose files are elsewhere. What is left of it is empty and harmless.
fn discard(entry: &TrashEntry) {
    let files = entry.path.join(FILES);
    for dir in names(&files).unwrap_or_default() {
        drop(remove_dir(&files.join(dir)));
    }
    drop(remove_dir(&files));
    drop(remove_file(&entry.path.join(Record::FILE)));
    drop(remove_dir(&entry.path));
}
