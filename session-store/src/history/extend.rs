//! Adding lines to a history that stand elsewhere already, as they stand there.

use super::blank::take_back;
use crate::flock::{self, Inode, names};
use crate::{Durability, Result, SessionPaths, StoreError};
use session_disk::{append, create_new, open_append};
use std::fs::File;
use std::io;

/// A history that is being continued, locked against our own appends.
#[derive(Debug)]
pub(crate) struct Extension<'a> {
    paths: &'a SessionPaths,
    file: File,
    durability: Durability,
    /// How long it is.
    at: u64,
}

impl<'a> Extension<'a> {
    /// Locks the history if it is so long and that file (device and inode; 0 where there is none). `None`: it is not.
    pub(crate) fn begin(
        paths: &'a SessionPaths,
        (at, identity): (u64, (u64, u64)),
        durability: Durability,
    ) -> Result<Option<Self>> {
        let path = paths.history();
        let file = match open_append(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && identity == (0, 0) => {
                match create_new(&path) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error.into()),
                }
                open_append(&path)?
            }
            opened => opened?,
        };
        flock::exclusive(&file, &path)?;
        let metadata = file.metadata().map_err(StoreError::read(&path))?;
        let is_it = identity == (0, 0) || Inode::of(&metadata).is(identity);
        let is_so_long = metadata.len() == at && metadata.is_file();
        Ok((is_it && is_so_long && names(&path, &file)?).then_some(Extension { paths, file, durability, at }))
    }

    /// Adds bytes in one write. False: somebody who takes no lock has appended meanwhile; nothing of it is there then.
    ///
    /// On disk when it returns true: the bytes, synced as the durability says.
    ///
    /// # Errors
    /// [`StoreError::Append`]. The bytes that did reach the file are the first of those that were given, so that it can be
    /// tried again from there.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Result<bool> {
        let path = self.paths.history();
        let failed = |source| StoreError::Append { path: path.clone(), whole_events: 0, source };
        let offset = append(&self.file, &path, bytes).map_err(|short| failed(short.error))?;
        if offset != self.at {
            take_back(&self.file, &path, offset, bytes.len() as u64)?;
            return Ok(false);
        }
        self.durability.sync_data(&self.file, &path).map_err(failed)?;
        if self.at == 0 {
            self.durability.sync_dir(self.paths.dir())?;
        }
        self.at += bytes.len() as u64;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use session_disk::Op;
    use session_disk::faults::{Fault, with};
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    const OAK: &[u8] = b"{\"ts\":\"2026-01-02T03:04:05Z\",\"kind\":\"notice\",\"text\":\"oak\"}\n";
    const ASH: &[u8] = b"{\"ts\":\"2026-01-02T03:04:06Z\",\"kind\":\"notice\",\"text\":\"ash\"}\n";

    fn session() -> (tempfile::TempDir, SessionPaths) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path().to_owned());
        (dir, paths)
    }

    fn place(paths: &SessionPaths) -> (u64, (u64, u64)) {
        let metadata = fs::metadata(paths.history()).expect("it is there");
        (metadata.len(), (metadata.dev(), metadata.ino()))
    }

    fn begin(paths: &SessionPaths, at: (u64, (u64, u64))) -> Result<Option<Extension<'_>>> {
        Extension::begin(paths, at, Durability::Data)
    }

    #[test]
    fn a_history_that_is_not_there_is_made_only_where_none_was_expected() {
        let (_dir, paths) = session();
        begin(&paths, (0, (7, 7))).expect_err("the file that was looked at is gone");
        assert!(!paths.history().exists());

        let mut extension = begin(&paths, (0, (0, 0))).expect("nothing forbids it").expect("none was expected");
        let syncs = |extension: &mut Extension<'_>, bytes| {
            let run = with(Fault::None, || extension.add(bytes));
            assert!(run.result.expect("nothing forbids it"));
            run.ops.into_iter().filter(|op| matches!(op, Op::Sync | Op::SyncDir)).collect::<Vec<_>>()
        };
        // Its name has to be on the disk with its first bytes, and only then.
        assert_eq!(syncs(&mut extension, OAK), [Op::Sync, Op::SyncDir]);
        assert_eq!(syncs(&mut extension, ASH), [Op::Sync]);
        assert_eq!(fs::read(paths.history()).expect("it is there"), [OAK, ASH].concat());
    }

    #[test]
    fn another_file_and_another_length_are_not_the_history_that_was_looked_at() {
        let (dir, paths) = session();
        fs::write(paths.history(), OAK).expect("scratch");
        let (len, identity) = place(&paths);
        assert!(begin(&paths, (len - 1, identity)).expect("it can be opened").is_none());
        assert!(begin(&paths, (len, identity)).expect("it can be opened").is_some());

        // As long, and another one.
        let other = dir.path().join("other");
        fs::write(&other, ASH).expect("scratch");
        fs::rename(&other, paths.history()).expect("scratch");
        assert!(begin(&paths, (len, identity)).expect("it can be opened").is_none());
    }

    #[test]
    fn what_is_added_behind_a_line_of_somebody_who_takes_no_lock_is_made_blank_again() {
        let (_dir, paths) = session();
        fs::write(paths.history(), OAK).expect("scratch");
        let mut extension = begin(&paths, place(&paths)).expect("it can be opened").expect("it is the one");
        fs::write(paths.history(), [OAK, ASH].concat()).expect("scratch");

        assert!(!extension.add(OAK).expect("the disk takes it"));
        let bytes = fs::read(paths.history()).expect("it is there");
        let (kept, added) = bytes.split_at(OAK.len() + ASH.len());
        assert_eq!(kept, [OAK, ASH].concat());
        assert!(added.len() == OAK.len() && added.trim_ascii().is_empty() && added.ends_with(b"\n"), "{added:?}");
    }
}
