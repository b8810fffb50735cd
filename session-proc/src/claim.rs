//! Taking an id that nobody else has, beside others of ours and beside the reference.

use crate::dossier::Dossier;
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
    pub(crate) fn take(dir: &Path, dossier: &Dossier) -> Result<Claim, ProcError> {
        Claim::take_and_wait(dir, dossier, |_| thread::sleep(SECOND_LOOK))
    }

    fn take_and_wait(dir: &Path, dossier: &Dossier, mut wait: impl FnMut(&Paths)) -> Result<Claim, ProcError> {
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
            dossier.write(&claim.paths.dossier(), Durability::Os)?;
            wait(&claim.paths);
            if claim.is_undisputed()? {
                return Ok(claim);
            }
        }
        Err(ProcError::NoFreeId { proc_dir: dir.to_owned() })
    }

    /// The id has become a process's.
    pub(crate) fn keep(mut self) -> Paths {
        self.kept = true;
        self.paths.clone()
    }

    /// Whether nobody else has written a record under the id.
    pub(crate) fn is_undisputed(&self) -> Result<bool, ProcError> {
        let path = self.paths.record();
        let metadata = fs::symlink_metadata(&path).map_err(|source| ProcError::read(&path, source))?;
        Ok(metadata.len() == 0)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // Nothing was started. What cannot be removed is a claim of a process that will have ended.
        match self.is_undisputed() {
            Ok(true) => self.paths.all().iter().for_each(|path| drop(remove_file(path))),
            // The reference's now, its log included.
            Ok(false) | Err(_) => drop(remove_file(&self.paths.dossier())),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dossier::Origin;
    use crate::{Identity, Lifetime};
    use chrono::Utc;

    fn dossier() -> Dossier {
        let origin = Origin {
            token: "0f".to_owned(),
            name: String::new(),
            command: "oak".to_owned(),
            cwd: ".".to_owned(),
            lifetime: Lifetime::Ephemeral,
            log_cap_bytes: 0,
            claimed: Utc::now(),
            starter: Identity::own().expect("/proc is readable"),
            turn: None,
        };
        Dossier { origin: Some(origin), ..Dossier::default() }
    }

    fn files(dir: &Path) -> Vec<(String, String)> {
        let entries = fs::read_dir(dir).expect("it is there").flatten();
        let text = |entry: &fs::DirEntry| fs::read_to_string(entry.path()).expect("text");
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name().into_string().expect("UTF-8"), text(&entry))).collect();
        files.sort();
        files
    }

    #[test]
    fn an_id_that_the_reference_takes_meanwhile_is_its_own() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        // It looked before the claim, and writes its record after it.
        let wait = |paths: &Paths| {
            if paths.id.number() == Some(1) {
                fs::write(paths.log(), "theirs\n").expect("it is our directory");
                fs::write(paths.record(), "{}\n").expect("it is our directory");
            }
        };
        let claim = Claim::take_and_wait(scratch.path(), &dossier(), wait).expect("there are more ids");
        assert_eq!(claim.paths.id.as_str(), "bg2");
        drop(claim);
        // Or even later.
        let claim = Claim::take_and_wait(scratch.path(), &dossier(), |_| {}).expect("there are more ids");
        fs::write(claim.paths.record(), "{}\n").expect("it is our directory");
        assert!(!claim.is_undisputed().expect("readable"));
        drop(claim);
        let theirs = [("bg1.json", "{}\n"), ("bg1.log", "theirs\n"), ("bg2.json", "{}\n"), ("bg2.log", "")];
        assert_eq!(files(scratch.path()), theirs.map(|(name, text)| (name.to_owned(), text.to_owned())));
    }

    #[test]
    fn claims_that_are_made_at_the_same_time_have_an_id_each() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let dossier = dossier();
        let first = Claim::take_and_wait(scratch.path(), &dossier, |_| {}).expect("the id is free").keep();
        // Many look for the highest number at the same time, and find the same.
        let mut ids: Vec<String> = thread::scope(|scope| {
            let take = || Claim::take_and_wait(scratch.path(), &dossier, |_| {}).map(Claim::keep);
            let taking: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            let taken = taking.into_iter().map(|thread| thread.join().expect("it does not panic"));
            taken.map(|paths| paths.expect("there are more ids").id.to_string()).collect()
        });
        ids.push(first.id.to_string());
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 9, "{ids:?}");
    }

    #[test]
    fn a_claim_that_is_not_kept_leaves_nothing() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let claim = Claim::take_and_wait(scratch.path(), &dossier(), |_| {}).expect("the id is free");
        let names: Vec<_> = files(scratch.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, [".bg1.id", "bg1.json", "bg1.log"]);
        drop(claim);
        assert_eq!(files(scratch.path()), []);
    }
}
