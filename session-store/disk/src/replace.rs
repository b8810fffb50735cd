//! How a file is replaced: the one implementation.

use crate::{DiskError, create_new, remove_file, rename, sync_data, sync_dir, write};
use rand::RngExt as _;
use std::path::{Path, PathBuf};

/// How far a call's bytes must have come before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Handed to the kernel: survives a crash of the process, not of the machine.
    Os,
    /// On the disk (`fdatasync`, and a sync of the directory for a new entry): survives a power cut.
    #[default]
    Data,
}

/// The name of a temporary file beside `path`: `.tmp-<name>-<16 hex digits>`. It starts with a dot, so that
/// no reader of the directory takes it for content.
pub fn temp_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.trim_start_matches('.').chars().take(32).collect();
    let random: u64 = rand::rng().random();
    path.with_file_name(format!(".tmp-{name}-{random:016x}"))
}

/// Replaces the file at `path` (or creates it) with `bytes`, mode 0600.
///
/// On disk when it returns: the new bytes under `path`; with [`Durability::Data`] they and the directory entry
/// are synced. After an error the old file stands, or, when only the last sync failed, the new one.
///
/// # Errors
/// The step that failed, with its path. A temporary file that could not be removed either is left behind; its
/// name is that of [`temp_name`].
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    let temp = temp_name(path);
    let file = create_new(&temp)?;
    let filled = write(&file, &temp, bytes).map_err(DiskError::from).and_then(|()| match durability {
        Durability::Os => Ok(()),
        Durability::Data => sync_data(&file, &temp),
    });
    if let Err(error) = filled.and_then(|()| rename(&temp, path)) {
        // The first error is the one to tell; a stray temporary file is harmless and is swept later.
        drop(remove_file(&temp));
        return Err(error);
    }
    match (durability, path.parent()) {
        (Durability::Data, Some(dir)) => sync_dir(if dir.as_os_str().is_empty() { Path::new(".") } else { dir }),
        _ => Ok(()),
    }
}
