//! The marker of a session's running turn: `proc/turn.pid`, which the reference knows, and `proc/.turn` beside it.

use crate::identity::own_pid;
use crate::{Identity, Liveness, ProcError, mark, procfs, small_file};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use session_core::layout::{TURN, TURN_PID};
use session_disk::{Durability, create_dir, remove_file, replace};
use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;
use std::path::{self, Path, PathBuf};

const MAX_PID_FILE_BYTES: u64 = 4096;
const MAX_IDENTITY_FILE_BYTES: u64 = 64 * 1024;

/// What `proc/.turn` says, as JSON in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TurnIdentity {
    #[serde(flatten)]
    process: Identity,
    turn: String,
    started: DateTime<Utc>,
}

/// The turn that runs in a session now, as its marker tells.
#[derive(Debug, Clone, PartialEq, Eq)]
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
            write!(f, "{}, ", command.escape_default())?;
        }
        write!(f, "since {})", self.since.format("%Y-%m-%dT%H:%M:%SZ"))
    }
}

/// A turn that is over and whose marker still stands: its process ended without ending it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftTurn {
    /// The process that ran it. Another one may have this pid by now.
    pub pid: i32,
    /// The turn's id, where this project's marker stands.
    pub turn_id: Option<String>,
    /// When the turn started, or, beside the reference, when its marker was written.
    pub since: DateTime<Utc>,
}

/// What [`TurnMarker::ensure`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The marker stands.
    Intact,
    /// It was missing, or named a dead process, and has been put back.
    PutBack,
    /// Another live process has marked a turn of its own over it. Nothing was changed.
    TakenOver,
}

/// The marker of this process's turn. It is removed when the value is dropped.
///
/// The marker tells; it does not exclude. Whoever runs a turn holds the session's lock as well.
#[doc(alias = "MarkTurnStart")]
#[derive(Debug)]
#[must_use = "the marker is removed as soon as it is dropped"]
pub struct TurnMarker {
    proc_dir: PathBuf,
    own: TurnIdentity,
}

impl TurnMarker {
    /// Where the reference keeps the pid of the running turn.
    #[doc(alias = "TurnPIDPath")]
    pub fn pid_path(proc_dir: &Path) -> PathBuf {
        proc_dir.join(TURN_PID)
    }

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
        let theirs = small_file::read(&proc_dir.join(TURN_PID), MAX_PID_FILE_BYTES)?;
        if let Some(file) = theirs
            && let Some(pid) = parse_pid(&file.bytes)
            && ours.as_ref().is_none_or(|ours| ours.process.pid != pid)
            && Liveness::by_start(pid, file.modified)?.is_live()
        {
            let process = Identity::of(pid)?;
            return Ok(Some(LiveTurn {
                pid,
                process,
                turn_id: None,
                command: procfs::command_name(pid),
                since: file.modified,
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
        let theirs = small_file::read(&proc_dir.join(TURN_PID), MAX_PID_FILE_BYTES)?;
        let turn = |file: small_file::SmallFile| {
            Some(LeftTurn { pid: parse_pid(&file.bytes)?, turn_id: None, since: file.modified })
        };
        Ok(theirs.and_then(turn))
    }

    /// Marks the start of a turn of this process. Creates `proc_dir`, but nothing above it.
    ///
    /// On disk when it returns: both files of the marker, each in one piece. They are not synced: after a power cut
    /// no turn runs.
    ///
    /// Between two processes that start at the same moment the session's lock decides, not this call.
    ///
    /// # Errors
    /// [`ProcError::TurnLive`] where a turn is live, also one of this process; otherwise the step that failed.
    pub fn start(proc_dir: &Path, turn_id: &str) -> Result<TurnMarker, ProcError> {
        if let Some(turn) = TurnMarker::read(proc_dir)? {
            return Err(ProcError::TurnLive { proc_dir: proc_dir.to_owned(), turn: Box::new(turn) });
        }
        TurnMarker::take_over(proc_dir, turn_id)
    }

    /// Marks the start of a turn whatever marker stands, as the reference does: for who holds the session's lock and
    /// has decided that the marker in the way means nothing.
    ///
    /// On disk when it returns: what [`TurnMarker::start`] leaves.
    ///
    /// # Errors
    /// The step that failed. What it had written is removed again where that can be done.
    pub fn take_over(proc_dir: &Path, turn_id: &str) -> Result<TurnMarker, ProcError> {
        match create_dir(proc_dir) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let own = TurnIdentity { process: Identity::own()?, turn: turn_id.to_owned(), started: Utc::now() };
        // From here on a failure drops the marker, which removes what has been written.
        let marker = TurnMarker { proc_dir: proc_dir.to_owned(), own };
        marker.write()?;
        Ok(marker)
    }

    /// The turn's id.
    pub fn turn_id(&self) -> &str {
        &self.own.turn
    }

    /// The process that runs the turn: this one.
    pub fn process(&self) -> &Identity {
        &self.own.process
    }

    /// The variable of the environment, and its value, by which processes that the turn starts by itself can be found
    /// when it is over: see [`Registry::lost`](crate::Registry::lost). What a registry starts has a mark of its own.
    pub fn mark(&self) -> (&'static str, OsString) {
        let dir = path::absolute(&self.proc_dir).unwrap_or_else(|_| self.proc_dir.clone());
        (mark::VARIABLE, mark::of_turn(&self.own.process, &dir))
    }

    /// Puts the marker back if it is not there. The reference's end of turn removes whatever marker stands, so this is
    /// called with each append; while the marker stands it costs the reading of two small files.
    ///
    /// On disk when it returns, unless another live turn stands there: both files of the marker, not synced. A
    /// directory that was removed is not created again.
    ///
    /// # Errors
    /// The step that failed; `NotFound` where the session was deleted.
    pub fn ensure(&self) -> Result<Standing, ProcError> {
        let file = small_file::read(&self.proc_dir.join(TURN_PID), MAX_PID_FILE_BYTES)?;
        let pid = file.and_then(|file| parse_pid(&file.bytes));
        if pid == Some(self.own.process.pid) && read_identity(&self.proc_dir)?.as_ref() == Some(&self.own) {
            return Ok(Standing::Intact);
        }
        match TurnMarker::read(&self.proc_dir)? {
            Some(turn) if turn.pid != self.own.process.pid => Ok(Standing::TakenOver),
            _ => {
                self.write()?;
                Ok(Standing::PutBack)
            }
        }
    }

    /// Ends the turn: removes the marker, as dropping it does, and says whether that worked.
    ///
    /// # Errors
    /// The step that failed. The marker stands then, and stops counting when this process ends.
    pub fn end(self) -> Result<(), ProcError> {
        self.remove()
        // Dropping it tries once more and finds nothing of its own.
    }

    fn write(&self) -> Result<(), ProcError> {
        let mut line = serde_json::to_vec(&self.own).expect("strings, numbers and a time always serialize");
        line.push(b'\n');
        // Ours first: with it alone the turn is live already, and exactly.
        replace(&self.proc_dir.join(TURN), &line, Durability::Os)?;
        let pid = format!("{}\n", self.own.process.pid);
        replace(&self.proc_dir.join(TURN_PID), pid.as_bytes(), Durability::Os)?;
        Ok(())
    }

    /// Removes what is this turn's own. In a copy of this process (after a fork) nothing is.
    fn remove(&self) -> Result<(), ProcError> {
        if own_pid() != self.own.process.pid {
            return Ok(());
        }
        let ours = read_identity(&self.proc_dir)?;
        let taken_over = ours.as_ref().is_some_and(|ours| ours != &self.own);
        let file = small_file::read(&self.proc_dir.join(TURN_PID), MAX_PID_FILE_BYTES)?;
        let pid = file.and_then(|file| parse_pid(&file.bytes));
        if pid == Some(self.own.process.pid) && !taken_over {
            remove_if_there(&self.proc_dir.join(TURN_PID))?;
        }
        if ours.is_some() && !taken_over {
            remove_if_there(&self.proc_dir.join(TURN))?;
        }
        Ok(())
    }
}

impl Drop for TurnMarker {
    fn drop(&mut self) {
        // There is nobody to tell. A marker that stays stops counting when this process ends.
        drop(self.remove());
    }
}

fn read_identity(proc_dir: &Path) -> Result<Option<TurnIdentity>, ProcError> {
    let file = small_file::read(&proc_dir.join(TURN), MAX_IDENTITY_FILE_BYTES)?;
    Ok(file.and_then(|file| serde_json::from_slice(&file.bytes).ok()))
}

/// The reference trims the text and wants a decimal number.
fn parse_pid(bytes: &[u8]) -> Option<i32> {
    std::str::from_utf8(bytes).ok()?.trim().parse().ok()
}

fn remove_if_there(path: &Path) -> Result<(), ProcError> {
    match remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => Ok(done?),
    }
}
