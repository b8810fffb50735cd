//! The part of a rewind that is about files.

use super::RewindForce;
use crate::rewind_record::Record;
use crate::{Result, Session, StoreError};
use session_core::checkpoint::{CheckpointError, CheckpointRef, Checkpointer, FilesRestored, OnConflict};

impl Session {
    pub(super) fn checkpoint_error(&self, source: CheckpointError) -> StoreError {
        StoreError::Checkpoint { path: self.paths().checkpoints(), source }
    }

    /// Does, or does the rest of, what a record says of files. `None`: it was done, and nobody knows any more what.
    pub(super) fn bring_files(&self, record: &Record, own: &mut dyn Checkpointer) -> Result<FilesRestored> {
        let told = |error| self.checkpoint_error(error);
        if own.is_interrupted().map_err(told)? {
            return own.resume().map_err(told);
        }
        let last = own.last_restore().map_err(told)?;
        match last.filter(|last| Some(last.checkpoint) > record.restored_before) {
            // It had ended, and only the history did not tell of it.
            Some(done) => {
                Ok(FilesRestored { checkpoint: done.checkpoint, guard: done.guard, ..FilesRestored::default() })
            }
            None => {
                let force = if record.forced { RewindForce::Forced } else { RewindForce::Careful };
                own.restore(record.target.into(), force.on_conflict()).map_err(told)
            }
        }
    }

    /// Makes the workspace what it was before a record began to change it.
    pub(super) fn bring_back_files(&self, record: &Record, own: &mut dyn Checkpointer, on: OnConflict) -> Result<()> {
        let told = |error| self.checkpoint_error(error);
        if own.is_interrupted().map_err(told)? {
            return own.go_back(on).map(drop).map_err(told);
        }
        let last = own.last_restore().map_err(told)?;
        match last.filter(|last| Some(last.checkpoint) > record.restored_before) {
            Some(done) => own.restore(CheckpointRef::Guard(done.guard), on).map(drop).map_err(told),
            None => Ok(()),
        }
    }
}
