//! A file that is no history takes the place of the one whose secrets it masks.

use super::files::SessionFile;
use super::pieces::{Piece, pieces};
use crate::stamp::Stamp;
use crate::{Durability, Result, StoreError};
use session_disk::{
    DiskError, create_dir_all, create_new, exchange, hard_link, is_absent, open_regular, remove_file, rename,
    temp_name, write,
};
use session_secrets::{Finder, Found};
use std::fs::File;
use std::io;
use std::path::Path;

/// How often a file that changes meanwhile is done again.
const ROUNDS: usize = 8;

/// How a file is rewritten.
pub(super) struct Put<'a> {
    pub(super) finder: &'a Finder,
    /// Which of the secrets are masked.
    pub(super) which: fn(&Found) -> bool,
    /// The directory that keeps the file as it was.
    pub(super) backup: Option<&'a Path>,
    pub(super) durability: Durability,
}

/// Something that failed while pieces were written.
pub(crate) enum Failed {
    Read(io::Error),
    Write(StoreError),
}

impl Failed {
    /// The error; `path` is what was read.
    pub(crate) fn of(self, path: &Path) -> StoreError {
        match self {
            Failed::Read(error) => StoreError::read(path)(error),
            Failed::Write(error) => error,
        }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::Read(error)
    }
}

impl Put<'_> {
    /// Masks the secrets of a file. A file that is gone has none.
    ///
    /// On disk when it returns: the file as it was, in the backup's directory; the new one under its name; all synced as
    /// the durability says. After an error one of the two stands whole.
    pub(super) fn file(&self, file: &SessionFile) -> Result<()> {
        for _ in 0..ROUNDS {
            let (reader, metadata) = match open_regular(&file.path) {
                Ok(opened) => opened,
                Err(error) if is_absent(&error) => return Ok(()),
                Err(error) => return Err(StoreError::read(&file.path)(error)),
            };
            let temp = temp_name(&file.path);
            let put = self.fill(reader, file, &temp).and_then(|()| self.place(file, &temp, Stamp::of(&metadata)));
            match put {
                Ok(true) => return Ok(()),
                Ok(false) => remove_file(&temp)?,
                Err(error) => {
                    // The first error is the one to tell.
                    drop(remove_file(&temp));
                    return Err(error);
                }
            }
        }
        Err(StoreError::KeepsChanging { path: file.path.clone() })
    }

    fn fill(&self, reader: File, file: &SessionFile, temp: &Path) -> Result<()> {
        let new = create_new(temp)?;
        let filled = pieces(reader, file.shape, self.finder, &mut |piece| {
            write(&new, temp, &masked(piece, self.which)).map_err(|short| Failed::Write(DiskError::from(short).into()))
        });
        filled.map_err(|failed| failed.of(&file.path))?;
        Ok(self.durability.sync_data(&new, temp)?)
    }

    /// Gives the new file its name. False: the old one is not what was read.
    fn place(&self, file: &SessionFile, temp: &Path, read: Stamp) -> Result<bool> {
        if Stamp::at(&file.path).map_err(StoreError::read(&file.path))? != Some(read) {
            return Ok(false);
        }
        if let Some(backup) = self.backup {
            let kept = backup.join(&file.shown);
            create_dir_all(kept.parent().unwrap_or(backup))?;
            match hard_link(&file.path, &kept) {
                // An earlier round of the same call has kept it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                linked => linked?,
            }
            // Each directory may be new, up to the session's own.
            let session = backup.parent().and_then(Path::parent).unwrap_or(backup);
            let mut new = kept.ancestors().skip(1).take_while(|dir| dir.starts_with(session));
            new.try_for_each(|dir| self.durability.sync_dir(dir))?;
        }
        // A name that went away meanwhile, as that of a message that was taken, does not come back.
        match exchange(temp, &file.path) {
            Ok(()) => remove_file(temp)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) if error.is_unsupported() => rename(temp, &file.path)?,
            Err(error) => return Err(error.into()),
        }
        self.durability.sync_dir(file.path.parent().unwrap_or(&file.path))?;
        Ok(true)
    }
}

/// The bytes of a piece with the secrets that are meant masked.
pub(crate) fn masked(mut piece: Piece, which: fn(&Found) -> bool) -> Vec<u8> {
    piece.found.iter().filter(|found| which(found)).for_each(|found| found.mask(&mut piece.bytes));
    piece.bytes
}

#[cfg(test)]
mod tests {
    use super::super::files::Shape;
    use super::*;
    use std::cell::RefCell;
    use std::fs;
    use std::path::PathBuf;

    thread_local! {
        /// The file, and what becomes of it each time that a secret is found in it, the last first.
        static MEANWHILE: RefCell<(PathBuf, Vec<Option<String>>)> = const { RefCell::new((PathBuf::new(), Vec::new())) };
    }

    fn token() -> String {
        ["gh", "p_q7Zr2LmX9aBv4Kd8", "TyW3nHs6Pj1FcG5uEo99"].concat()
    }

    /// Takes every secret; somebody else is at work on the file.
    fn every(_: &Found) -> bool {
        MEANWHILE.with_borrow_mut(|(path, left)| match left.pop() {
            Some(Some(text)) => fs::write(path, text).expect("there is room"),
            Some(None) => fs::remove_file(path).expect("it is there"),
            None => {}
        });
        true
    }

    /// Masks a file that becomes this meanwhile; gives the answer, and what is in the directory.
    fn masked_while(mut meanwhile: Vec<Option<String>>) -> (Result<()>, Vec<(String, String)>) {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("oaks");
        fs::write(&path, format!("oak 0 {}\n", token())).expect("there is room");
        meanwhile.reverse();
        MEANWHILE.set((path.clone(), meanwhile));
        let put = Put { finder: &Finder::new(), which: every, backup: None, durability: Durability::Os };
        let done = put.file(&SessionFile { path, shown: "oaks".to_owned(), shape: Shape::Text });
        let entries = fs::read_dir(dir.path()).expect("it is there").flatten();
        let left = entries.map(|entry| {
            let text = fs::read_to_string(entry.path()).expect("it is text");
            (entry.file_name().to_string_lossy().into_owned(), text)
        });
        (done, left.collect())
    }

    fn state(n: usize) -> String {
        format!("oak {n}{}{}\n", " ".repeat(n), token())
    }

    #[test]
    fn s02_a_file_that_changes_while_its_secrets_are_masked_is_masked_as_it_is_then() {
        let (done, left) = masked_while(vec![Some(state(1)), Some(state(2))]);
        done.expect("it stands still in the end");
        assert_eq!(left, [("oaks".to_owned(), state(2).replace(&token(), &"*".repeat(40)))]);
    }

    #[test]
    fn s02_a_file_that_never_stands_still_stays_as_others_left_it_and_is_told() {
        let (done, left) = masked_while((1..=ROUNDS).map(|n| Some(state(n))).collect());
        assert!(matches!(&done, Err(StoreError::KeepsChanging { path }) if path.ends_with("oaks")), "{done:?}");
        assert_eq!(left, [("oaks".to_owned(), state(ROUNDS))], "and no other file is left behind");
    }

    #[test]
    fn s02_a_file_that_goes_away_meanwhile_does_not_come_back() {
        let (done, left) = masked_while(vec![None]);
        done.expect("there is no secret any more");
        assert_eq!(left, []);
    }
}
