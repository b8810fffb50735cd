//! Which background processes run.

use crate::{ProcError, Registry};
use std::path::Path;

/// A background process that runs, by its record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveProcess {
    /// The name of its record, without `.json`.
    pub id: String,
    /// Its pid; 0 while it is being started.
    pub pid: i32,
    /// The command line that was started: content, to be escaped before it reaches a terminal.
    pub command: String,
}

/// The background processes under `proc_dir` that run or are being started, oldest start first.
///
/// What is no record is passed over: directories, links, FIFOs, empty files, other JSON. Writes nothing.
///
/// # Errors
/// When the directory, a record or `/proc` cannot be read. A directory that is not there holds none.
pub fn live_processes(proc_dir: &Path) -> Result<Vec<LiveProcess>, ProcError> {
    let listing = Registry::open(proc_dir)?.list()?;
    let live = listing.processes.into_iter().filter(|status| !status.state.is_final());
    Ok(live
        .map(|status| LiveProcess { id: status.id.to_string(), pid: status.pid.unwrap_or(0), command: status.command })
        .collect())
}
