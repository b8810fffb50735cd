//! How far bytes must have come.

use crate::{DiskError, sync_data, sync_dir};
use std::fs::File;
use std::path::Path;

/// How far a call's bytes must have come before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Handed to the kernel: survives a crash of the process, not of the machine.
    Os,
    /// On the disk (`fdatasync`, and a sync of the directory for a new entry): survives a power cut.
    #[default]
    Data,
}

impl Durability {
    /// Brings a file's bytes to the disk, if that is wanted. On disk when it returns: with [`Durability::Data`] what
    /// [`sync_data`] leaves.
    ///
    /// # Errors
    /// As [`sync_data`]; none with [`Durability::Os`].
    pub fn sync_data(self, file: &File, path: &Path) -> Result<(), DiskError> {
        match self {
            Durability::Os => Ok(()),
            Durability::Data => sync_data(file, path),
        }
    }

    /// Brings a directory's entries to the disk, if that is wanted. On disk when it returns: with [`Durability::Data`]
    /// what [`sync_dir`] leaves.
    ///
    /// # Errors
    /// As [`sync_dir`]; none with [`Durability::Os`].
    pub fn sync_dir(self, path: &Path) -> Result<(), DiskError> {
        match self {
            Durability::Os => Ok(()),
            Durability::Data => sync_dir(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use crate::faults::{self, Fault};

    #[test]
    fn only_what_is_to_survive_a_power_cut_is_synced() {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        let dir = tempfile::tempdir().expect("a scratch directory");
        let both = |durability: Durability| {
            let run = faults::with(Fault::None, || {
                durability.sync_data(file.as_file(), file.path()).and_then(|()| durability.sync_dir(dir.path()))
            });
            run.result.expect("both are there");
            run.ops
        };
        assert_eq!(both(Durability::Os), []);
        assert_eq!(both(Durability::Data), [Op::Sync, Op::SyncDir]);
    }

    #[test]
    fn a_sync_that_fails_is_told_and_one_that_is_not_wanted_cannot_fail() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let gone = dir.path().join("gone");
        assert!(Durability::Os.sync_dir(&gone).is_ok());
        let error = Durability::Data.sync_dir(&gone).expect_err("it is not there");
        assert_eq!((error.op, error.kind()), (Op::SyncDir, std::io::ErrorKind::NotFound));
    }
}
