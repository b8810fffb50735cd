//! What a store offers for finding and repairing what is wrong.

use super::{Checkup, Examination, Repaired, Ward, repair};
use crate::{Result, Store};

impl Store {
    /// Looks for what is not as it should be. Reads only, takes no lock, and is not blocked by whatever stands in the
    /// store.
    ///
    /// # Errors
    /// What keeps the store's directory itself from being read; [`crate::StoreError::NotFound`] for a session that is
    /// asked about by name. What cannot be read below the directory is a finding.
    pub fn examine(&self, checkup: &Checkup<'_>) -> Result<Examination> {
        let ward = Ward::of(self.base_dir(), checkup, self.options().limits, self.clock().utc())?;
        let mut examination = Examination { sessions: 0, findings: ward.store_findings() };
        for candidate in &ward.candidates {
            checkup.tell(&candidate.shown());
            examination.sessions += 1;
            examination.findings.extend(ward.patient(candidate).findings());
        }
        Ok(examination)
    }

    /// Repairs what can be repaired without losing anything: every finding that has a [`Fix`](super::Fix). A session in
    /// which there is nothing to repair is not touched, and no lock of it taken; one that is locked, or whose turn runs,
    /// is passed over and told.
    ///
    /// Each session is looked at again under its lock, so that nothing is done about what is not so any more.
    ///
    /// On disk when it returns: what [`Repaired::repairs`] says, synced as the durability says. Bytes that were taken out
    /// of a history are in `.quarantine/`, what was replaced or moved away in `.backup/`; one notice in the history says
    /// what was done. After a crash at any point nothing is lost, and repeating it does the rest.
    ///
    /// # Errors
    /// As [`Store::examine`]. What goes wrong with one session, or one fix, is part of the answer.
    pub fn repair(&self, checkup: &Checkup<'_>) -> Result<Repaired> {
        repair::repair(self, checkup)
    }
}

impl Checkup<'_> {
    pub(super) fn tell(&self, session: &str) {
        if let Some(progress) = self.progress {
            progress(session);
        }
    }
}
