//! The record of a rewind that changes files: there from before the first change until the history tells of it.

use crate::{Durability, Result, SessionPaths, StoreError};
use serde::{Deserialize, Serialize};
use session_core::checkpoint::CheckpointRef;
use session_core::layout;
use session_disk::{is_absent, read_regular, remove_file, replace};
use std::io;
use std::path::PathBuf;

/// A record that is larger is none.
const MAX_BYTES: u64 = 1 << 20;

/// A rewind, or the undoing of one, under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    /// Whether it takes another one back.
    pub(crate) undoes: bool,
    /// The last event that stays; when undoing, that of the rewind.
    pub(crate) event: u64,
    /// How many events the history had.
    pub(crate) events: u64,
    /// Whether the conversation goes back too.
    pub(crate) chat: bool,
    /// How many messages are taken.
    pub(crate) dropped: u64,
    /// What the workspace is to become.
    pub(crate) target: Target,
    pub(crate) forced: bool,
    /// The checkpoint that the newest restore before this one had left.
    pub(crate) restored_before: Option<u64>,
    /// When it began, in UTC.
    pub(crate) began: String,
}

/// A checkpoint, as it stands in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Target {
    Taken(u64),
    Guard(u64),
}

impl From<Target> for CheckpointRef {
    fn from(target: Target) -> Self {
        match target {
            Target::Taken(n) => CheckpointRef::Taken(n),
            Target::Guard(n) => CheckpointRef::Guard(n),
        }
    }
}

fn path(paths: &SessionPaths) -> PathBuf {
    paths.dir().join(layout::REWIND)
}

/// The path of the record of a rewind that has not ended.
pub(crate) fn stands(paths: &SessionPaths) -> Result<Option<PathBuf>> {
    let path = path(paths);
    match path.symlink_metadata() {
        Ok(_) => Ok(Some(path)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(StoreError::read(&path)(error)),
    }
}

/// Whether the record says what was under way.
pub(crate) fn is_readable(paths: &SessionPaths) -> bool {
    read(paths).is_ok_and(|record| record.is_some())
}

pub(crate) fn read(paths: &SessionPaths) -> Result<Option<Record>> {
    let path = path(paths);
    let bytes = match read_regular(&path, MAX_BYTES) {
        Ok((bytes, _)) => bytes,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(StoreError::read(&path)(error)),
    };
    let bad = |error: serde_json::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    serde_json::from_slice(&bytes).map(Some).map_err(bad).map_err(StoreError::read(&path))
}

pub(crate) fn write(paths: &SessionPaths, record: &Record, durability: Durability) -> Result<()> {
    let mut bytes = serde_json::to_vec(record).expect("strings, numbers and booleans are always JSON");
    bytes.push(b'\n');
    Ok(replace(&path(paths), &bytes, durability)?)
}

pub(crate) fn remove(paths: &SessionPaths, durability: Durability) -> Result<()> {
    remove_file(&path(paths))?;
    Ok(durability.sync_dir(paths.dir())?)
}
