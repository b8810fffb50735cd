//! Which records of background processes name a process that runs.

use crate::{Liveness, ProcError, small_file};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use std::fs;
use std::io;
use std::path::Path;

/// A record is small, but its command may be a whole script.
const MAX_RECORD_BYTES: u64 = 16 * 1024 * 1024;

/// A background process that runs, by its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveProcess {
    /// The name of its record, without `.json`.
    pub id: String,
    /// Its pid, which is also its process group's.
    pub pid: i32,
    /// The command line that was started: content, to be escaped before it reaches a terminal.
    pub command: String,
}

#[derive(Deserialize)]
struct Running {
    pid: i32,
    #[serde(default)]
    command: String,
    started: DateTime<Utc>,
    state: String,
}

/// The background processes under `proc_dir` that run, in the order of their record's names.
///
/// What is no record is passed over: directories, links, FIFOs, empty files, other JSON. Writes nothing.
///
/// # Errors
/// When the directory, a record or `/proc` cannot be read. A directory that is not there holds none.
pub fn live_processes(proc_dir: &Path) -> Result<Vec<LiveProcess>, ProcError> {
    let entries = match fs::read_dir(proc_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(ProcError::read(proc_dir, source)),
    };
    let mut live = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| ProcError::read(proc_dir, source))?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".json")).filter(|id| !id.starts_with('.'))
        else {
            continue;
        };
        let Some(file) = small_file::read(&entry.path(), MAX_RECORD_BYTES)? else { continue };
        let Ok(record) = serde_json::from_slice::<Running>(&file.bytes) else { continue };
        if record.state == "running" && Liveness::by_start(record.pid, record.started)?.is_live() {
            live.push(LiveProcess { id: id.to_owned(), pid: record.pid, command: record.command });
        }
    }
    live.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(live)
}
