//! The registry: the background processes of one session, on disk.

use crate::entry::Entry;
use crate::id::{Paths, recorded};
use crate::settle::{Verdict, settle, settle_at_last};
use crate::start::Supervisor;
use crate::{ProcError, ProcessId, State, Status, dir_lock, trim};
use session_disk::Durability;
use std::path::{self, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a live supervisor is given to write down the end that everybody can see already.
const PENDING_PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_NAP: Duration = Duration::from_millis(50);

/// The background processes of the session whose records are in one directory.
///
/// A value holds no state but the paths: every call reads the files, and any number of values and processes may work
/// on one directory at once, the reference's too.
#[derive(Debug, Clone)]
pub struct Registry {
    pub(crate) dir: PathBuf,
    pub(crate) supervisor: Option<Supervisor>,
}

/// What became of an entry.
pub(crate) struct Change<T> {
    pub(crate) before: Entry,
    pub(crate) after: Entry,
    pub(crate) answer: T,
}

/// All the records of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Listing {
    /// The processes, oldest start first.
    pub processes: Vec<Status>,
    /// What could not be read.
    pub unreadable: Vec<ProcError>,
}

impl Registry {
    /// The registry over a session's `proc` directory, which need not exist. Creates nothing.
    ///
    /// # Errors
    /// When the path is relative and there is no current directory.
    pub fn open(proc_dir: &Path) -> Result<Registry, ProcError> {
        // A supervisor runs in another directory than its starter.
        let dir = path::absolute(proc_dir).map_err(|source| ProcError::read(proc_dir, source))?;
        Ok(Registry { dir, supervisor: None })
    }

    /// Names the executable that stays with each process that is started from now on: see [`supervise`](crate::supervise).
    #[must_use]
    pub fn with_supervisor(mut self, supervisor: Supervisor) -> Registry {
        self.supervisor = Some(supervisor);
        self
    }

    /// The directory of the records.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the record of a process is.
    pub fn record_path(&self, id: &ProcessId) -> PathBuf {
        self.paths(id).record()
    }

    /// Where the output of a process is.
    pub fn log_path(&self, id: &ProcessId) -> PathBuf {
        self.paths(id).log()
    }

    /// What is true of a process now. Writes nothing.
    ///
    /// A process that has just ended and whose supervisor is about to say how is waited for.
    ///
    /// # Errors
    /// [`ProcError::NoProcess`] and [`ProcError::Unreadable`]; otherwise the step that failed.
    #[doc(alias = "Status")]
    pub fn look(&self, id: &ProcessId) -> Result<Status, ProcError> {
        Status::of(&self.settled(id)?.1)
    }

    /// As [`Registry::look`]. On disk when it returns: what was seen, so that it stays known when nothing shows it any
    /// more; a log over its cap is cut.
    ///
    /// # Errors
    /// As [`Registry::look`].
    pub fn status(&self, id: &ProcessId) -> Result<Status, ProcError> {
        Ok(self.look_and_keep(id)?.0)
    }

    /// All processes, oldest start first. Writes nothing.
    ///
    /// # Errors
    /// When the directory or `/proc` cannot be read. A record that cannot be read is in the answer.
    #[doc(alias = "List")]
    pub fn list(&self) -> Result<Listing, ProcError> {
        self.each(|id| self.look(id))
    }

    /// Brings the records in line with what runs, and tells which processes are in another state than anybody has
    /// recorded so far.
    ///
    /// On disk when it returns: the new states; logs over their caps are cut.
    ///
    /// # Errors
    /// As [`Registry::list`].
    #[doc(alias = "Reconcile")]
    pub fn reconcile(&self) -> Result<Listing, ProcError> {
        let mut changed = Vec::new();
        let listing = self.each(|id| {
            let (status, is_new) = self.look_and_keep(id)?;
            changed.extend(is_new.then(|| id.clone()));
            Ok(status)
        })?;
        let processes = listing.processes.into_iter().filter(|status| changed.contains(&status.id)).collect();
        Ok(Listing { processes, unreadable: listing.unreadable })
    }

    /// The processes whose records say something else than is true: what [`Registry::reconcile`] would change. Writes
    /// nothing.
    ///
    /// # Errors
    /// As [`Registry::list`]; a record that cannot be read is passed over.
    pub fn stale(&self) -> Result<Vec<Status>, ProcError> {
        let mut stale = Vec::new();
        let listing = self.each(|id| {
            let (before, after) = self.settled(id)?;
            stale.extend((recorded_state(&before) != recorded_state(&after)).then(|| id.clone()));
            Status::of(&after)
        })?;
        Ok(listing.processes.into_iter().filter(|status| stale.contains(&status.id)).collect())
    }

    /// The status, and whether the state is another one than was recorded.
    fn look_and_keep(&self, id: &ProcessId) -> Result<(Status, bool), ProcError> {
        let (before, after) = self.settled(id)?;
        trim::cut_log(&after)?;
        let reaped = trim::reap(&after)?;
        let strays = trim::strays(&after)?;
        if before == after && reaped.is_none() && strays == after.dossier.members {
            return Ok((Status::of(&after)?, false));
        }
        let change = self.change(id, |entry| {
            entry.dossier.members = strays;
            trim::conclude(entry, reaped);
            Ok(())
        })?;
        Ok((Status::of(&change.after)?, recorded_state(&change.before) != recorded_state(&change.after)))
    }

    /// Asks for every recorded id; a record that went away meanwhile is no error.
    pub(crate) fn each(
        &self,
        mut ask: impl FnMut(&ProcessId) -> Result<Status, ProcError>,
    ) -> Result<Listing, ProcError> {
        let mut listing = Listing { processes: Vec::new(), unreadable: Vec::new() };
        for id in recorded(&self.dir)? {
            match ask(&id) {
                Ok(status) => listing.processes.push(status),
                Err(ProcError::NoProcess { .. }) => {}
                Err(error @ ProcError::Unreadable { .. }) => listing.unreadable.push(error),
                Err(error) => return Err(error),
            }
        }
        listing.processes.sort_by(|a, b| (a.started, a.id.rank()).cmp(&(b.started, b.id.rank())));
        Ok(listing)
    }

    pub(crate) fn paths(&self, id: &ProcessId) -> Paths {
        Paths::new(&self.dir, id)
    }

    /// An entry as it is on disk, and as it should be.
    pub(crate) fn settled(&self, id: &ProcessId) -> Result<(Entry, Entry), ProcError> {
        self.settled_by(id, Instant::now() + PENDING_PATIENCE)
    }

    /// As [`Registry::settled`], with the moment from which on what is pending counts as lost.
    fn settled_by(&self, id: &ProcessId, end: Instant) -> Result<(Entry, Entry), ProcError> {
        let mut nap = Duration::from_millis(1);
        loop {
            let before = self.load(id)?;
            let mut after = before.clone();
            if settle(&mut after)? == Verdict::Settled {
                return Ok((before, after));
            }
            if Instant::now() >= end {
                settle_at_last(&mut after)?;
                return Ok((before, after));
            }
            thread::sleep(nap);
            nap = (nap * 2).min(LONGEST_NAP);
        }
    }

    /// Changes an entry under the directory's lock, after it has been brought in line with what is the case.
    pub(crate) fn change<T>(
        &self,
        id: &ProcessId,
        change: impl FnOnce(&mut Entry) -> Result<T, ProcError>,
    ) -> Result<Change<T>, ProcError> {
        self.change_by(id, Instant::now() + PENDING_PATIENCE, change)
    }

    fn change_by<T>(
        &self,
        id: &ProcessId,
        end: Instant,
        change: impl FnOnce(&mut Entry) -> Result<T, ProcError>,
    ) -> Result<Change<T>, ProcError> {
        loop {
            // What takes time is waited for without the lock: who is waited for needs it.
            self.settled_by(id, end)?;
            let _lock = dir_lock::lock(&self.dir)?;
            let before = self.load(id)?;
            let mut after = before.clone();
            if settle(&mut after)? == Verdict::Pending {
                if Instant::now() < end {
                    continue;
                }
                settle_at_last(&mut after)?;
            }
            let answer = change(&mut after)?;
            after.save(Some(&before), Durability::Os)?;
            return Ok(Change { before, after, answer });
        }
    }

    fn load(&self, id: &ProcessId) -> Result<Entry, ProcError> {
        let missing = || ProcError::NoProcess { id: id.clone(), proc_dir: self.dir.clone() };
        Entry::load(&self.paths(id))?.ok_or_else(missing)
    }
}

fn recorded_state(entry: &Entry) -> Option<&State> {
    entry.record.as_ref().map(|record| &record.state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;
    use crate::dossier::{Dossier, Gone};
    use std::fs;

    /// A process that has ended and whose supervisor, this test, is at work and says nothing.
    fn pending(dir: &Path, status: Option<&str>) -> (Registry, ProcessId) {
        let own = Identity::own().expect("/proc is readable");
        let process = Identity { start_ticks: own.start_ticks + 1, ..own.clone() };
        let record = format!(r#"{{"id":"bg1","command":"oak","pid":{},"state":"running"}}"#, process.pid);
        let dossier = Dossier { supervisor: Some(own), process: Some(process), ..Dossier::default() };
        fs::write(dir.join("bg1.json"), record).expect("it is our directory");
        fs::write(dir.join(".bg1.id"), dossier.encode()).expect("it is our directory");
        if let Some(status) = status {
            fs::write(dir.join("bg1.exit"), status).expect("it is our directory");
        }
        (Registry::open(dir).expect("an absolute path"), ProcessId::numbered(1))
    }

    #[test]
    fn an_end_that_a_live_supervisor_never_tells_is_judged_when_the_patience_is_over() {
        for (status, state, code, gone) in
            [(None, State::Gone, -1, Some(Gone::Unrecorded)), (Some(""), State::Exited, -1, None)]
        {
            let scratch = tempfile::tempdir().expect("a scratch directory");
            let (registry, id) = pending(scratch.path(), status);
            let patience = Duration::from_millis(100);
            let begun = Instant::now();
            let (before, after) = registry.settled_by(&id, begun + patience).expect("readable");
            assert!(begun.elapsed() >= patience, "it is waited for");
            let record = after.record.expect("a record");
            assert_eq!((&record.state, record.exit_code, after.dossier.gone), (&state, code, gone));
            assert!(record.ended.is_some());
            assert_eq!(recorded_state(&before), Some(&State::Running));
            // Nothing was written for the look; a change keeps what was judged.
            assert_eq!(recorded_state(&registry.load(&id).expect("recorded")), Some(&State::Running));
            let change = registry.change_by(&id, Instant::now() + patience, |_| Ok(())).expect("it is ours");
            assert_eq!(recorded_state(&change.after), Some(&state));
            let kept = registry.load(&id).expect("recorded");
            assert_eq!((recorded_state(&kept), kept.dossier.gone), (Some(&state), gone));
        }
    }
}
