//! What a repair is about to do: there from before its first change until the history tells of it.
//!
//! Each fix can be repeated by itself; only the notice could be lost by a death in between.

use crate::{Durability, Result, SessionPaths};
use serde::{Deserialize, Serialize};
use session_core::{Timestamp, format_time, layout};
use session_disk::{read_regular, remove_file_if_there, replace};
use std::path::PathBuf;

/// A record that is larger is none.
const MAX_BYTES: u64 = 1 << 20;

/// A repair under way.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// When it began, in UTC.
    began: String,
    /// What it was going to do.
    planned: Vec<String>,
}

fn path(paths: &SessionPaths) -> PathBuf {
    paths.dir().join(layout::REPAIR)
}

/// The path of the record of a repair that has not ended.
pub(super) fn stands(paths: &SessionPaths) -> Option<PathBuf> {
    Some(path(paths)).filter(|path| path.symlink_metadata().is_ok())
}

/// What a repair that was interrupted was going to do, in a sentence.
pub(super) fn interrupted(paths: &SessionPaths) -> Option<String> {
    let path = stands(paths)?;
    let read = read_regular(&path, MAX_BYTES).ok();
    let record: Record = read.and_then(|(bytes, _)| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let planned =
        if record.planned.is_empty() { "nothing that could be read".into() } else { record.planned.join("; ") };
    Some(format!("an earlier repair was interrupted, which was going to do this: {planned}"))
}

/// On disk when it returns: the record, synced as the durability says.
pub(super) fn begin(paths: &SessionPaths, planned: Vec<String>, now: Timestamp, durability: Durability) -> Result<()> {
    let record = Record { began: format_time(&now), planned };
    let mut bytes = serde_json::to_vec(&record).expect("strings are always JSON");
    bytes.push(b'\n');
    Ok(replace(&path(paths), &bytes, durability)?)
}

/// The history tells of it.
pub(super) fn end(paths: &SessionPaths, durability: Durability) -> Result<()> {
    if remove_file_if_there(&path(paths))? {
        durability.sync_dir(paths.dir())?;
    }
    Ok(())
}
