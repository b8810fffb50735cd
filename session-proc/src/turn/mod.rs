//! The marker of a session's running turn: `proc/turn.pid`, which the reference knows, and `proc/.turn` beside it.

mod files;
mod seen;

pub use seen::{LeftTurn, LiveTurn};

use crate::identity::own_pid;
use crate::{Identity, ProcError, mark};
use chrono::Utc;
use files::TurnIdentity;
use session_core::layout::TURN_PID;
use session_disk::ensure_dir;
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};

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
        ensure_dir(proc_dir)?;
        let own = TurnIdentity { process: Identity::own()?, turn: turn_id.to_owned(), started: Utc::now() };
        // From here on a failure drops the marker, which removes what has been written.
        let marker = TurnMarker { proc_dir: proc_dir.to_owned(), own };
        files::write(&marker.proc_dir, &marker.own)?;
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
        let is_named = files::read_pid(&self.proc_dir)?.is_some_and(|file| file.pid == self.own.process.pid);
        if is_named && files::read_identity(&self.proc_dir)?.as_ref() == Some(&self.own) {
            return Ok(Standing::Intact);
        }
        match TurnMarker::read(&self.proc_dir)? {
            Some(turn) if turn.pid != self.own.process.pid => Ok(Standing::TakenOver),
            _ => {
                files::write(&self.proc_dir, &self.own)?;
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

    /// In a copy of this process (after a fork) nothing is this turn's own.
    fn remove(&self) -> Result<(), ProcError> {
        if own_pid() == self.own.process.pid { files::remove(&self.proc_dir, &self.own) } else { Ok(()) }
    }
}

impl Drop for TurnMarker {
    fn drop(&mut self) {
        // There is nobody to tell. A marker that stays stops counting when this process ends.
        drop(self.remove());
    }
}
