//! The files of the inbox: what they are, and where those go that cannot be delivered.

use super::unfit::Unfit;
use super::{Inbox, InboxMessage};
use crate::directory::own;
use crate::paths::with_suffix;
use crate::stamp::age;
use crate::{Result, SessionPaths, StoreError, file_name};
use rand::RngExt as _;
use session_core::layout::{FAILED, INBOX, MAX_INBOX_BYTES};
use session_disk::{DiskError, open_regular, rename};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an empty file may be about to be filled.
const PATIENCE: Duration = Duration::from_secs(2);

/// What stands between the name and the reason beside a file that was moved aside.
pub(super) const NOT_DELIVERED: &str = " was not delivered: ";
/// How the name of the file ends that says why the message beside it was not.
pub(crate) const REASON: &str = ".reason";

/// What a file of the inbox holds.
#[derive(Debug)]
pub(super) enum Content {
    /// A message.
    Message(InboxMessage),
    /// Nothing yet.
    MayBeWritten,
    /// Nothing that can be delivered.
    Unfit(Unfit),
    /// It is gone, or is no regular file.
    NotOurs,
}

/// A file that was moved out of the inbox because it cannot be delivered.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failed {
    /// The name that it had.
    pub name: OsString,
    /// Why.
    pub why: Unfit,
    /// Where it is now. The reason stands beside it in a file of the same name with `.reason` at its end.
    pub path: PathBuf,
}

/// The names in the inbox that may be messages, sorted. A missing inbox has none.
pub(super) fn names(dir: &Path) -> Result<Vec<OsString>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::read(dir)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(StoreError::read(dir))?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// How many files wait in a session's inbox: as many as listing it names, without reading them.
pub(crate) fn count(paths: &SessionPaths) -> Result<u64> {
    let dir = own(paths, &[INBOX])?;
    let is_file = |name: &OsString| dir.join(name).symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    Ok(names(&dir)?.iter().filter(|name| is_file(name)).count() as u64)
}

/// Reads a file of the inbox, and never waits for one.
pub(super) fn look(path: &Path) -> Content {
    let unreadable = |source| Content::Unfit(Unfit::Unreadable { source });
    let metadata = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => metadata,
        Ok(_) => return Content::NotOurs,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Content::NotOurs,
        Err(error) => return unreadable(error),
    };
    if metadata.len() > MAX_INBOX_BYTES {
        return Content::Unfit(Unfit::TooLarge { bytes: metadata.len() });
    }
    let file = match open_regular(path) {
        Ok((file, _)) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Content::NotOurs,
        Err(error) => return unreadable(error),
    };
    let mut bytes = Vec::new();
    match file.take(MAX_INBOX_BYTES + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 > MAX_INBOX_BYTES => Content::Unfit(Unfit::TooLarge { bytes: read as u64 }),
        Ok(_) => match InboxMessage::parse(&bytes) {
            Some(message) => Content::Message(message),
            None if may_be_written(&metadata) => Content::MayBeWritten,
            None => Content::Unfit(Unfit::Empty),
        },
        Err(error) => unreadable(error),
    }
}

/// Whether a file is young. One from a future of some seconds is that of a clock nearby.
fn may_be_written(metadata: &Metadata) -> bool {
    match age(metadata) {
        Ok(age) => age < PATIENCE,
        Err(ahead) => ahead < PATIENCE,
    }
}

impl Inbox {
    /// Moves a file to where it is kept with the reason. `None`: somebody else took it.
    pub(super) fn set_aside(&self, from: &Path, name: &OsStr, why: Unfit) -> Result<Option<Failed>> {
        let dir = self.make_dir(&[INBOX, FAILED])?;
        let random: u64 = rand::rng().random();
        let kept = file_name::from_hint(&name.to_string_lossy(), "message");
        let path = dir.join(format!("{kept}-{random:016x}"));
        // One rename, as taking a message is: of two who want it, one gets it.
        match rename(from, &path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            moved => moved?,
        }
        // The file is safe. If the reason cannot be written, the caller still has it.
        drop(self.write_reason(&dir, &path, name, &why));
        Ok(Some(Failed { name: name.to_owned(), why, path }))
    }

    fn write_reason(&self, dir: &Path, path: &Path, name: &OsStr, why: &Unfit) -> Result<(), DiskError> {
        self.write_whole(&reason_path(path), format!("{name:?}{NOT_DELIVERED}{why}\n").as_bytes())?;
        self.sync_dir(dir)
    }
}

/// The file that says why the message at a path was not delivered.
pub(super) fn reason_path(message: &Path) -> PathBuf {
    with_suffix(message.as_os_str(), REASON).into()
}
