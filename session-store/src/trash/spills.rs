//! Spilled output in the trash: files of a session that stands.

use super::TrashEntry;
use super::entries::trash_dir;
use super::record::Record;
use crate::{Durability, Result, SessionPaths, Store, StoreError};
use session_core::SessionName;
use session_disk::{create_dir, create_dir_all, remove_dir, remove_file, rename_new, replace, sync_dir};
use std::fs;
use std::io;
use std::path::Path;

/// What the files of a session's `tmp/` are called in an entry.
pub(super) const SPILLS: &str = "spills";

/// Moves files out of a session's `tmp/` into an entry of their own.
pub(crate) fn trash_spills(
    store: &Store,
    name: &SessionName,
    paths: &SessionPaths,
    files: &[String],
) -> Result<TrashEntry> {
    let now = store.clock().utc();
    let id = format!("{name}-tmp-{}-{:08x}", now.format("%Y%m%dT%H%M%SZ"), rand::random::<u32>());
    let entry = trash_dir(store.base_dir()).join(&id);
    let why = format!("pruned: {} spilled outputs that nothing mentions", files.len());
    create_dir_all(&trash_dir(store.base_dir()))?;
    create_dir(&entry)?;
    replace(&entry.join(Record::FILE), &Record::new(name, &now, &why).to_json(), store.options().durability)?;
    create_dir(&entry.join(SPILLS))?;
    for file in files {
        rename_new(&paths.tmp().join(file), &entry.join(SPILLS).join(file))?;
    }
    if store.options().durability == Durability::Data {
        for dir in [&entry.join(SPILLS), &entry, &trash_dir(store.base_dir()), &paths.tmp()] {
            sync_dir(dir)?;
        }
    }
    Ok(TrashEntry { id, session: name.clone(), deleted: now, why, path: entry })
}

/// Puts the files of an entry back into their session, which must stand. A file whose name is taken stays in the trash.
pub(super) fn restore(store_dir: &Path, entry: &TrashEntry, durability: Durability) -> Result<SessionName> {
    let (name, from) = (entry.session.clone(), entry.path.join(SPILLS));
    let session = store_dir.join(&name);
    if !session.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(StoreError::NotFound { name: name.to_string(), base: store_dir.to_owned() });
    }
    let tmp = SessionPaths::new(session).tmp();
    match create_dir(&tmp) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    for file in fs::read_dir(&from).map_err(StoreError::read(&from))? {
        let file = file.map_err(StoreError::read(&from))?;
        rename_new(&file.path(), &tmp.join(file.file_name()))?;
    }
    if durability == Durability::Data {
        sync_dir(&tmp)?;
        sync_dir(&from)?;
    }
    // The files are back; what is left of the entry is empty and harmless.
    drop(remove_dir(&from));
    drop(remove_file(&entry.path.join(Record::FILE)));
    drop(remove_dir(&entry.path));
    Ok(name)
}
