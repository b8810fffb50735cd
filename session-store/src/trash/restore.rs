//! Taking a session back out of the trash.

use super::entries::{FILES, find};
use super::files;
use super::forms::{Part, look};
use super::record::Record;
use crate::{Options, Result, StoreError};
use session_core::SessionName;
use session_disk::{remove_dir, remove_file, rename_new};
use std::io;
use std::path::Path;

/// Puts a session back under its name, or files back into their session.
pub(super) fn restore(base: &Path, id: &str, options: &Options) -> Result<SessionName> {
    let entry = find(base, id)?;
    if look(&entry.path.join(FILES))?.is_some() {
        return files::restore(base, &entry, options.durability);
    }
    let name = entry.session;
    let mut parts = Vec::new();
    for part in Part::ALL {
        if look(&part.in_entry(&entry.path))?.is_some() {
            parts.push(part);
        }
    }
    // Any part of another session of that name is in the way: the two must not become one.
    for part in Part::ALL {
        if look(&part.in_store(base, &name))?.is_some() {
            return Err(StoreError::Exists { name });
        }
    }
    // The directory first: with it the session is whole. Who dies before the rest leaves an old flat file in the trash.
    for part in parts.into_iter().rev() {
        match rename_new(&part.in_entry(&entry.path), &part.in_store(base, &name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(StoreError::Exists { name }),
            moved => moved?,
        }
    }
    options.durability.sync_dir(base)?;
    options.durability.sync_dir(&entry.path)?;
    // The session is back; what is left of the entry is empty and harmless.
    drop(remove_file(&entry.path.join(Record::FILE)));
    drop(remove_dir(&entry.path));
    Ok(name)
}
