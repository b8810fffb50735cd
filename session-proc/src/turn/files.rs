//! The two files of a marker: what stands in them.

use crate::{Identity, ProcError, small_file};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use session_core::layout::{TURN, TURN_PID};
use session_disk::{Durability, remove_file_if_there, replace};
use std::path::Path;

const MAX_PID_FILE_BYTES: u64 = 4096;
const MAX_IDENTITY_FILE_BYTES: u64 = 64 * 1024;

/// What `proc/.turn` says, as JSON in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TurnIdentity {
    #[serde(flatten)]
    pub(super) process: Identity,
    pub(super) turn: String,
    pub(super) started: DateTime<Utc>,
}

/// What `proc/turn.pid` says, and when it was written.
pub(super) struct TurnPid {
    pub(super) pid: i32,
    pub(super) modified: DateTime<Utc>,
}

/// `None`: there is no such file, or it holds something else.
pub(super) fn read_identity(proc_dir: &Path) -> Result<Option<TurnIdentity>, ProcError> {
    let file = small_file::read(&proc_dir.join(TURN), MAX_IDENTITY_FILE_BYTES)?;
    Ok(file.and_then(|file| serde_json::from_slice(&file.bytes).ok()))
}

/// `None`: there is no such file, or it holds no number.
pub(super) fn read_pid(proc_dir: &Path) -> Result<Option<TurnPid>, ProcError> {
    let file = small_file::read(&proc_dir.join(TURN_PID), MAX_PID_FILE_BYTES)?;
    Ok(file.and_then(|file| Some(TurnPid { pid: parse_pid(&file.bytes)?, modified: file.modified })))
}

/// The reference trims the text and wants a decimal number.
fn parse_pid(bytes: &[u8]) -> Option<i32> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

/// Writes both, each in one piece and not synced.
pub(super) fn write(proc_dir: &Path, own: &TurnIdentity) -> Result<(), ProcError> {
    let mut line = serde_json::to_vec(own).expect("strings, numbers and a time always serialize");
    line.push(b'\n');
    // Ours first: with it alone the turn is live already, and exactly.
    replace(&proc_dir.join(TURN), &line, Durability::Os)?;
    let pid = format!("{}\n", own.process.pid);
    replace(&proc_dir.join(TURN_PID), pid.as_bytes(), Durability::Os)?;
    Ok(())
}

/// Removes what is this turn's own.
pub(super) fn remove(proc_dir: &Path, own: &TurnIdentity) -> Result<(), ProcError> {
    let ours = read_identity(proc_dir)?;
    if ours.as_ref().is_some_and(|ours| ours != own) {
        // Another turn has taken over.
        return Ok(());
    }
    if read_pid(proc_dir)?.is_some_and(|file| file.pid == own.process.pid) {
        remove_file_if_there(&proc_dir.join(TURN_PID))?;
    }
    if ours.is_some() {
        remove_file_if_there(&proc_dir.join(TURN))?;
    }
    Ok(())
}
