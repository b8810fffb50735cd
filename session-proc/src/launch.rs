//! Starting a background process.

use crate::claim::Claim;
use crate::dossier::{Dossier, Origin, TurnRef, Watch};
use crate::entry::Entry;
use crate::id::Paths;
use crate::spawn::{self, Launched};
use crate::{Identity, ProcError, Registry, Start, Status, TurnMarker, dir_lock, mark, pattern, settle};
use chrono::Utc;
use session_disk::{Durability, ensure_dir};
use std::fs;
use std::io::ErrorKind;

/// The reference does not take so many ids that we have claimed.
const MAX_CLAIMS: u32 = 16;

impl Registry {
    /// Starts a command in a session and process group of its own, with standard input from `/dev/null` and its output
    /// in the log.
    ///
    /// With a supervisor, that is its parent: it outlives this process, writes down how the command ended, keeps the
    /// log below its cap, and is left with the children that the command abandons. Without one this process is the
    /// parent, and a shell around the command writes the exit status. [`Registry::status`], [`Registry::reconcile`],
    /// [`Registry::events`] and a stop then cut the log, reap, and note who is about to be lost from sight.
    /// [`Registry::look`], [`Registry::list`], [`Registry::wait`] and [`Registry::output`] do none of that: where only
    /// they are called, the log has no bound.
    ///
    /// On disk when it returns: the record in the state running (or further) with the process's identity beside it. At
    /// every moment before, also if this process dies, what runs can be found: by the claim, or by
    /// [`Registry::lost`].
    ///
    /// # Errors
    /// [`ProcError::EmptyCommand`], [`ProcError::Pattern`], a directory that is none, or the step that failed. Then
    /// nothing runs, and the id is free again.
    #[doc(alias = "Start")]
    pub fn start(&self, start: &Start) -> Result<Status, ProcError> {
        check(start)?;
        ensure_dir(&self.dir)?;
        let token = mark::token();
        let dossier = self.dossier(start, &token)?;
        for _ in 0..MAX_CLAIMS {
            let claim = Claim::take(&self.dir, &dossier)?;
            match self.launch(&claim, start, &token) {
                Ok(Launched::Runs) => return self.look(&claim.keep().id),
                Ok(Launched::IdTaken) => {}
                // It may run: the claim stays, and leads to it.
                Err(error @ ProcError::SupervisorSilent { .. }) => {
                    claim.keep();
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(ProcError::NoFreeId { proc_dir: self.dir.clone() })
    }

    fn launch(&self, claim: &Claim, start: &Start, token: &str) -> Result<Launched, ProcError> {
        if let Some(supervisor) = &self.supervisor {
            return spawn::supervised(supervisor, &claim.paths, start, token);
        }
        if !claim.is_undisputed()? {
            return Ok(Launched::IdTaken);
        }
        let process = spawn::unsupervised(&claim.paths, start, token)?;
        match put_down(&claim.paths, process.identity()) {
            Ok(()) => Ok(Launched::Runs),
            Err(error) => {
                process.kill();
                Err(error)
            }
        }
    }

    fn dossier(&self, start: &Start, token: &str) -> Result<Dossier, ProcError> {
        let turn = TurnMarker::read(&self.dir)?;
        let origin = Origin {
            token: token.to_owned(),
            name: start.name.clone(),
            command: start.command.clone(),
            cwd: start.cwd.to_string_lossy().into_owned(),
            lifetime: start.lifetime,
            log_cap_bytes: start.log_cap_bytes,
            claimed: Utc::now(),
            starter: Identity::own()?,
            turn: turn.and_then(|turn| Some(TurnRef { id: turn.turn_id, process: turn.process? })),
        };
        let watch =
            Watch { output: start.tells_output, pattern: start.pattern.clone(), remind_every_s: start.remind_every_s };
        Ok(Dossier { origin: Some(origin), watch, ..Dossier::default() })
    }
}

/// Writes the record of a process that runs, after its identity.
pub(crate) fn put_down(paths: &Paths, process: &Identity) -> Result<(), ProcError> {
    let _lock = dir_lock::lock(&paths.dir)?;
    let missing = || ProcError::NoProcess { id: paths.id.clone(), proc_dir: paths.dir.clone() };
    let before = Entry::load(paths)?.ok_or_else(missing)?;
    if before.record.is_some() {
        // Slower than all waiting, the reference has written a record of its own. That one is not ours to replace.
        return Err(ProcError::IdTaken { path: paths.record() });
    }
    let mut after = before.clone();
    settle::run(&mut after, process.clone(), Utc::now());
    after.save(Some(&before), Durability::Os)
}

fn check(start: &Start) -> Result<(), ProcError> {
    if start.command.trim().is_empty() {
        return Err(ProcError::EmptyCommand);
    }
    if let Some(text) = &start.pattern {
        pattern::compile(text)?;
    }
    // A program that cannot be started and a directory that is not there fail alike later.
    let metadata = fs::metadata(&start.cwd).map_err(|source| ProcError::read(&start.cwd, source))?;
    if metadata.is_dir() { Ok(()) } else { Err(ProcError::read(&start.cwd, ErrorKind::NotADirectory.into())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_the_reference_wrote_meanwhile_is_not_replaced() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let registry = Registry::open(scratch.path()).expect("an absolute path");
        let dossier = registry.dossier(&Start::new("oak", "."), "0f").expect("/proc is readable");
        let claim = Claim::take(scratch.path(), &dossier).expect("the id is free");
        fs::write(claim.paths.record(), "{\"id\":\"bg1\",\"state\":\"running\"}\n").expect("it is our directory");
        let own = Identity::own().expect("/proc is readable");
        let error = put_down(&claim.paths, &own).expect_err("it is taken");
        assert!(matches!(error, ProcError::IdTaken { .. }), "{error}");
        let launched = registry.launch(&claim, &Start::new("oak", "."), "0f").expect("it can be seen");
        assert!(matches!(launched, Launched::IdTaken));
        let record = claim.paths.record();
        drop(claim);
        let names: Vec<_> = fs::read_dir(scratch.path()).expect("there").flatten().map(|entry| entry.path()).collect();
        assert!(names.contains(&record) && !names.iter().any(|path| path.ends_with(".bg1.id")), "{names:?}");
    }
}
