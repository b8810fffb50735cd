//! All that is on disk of one background process, read together and written back where it changed.

use crate::dossier::{Dossier, Origin};
use crate::id::Paths;
use crate::members::Kin;
use crate::record::Record;
use crate::{ProcError, ProcessId, small_file};
use chrono::{DateTime, TimeDelta, Utc};
use session_disk::{Durability, replace};
use std::io;
use std::thread;
use std::time::Duration;

/// A record is small, but its command may be a whole script.
const MAX_RECORD_BYTES: u64 = 16 * 1024 * 1024;
/// The reference empties a record before it fills it again: one that is younger than this may be on its way.
const FRESH_RECORD: TimeDelta = TimeDelta::seconds(2);
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// A record and a dossier.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) paths: Paths,
    /// `None` while the record is the empty file of a claim.
    pub(crate) record: Option<Record>,
    pub(crate) dossier: Dossier,
}

impl Entry {
    /// Reads what there is. `None`: no regular file has the record's name, or the claim in it says nothing.
    ///
    /// # Errors
    /// [`ProcError::Unreadable`] where the record stays unreadable for a tenth of a second, or is an old one.
    pub(crate) fn load(paths: &Paths) -> Result<Option<Entry>, ProcError> {
        let path = paths.record();
        let mut looks = 0;
        loop {
            looks += 1;
            let Some(file) = small_file::read(&path, MAX_RECORD_BYTES)? else { return Ok(None) };
            let dossier = Dossier::read(&paths.dossier())?;
            let may_change = looks < LOOKS && is_younger(file.modified, FRESH_RECORD);
            if file.bytes.is_empty() {
                // Ours: the pid is not known yet. Else the reference is about to write.
                if dossier.origin.is_some() || !may_change {
                    let entry = Entry { paths: paths.clone(), record: None, dossier };
                    return Ok(entry.dossier.origin.is_some().then_some(entry));
                }
            } else {
                match Record::parse(&file.bytes) {
                    Ok(record) => return Ok(Some(Entry { paths: paths.clone(), record: Some(record), dossier })),
                    Err(_) if may_change => {}
                    Err(error) => return Err(ProcError::Unreadable { path, source: io::Error::from(error) }),
                }
            }
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Whether the record is the one that its file's name says. One that is not is shown, and neither written nor
    /// acted upon: the reference would save it under the id inside, over another one's record.
    pub(crate) fn is_at_home(&self) -> bool {
        self.record.as_ref().is_none_or(|record| record.id == self.paths.id.as_str())
    }

    /// The files of the id inside the record: its own, but for one that is not at home. `None`: that is no id.
    pub(crate) fn paths_inside(&self) -> Option<Paths> {
        match &self.record {
            Some(record) if !self.is_at_home() => {
                Some(Paths::new(&self.paths.dir, &ProcessId::new(record.id.as_str()).ok()?))
            }
            _ => Some(self.paths.clone()),
        }
    }

    /// The record; of a claim, the one that its starter would have made.
    pub(crate) fn record_or_claim(&mut self) -> &mut Record {
        self.record.get_or_insert_with(|| Origin::record(self.dossier.origin.as_ref(), &self.paths.id))
    }

    /// What leads to the members.
    pub(crate) fn kin(&self) -> Kin {
        let pid = self.record.as_ref().and_then(Record::pid);
        let process = self.dossier.process.clone().filter(|process| pid.is_none_or(|pid| pid == process.pid));
        Kin {
            leader: process,
            supervisor: self.dossier.supervisor.clone(),
            token: self.dossier.origin.as_ref().map(|origin| origin.token.clone()),
            remembered: self.dossier.members.clone(),
        }
    }

    /// Writes back what differs from `before`. The directory's lock is held.
    ///
    /// On disk when it returns: the changed files, each replaced in one piece; the dossier first, which is the one
    /// that can say everything.
    pub(crate) fn save(&self, before: Option<&Entry>, durability: Durability) -> Result<(), ProcError> {
        if !self.is_at_home() {
            return Ok(());
        }
        if before.is_none_or(|before| before.dossier != self.dossier) {
            self.dossier.write(&self.paths.dossier(), durability)?;
        }
        if let Some(record) = &self.record
            && before.is_none_or(|before| before.record != self.record)
        {
            replace(&self.paths.record(), &record.encode(), durability)?;
        }
        Ok(())
    }
}

impl Entry {
    /// Whether its supervisor lives: then what is to be told of it is on its way.
    pub(crate) fn is_supervised(&self) -> Result<bool, ProcError> {
        self.dossier.supervisor.as_ref().map_or(Ok(false), |supervisor| Ok(supervisor.liveness()?.is_live()))
    }
}

/// Whether a file was written less than so long ago, or in what is the future by our clock.
pub(crate) fn is_younger(modified: DateTime<Utc>, than: TimeDelta) -> bool {
    Utc::now().signed_duration_since(modified) < than
}
