//! A file of an export: there whole, or not at all.

use crate::exit::Exit;
use crate::failure::{Failure, causes};
use session_disk::DiskError;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Refuses a path that holds something which is not to be replaced.
pub(super) fn check(path: &Path, force: bool) -> Result<(), Failure> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(Failure::new(Exit::Usage, format!("{} is no regular file", path.display()))
                .hint("-o - writes to standard output"))
        }
        Ok(_) if !force => Err(taken(path)),
        // What cannot be looked at says more when it is written to.
        Ok(_) | Err(_) => Ok(()),
    }
}

fn taken(path: &Path) -> Failure {
    Failure::new(Exit::Refused, format!("{} exists", path.display())).hint("--force overwrites it")
}

fn failed(error: &DiskError) -> Failure {
    Failure::new(Exit::Usage, causes(error))
}

/// A file that has another name until it is whole. Dropped before, it goes.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    temp: PathBuf,
    file: File,
    bytes: u64,
    is_published: bool,
}

impl NewFile {
    /// Begins the file at `path`, mode 0600.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let temp = session_disk::temp_name(path);
        let file = session_disk::create_new(&temp).map_err(|error| failed(&error))?;
        Ok(NewFile { path: path.to_owned(), temp, file, bytes: 0, is_published: false })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        session_disk::write(&self.file, &self.temp, bytes).map_err(|short| failed(&short.error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Gives the file its name, and says how long it is. On disk when it returns: the file and its entry, synced.
    pub(super) fn publish(mut self, force: bool) -> Result<u64, Failure> {
        session_disk::sync_data(&self.file, &self.temp).map_err(|error| failed(&error))?;
        let named = if force {
            session_disk::rename(&self.temp, &self.path)
        } else {
            session_disk::publish(&self.temp, &self.path)
        };
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(&self.path),
            _ => failed(&error),
        })?;
        self.is_published = true;
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        session_disk::sync_dir(dir).map_err(|error| failed(&error))?;
        Ok(self.bytes)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published {
            // Why it was not finished is what is told; a left-over can be seen by its name.
            drop(session_disk::remove_file(&self.temp));
        }
    }
}
