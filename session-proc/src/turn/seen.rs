//! What a marker tells others: who runs a turn now, and whose turn was left behind.

use super::TurnMarker;
use super::files::{TurnPid, read_identity, read_pid};
use crate::{Identity, Liveness, ProcError, procfs};
use chrono::{DateTime, Utc};
use session_core::layout::{TURN, TURN_PID};
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// The turn that runs in a session now, as its marker tells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveTurn {
    /// The process that runs it.
    pub pid: i32,
    /// Who that is; `None` where this user may not see the process.
    pub process: Option<Identity>,
    /// The turn's id, where this project's marker stands.
    pub turn_id: Option<String>,
    /// The process's command name, as it calls itself: escape it before it reaches a terminal.
    pub command: Option<String>,
    /// When the turn started, or, beside the reference, when its marker was written.
    pub since: DateTime<Utc>,
}

impl fmt::Display for LiveTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {} (", self.pid)?;
        if let Some(command) = &self.command {
            write!(f, "{}, ", command.escape_debug())?;
        }
        write!(f, "since {})", self.since.format("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl LiveTurn {
    /// Whether the calling process is the one that runs the turn, or descends from it: then what it does belongs to the
    /// turn. Not where this user may not see that process.
    ///
    /// # Errors
    /// A failed read of `/proc`.
    pub fn is_of_this_process(&self) -> Result<bool, ProcError> {
        self.process.as_ref().map_or(Ok(false), Identity::is_or_begot_this_process)
    }
}

/// A turn that is over and whose marker still stands: its process ended without ending it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftTurn {
    /// The process that ran it. Another one may have this pid by now.
    pub pid: i32,
    /// The turn's id, where this project's marker stands.
    pub turn_id: Option<String>,
    /// When the turn started, or, beside the reference, when its marker was written.
    pub since: DateTime<Utc>,
}

impl TurnMarker {
    /// The live turn of the session whose process records are in `proc_dir`, if there is one.
    ///
    /// A turn is live when its process runs and is the one that wrote the marker: by `.turn` where that names the
    /// same pid, else when it started no later than `turn.pid` was written (in doubt it did). A `.turn` without a
    /// `turn.pid` counts too: the reference removes the latter at the end of a turn of its own.
    ///
    /// Writes nothing, and is not blocked by whatever has the names of the two files.
    ///
    /// # Errors
    /// When a file that is there cannot be read.
    #[doc(alias = "TurnPID")]
    #[doc(alias = "ActiveTurns")]
    pub fn read(proc_dir: &Path) -> Result<Option<LiveTurn>, ProcError> {
        let ours = read_identity(proc_dir)?;
        if let Some(TurnPid { pid, modified }) = read_pid(proc_dir)?
            && ours.as_ref().is_none_or(|ours| ours.process.pid != pid)
            && Liveness::by_start(pid, modified)?.is_live()
        {
            let process = Identity::of(pid)?;
            return Ok(Some(LiveTurn {
                pid,
                process,
                turn_id: None,
                command: procfs::command_name(pid),
                since: modified,
            }));
        }
        match ours {
            Some(ours) if ours.process.liveness()?.is_live() => Ok(Some(LiveTurn {
                pid: ours.process.pid,
                command: procfs::command_name(ours.process.pid),
                process: Some(ours.process),
                turn_id: Some(ours.turn),
                since: ours.started,
            })),
            _ => Ok(None),
        }
    }

    /// Whether anything stands where a marker would, whatever it says. Writes nothing.
    ///
    /// # Errors
    /// When the directory cannot be looked into.
    pub fn stands(proc_dir: &Path) -> Result<bool, ProcError> {
        for name in [TURN, TURN_PID] {
            let path = proc_dir.join(name);
            match path.symlink_metadata() {
                Ok(_) => return Ok(true),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(source) => return Err(ProcError::Read { path, source }),
            }
        }
        Ok(false)
    }

    /// The turn whose marker stands although it is over, if there is one: its process was killed, or the machine went
    /// down. Writes nothing.
    ///
    /// # Errors
    /// When a file that is there cannot be read.
    pub fn left(proc_dir: &Path) -> Result<Option<LeftTurn>, ProcError> {
        if TurnMarker::read(proc_dir)?.is_some() {
            return Ok(None);
        }
        if let Some(ours) = read_identity(proc_dir)? {
            return Ok(Some(LeftTurn { pid: ours.process.pid, turn_id: Some(ours.turn), since: ours.started }));
        }
        let turn = |file: TurnPid| LeftTurn { pid: file.pid, turn_id: None, since: file.modified };
        Ok(read_pid(proc_dir)?.map(turn))
    }
}
