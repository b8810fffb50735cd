//! Adding lines to a history that stand elsewhere already, as they stand there.

use super::blank::{Last, blank, open_overwrite};
use crate::flock::{self, Inode, names};
use crate::{Durability, Result, SessionPaths, StoreError};
use session_disk::{append, create_new, open_append};
use std::fs::File;
use std::io;

/// A history that is being continued, locked against our own appends.
#[derive(Debug)]
pub(crate) struct Extension<'a> {
    paths: &'a SessionPaths,
    file: File,
    durability: Durability,
    /// How long it is.
    at: u64,
}

impl<'a> Extension<'a> {
    /// Locks the history if it is so long and that file (device and inode; 0 where there is none). `None`: it is not.
    pub(crate) fn begin(
        paths: &'a SessionPaths,
        (at, identity): (u64, (u64, u64)),
        durability: Durability,
    ) -> Result<Option<Self>> {
        let path = paths.history();
        let file = match open_append(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && identity == (0, 0) => {
                match create_new(&path) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error.into()),
                }
                open_append(&path)?
            }
            opened => opened?,
        };
        flock::exclusive(&file, &path)?;
        let metadata = file.metadata().map_err(StoreError::read(&path))?;
        let is_it = identity == (0, 0) || Inode::of(&metadata).is(identity);
        let is_so_long = metadata.len() == at && metadata.is_file();
        Ok((is_it && is_so_long && names(&path, &file)?).then_some(Extension { paths, file, durability, at }))
    }

    /// Adds bytes in one write. False: somebody who takes no lock has appended meanwhile; nothing of it is there then.
    ///
    /// On disk when it returns true: the bytes, synced as the durability says.
    ///
    /// # Errors
    /// [`StoreError::Append`]. The bytes that did reach the file are the first of those that were given, so that it can be
    /// tried again from there.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<bool> {
        let path = self.paths.history();
        let failed = |source| StoreError::Append { path: path.clone(), whole_events: 0, source };
        let offset = append(&self.file, &path, bytes).map_err(|short| failed(short.error))?;
        if offset != self.at {
            let metadata = self.file.metadata().map_err(StoreError::read(&path))?;
            let over = open_overwrite(&path, Inode::of(&metadata))?;
            blank(&over, &path, offset, bytes.len() as u64, Last::Newline)?;
            return Ok(false);
        }
        self.durability.sync_data(&self.file, &path).map_err(failed)?;
        if self.at == 0 {
            self.durability.sync_dir(self.paths.dir())?;
        }
        self.at += bytes.len() as u64;
        Ok(true)
    }
}
