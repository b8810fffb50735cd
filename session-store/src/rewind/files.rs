//! The part of a rewind that is about files.

use super::RewindForce;
use crate::rewind_record::Record;
use crate::{Result, Session, StoreError};
use session_core::checkpoint::{
    CheckpointError, CheckpointRef, Checkpointer, FilesRestored, InterruptedRestore, LastRestore, OnConflict,
};

/// How far the restore of a record has come. Somebody may have restored something else since: that is another restore,
/// and what it did to the workspace is not what the record says.
enum Restore {
    /// It has not begun, or another one has replaced what it did.
    Due,
    /// It was interrupted.
    Interrupted,
    /// It has ended.
    Done(LastRestore),
}

/// Whether a record goes on over what stands against it.
pub(super) fn force_of(record: &Record) -> RewindForce {
    if record.forced { RewindForce::Forced } else { RewindForce::Careful }
}

impl Session {
    pub(super) fn checkpoint_error(&self, source: CheckpointError) -> StoreError {
        StoreError::Checkpoint { path: self.paths().checkpoints(), source }
    }

    /// Looks how far the restore of a record has come.
    ///
    /// # Errors
    /// [`StoreError::RestoreInterrupted`] where another one was interrupted: the workspace is neither the one nor the other.
    fn restore_of(&self, record: &Record, own: &dyn Checkpointer) -> Result<Restore> {
        let told = |error| self.checkpoint_error(error);
        let target = Some(CheckpointRef::from(record.target));
        match own.interrupted().map_err(told)? {
            Some(InterruptedRestore { restoring }) if restoring == target => return Ok(Restore::Interrupted),
            Some(_) => {
                let (name, path) = (self.name().to_owned(), self.paths().checkpoints());
                return Err(StoreError::RestoreInterrupted { name, path });
            }
            None => {}
        }
        let last = own.last_restore().map_err(told)?.filter(|last| Some(last.checkpoint) > record.restored_before);
        Ok(last.filter(|last| last.restored == target).map_or(Restore::Due, Restore::Done))
    }

    /// Does, or does the rest of, what a record says of files.
    pub(super) fn bring_files(&self, record: &Record, own: &mut dyn Checkpointer) -> Result<FilesRestored> {
        let told = |error| self.checkpoint_error(error);
        match self.restore_of(record, own)? {
            Restore::Interrupted => own.resume().map_err(told),
            // Only the history did not tell of it.
            Restore::Done(done) => {
                Ok(FilesRestored { checkpoint: done.checkpoint, guard: done.guard, ..FilesRestored::default() })
            }
            Restore::Due => own.restore(record.target.into(), force_of(record).on_conflict()).map_err(told),
        }
    }

    /// Makes the workspace what it was before a record began to change it. Where another restore has come since, it
    /// stays what that one made of it.
    pub(super) fn bring_back_files(&self, record: &Record, own: &mut dyn Checkpointer, on: OnConflict) -> Result<()> {
        let told = |error| self.checkpoint_error(error);
        match self.restore_of(record, own)? {
            Restore::Interrupted => own.go_back(on).map(drop).map_err(told),
            Restore::Done(done) => own.restore(CheckpointRef::Guard(done.guard), on).map(drop).map_err(told),
            Restore::Due => Ok(()),
        }
    }
}
