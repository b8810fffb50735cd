//! Taking an id that nobody else has, beside others of ours and beside the reference.

use crate::dossier::{Dossier, Origin};
use crate::id::{Paths, last_number};
use crate::{ProcError, ProcessId};
use session_disk::{DiskError, Durability, create_new, remove_file};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The reference looks whether an id has a record, and writes that record once its process runs. In between it can
/// take an id that we have claimed since; then its record stands there after this time.
const SECOND_LOOK: Duration = Duration::from_millis(20);
/// So many ids in a row taken by others are no accident.
const MAX_TRIES: u64 = 10_000;

/// An id that is taken. Dropping it without [`Claim::keep`] gives it back.
pub(crate) struct Claim {
    pub(crate) paths: Paths,
    kept: bool,
}

impl Claim {
    /// Takes the next free id.
    ///
    /// On disk when it returns: an empty record, which the reference passes over; an empty log; and the dossier, which
    /// says what is to be started and who is about to.
    pub(crate) fn take(dir: &Path, origin: impl Fn(&ProcessId) -> Origin) -> Result<Claim, ProcError> {
        let first = last_number(dir)?.saturating_add(1);
        for number in first..first.saturating_add(MAX_TRIES) {
            let paths = Paths::new(dir, &ProcessId::numbered(number));
            if !create_exclusively(&paths.record())? {
                continue;
            }
            let claim = Claim { paths, kept: false };
            if !create_exclusively(&claim.paths.log())? {
                // The reference has started something whose record follows, or somebody left a log behind. The empty
                // record stays: removing it could remove the reference's, which may stand in it by now.
                claim.keep();
                continue;
            }
            let dossier = Dossier { origin: Some(origin(&claim.paths.id)), ..Dossier::default() };
            dossier.write(&claim.paths.dossier(), Durability::Os)?;
            thread::sleep(SECOND_LOOK);
            if claim.is_undisputed()? {
                return Ok(claim);
            }
            // The reference's now, its log included.
            remove_file(&claim.paths.dossier())?;
            claim.keep();
        }
        Err(ProcError::NoFreeId { proc_dir: dir.to_owned() })
    }

    /// The id has become a process's.
    pub(crate) fn keep(mut self) -> Paths {
        self.kept = true;
        self.paths.clone()
    }

    fn is_undisputed(&self) -> Result<bool, ProcError> {
        let path = self.paths.record();
        let metadata = fs::symlink_metadata(&path).map_err(|source| ProcError::read(&path, source))?;
        Ok(metadata.len() == 0)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.kept && self.is_undisputed().unwrap_or(false) {
            // Nothing was started. What cannot be removed is a claim of a process that will have ended.
            for path in self.paths.all() {
                drop(remove_file(&path));
            }
        }
    }
}

fn create_exclusively(path: &Path) -> Result<bool, DiskError> {
    match create_new(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
