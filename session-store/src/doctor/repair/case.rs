//! One session under repair: locked, looked at again, and treated.

use super::aside::Aside;
use super::{Repair, fixes};
use crate::candidate::candidate;
use crate::chain::Member;
use crate::doctor::{Finding, Fix, Ward, journal};
use crate::processes::refuse_turn;
use crate::{LockGuard, Options, Result, Session, SessionPaths, Store, lock};
use session_core::{SessionName, Timestamp};

/// A session whose lock is held, and in which no turn runs.
pub(super) struct Case<'a> {
    pub(super) store: &'a Store,
    pub(super) ward: &'a Ward<'a>,
    pub(super) name: &'a SessionName,
    pub(super) paths: SessionPaths,
    pub(super) lock: LockGuard,
    pub(super) session: Session,
    pub(super) now: Timestamp,
}

impl<'a> Case<'a> {
    /// Locks the session.
    ///
    /// # Errors
    /// [`StoreError::LiveTurn`]; [`StoreError::Locked`]; the step that failed.
    pub(super) fn open(store: &'a Store, ward: &'a Ward<'a>, name: &'a SessionName) -> Result<Self> {
        let paths = store.existing(name)?;
        let acquire = || lock::acquire(&paths, name.as_str(), store.options().wait);
        let lock = lock::unless(|| refuse_turn(&paths, name.as_str()), acquire)?;
        let session = store.session(Member { paths: paths.clone(), name: name.clone(), dangling: None })?;
        session.remember(&lock);
        Ok(Case { store, ward, name, paths, lock, session, now: store.clock().utc() })
    }

    pub(super) fn options(&self) -> &Options {
        self.store.options()
    }

    pub(super) fn aside(&self) -> Aside<'_> {
        Aside { paths: &self.paths, now: self.now, durability: self.options().durability }
    }

    /// Does everything that is to be done, and tells the history.
    pub(super) fn treat(self, repair: &mut Repair) -> Result<()> {
        let steps = self.steps(repair);
        let told = match steps {
            Ok(true) => Ok(()),
            // What was done until then was done.
            Ok(false) | Err(_) => self.tell(repair),
        };
        let ended = told.and_then(|()| journal::end(&self.paths, self.options().durability));
        let closed = self.session.close();
        steps?;
        ended?;
        closed?;
        self.lock.release()
    }

    /// Whether the history was told as well.
    fn steps(&self, repair: &mut Repair) -> Result<bool> {
        let Some(found) = candidate(self.ward.base, self.name)? else { return Ok(false) };
        let patient = self.ward.patient(&found);
        let findings = patient.findings();
        self.begin(&findings, repair)?;
        let is_wanted = |wanted: fn(&Fix) -> bool| fixes(&findings).any(|(_, fix)| wanted(fix));
        if is_wanted(|fix| *fix == Fix::Tighten) {
            self.tighten(&patient, repair)?;
        }
        if is_wanted(|fix| *fix == Fix::EndRewind) {
            self.end_rewind(repair)?;
        }
        if is_wanted(|fix| *fix == Fix::EndTurn) {
            self.end_turn(repair)?;
        }
        self.give_back(&findings, repair)?;
        self.set_aside(&findings, repair)?;
        if is_wanted(|fix| *fix == Fix::Reconcile) {
            self.reconcile(&findings, repair)?;
        }
        if is_wanted(|fix| *fix == Fix::WriteMeta) {
            self.write_meta(patient.told()?.facts.as_ref(), repair)?;
        }
        self.tell_successor(&findings, repair)?;
        if is_wanted(|fix| *fix == Fix::CarryOver) {
            self.carry_over(repair)?;
        }
        if is_wanted(|fix| matches!(fix, Fix::TakeOut { .. } | Fix::EndLine)) {
            return self.take_out(repair);
        }
        Ok(false)
    }

    /// Says what is about to be done, and takes over what an earlier repair had begun to say.
    fn begin(&self, findings: &[Finding], repair: &mut Repair) -> Result<()> {
        repair.done.extend(journal::interrupted(&self.paths));
        let mut planned = repair.done.clone();
        for (finding, fix) in fixes(findings) {
            let text = format!("{}: {fix}", finding.code);
            if *fix != Fix::TellRepair && !planned.contains(&text) {
                planned.push(text);
            }
        }
        if planned.is_empty() {
            return Ok(());
        }
        journal::begin(&self.paths, planned, self.now, self.options().durability)
    }

    /// The findings with one fix.
    pub(super) fn with<'b>(findings: &'b [Finding], wanted: &'b Fix) -> impl Iterator<Item = &'b Finding> {
        fixes(findings).filter(move |(_, fix)| *fix == wanted).map(|(finding, _)| finding)
    }
}
