//! The restore's steps in their order.

use super::apply::{Applied, Apply};
use super::check::{Differences, unchanged};
use super::job::Job;
use super::limits::Limits;
use super::plan::{Sides, plan};
use super::planned::{RestorePlan, newest_there};
use super::types::{Conflict, FailedPath, PlanSummary, Restored};
use super::work::Work;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::error::reading;
use crate::health::Stock;
use crate::journal::{self, Journal};
use crate::locked::Locked;
use crate::meta::Identity;
use crate::objects::Trees;
use crate::observe::{Purpose, Taken};
use crate::options::{ConflictPolicy, Durability};
use crate::point::Point;
use crate::rel_path::RelPath;
use crate::root::{Mounts, Root};
use crate::snapshot::{last_safety, last_turn};
use crate::{Error, Oid};
use rand::RngExt as _;
use std::path::Path;

impl Checkpoints {
    /// Carries a plan out.
    ///
    /// On disk when it returns: each path of the plan old or new and never in between, a safety snapshot of the
    /// workspace as it was, and a new turn of the workspace as it is. The bytes in the workspace are synced only with
    /// [`Durability::Disk`].
    ///
    /// # Errors
    /// [`Error::Conflicts`] with [`ConflictPolicy::Stop`] before the first change, the safety snapshot taken. After any
    /// other error past that point the journal stands: [`resume_interrupted`](Checkpoints::resume_interrupted) or
    /// [`undo_interrupted`](Checkpoints::undo_interrupted).
    pub fn apply_restore(
        &mut self,
        plan: &RestorePlan,
        policy: ConflictPolicy,
        cancel: &Cancel,
    ) -> Result<Restored, Error> {
        let mut locked = self.begin()?;
        self.may_restore(&locked)?;
        let job = Job {
            target: &plan.target,
            limits: &plan.limits,
            policy,
            plan: Some(plan),
            earlier: None,
            known: Vec::new(),
        };
        self.restore_locked(&mut locked, &job, cancel)
    }

    pub(crate) fn may_restore(&self, locked: &Locked) -> Result<(), Error> {
        self.is_the_workspace(locked)?;
        match journal::read(&self.layout)? {
            Some(journal) => Err(Error::Interrupted { target: journal.target }),
            None => Ok(()),
        }
    }

    pub(super) fn is_the_workspace(&self, locked: &Locked) -> Result<(), Error> {
        let recorded = &locked.meta.workspace;
        if recorded.is_same(&Identity::of(&self.workspace)?) {
            return Ok(());
        }
        Err(Error::OtherWorkspace { path: self.workspace.clone(), recorded: recorded.path.path() })
    }

    pub(super) fn roots(&self) -> Result<(Root, Root), Error> {
        let root = Root::open(&self.workspace, Mounts::Refuse).map_err(reading(&self.workspace))?;
        Ok((root, Root::open(Path::new("/"), Mounts::Enter).map_err(reading(Path::new("/")))?))
    }

    pub(super) fn work<T: Trees>(
        &self,
        trees: &T,
        locked: &Locked,
        now: &Taken,
        target: &Point,
        known: &[Oid],
        limits: &Limits,
    ) -> Result<Work, Error> {
        let (root, outer) = self.roots()?;
        plan(&Sides { trees, objects: &locked.objects, now, target, known, limits }, &root, &outer)
    }

    pub(super) fn restore_locked(
        &mut self,
        locked: &mut Locked,
        job: &Job<'_>,
        cancel: &Cancel,
    ) -> Result<Restored, Error> {
        let head = self.head(locked)?.map(|(_, tree)| tree);
        let n = last_safety(locked)? + 1;
        if let Some(journal) = job.earlier {
            self.sweep_before(locked, job.target, journal, cancel)?;
        }
        let seen = self.take(locked, &Purpose::Safety { n, target: Some(job.target) }, cancel)?;
        let newest = newest_there(locked, job.target);
        let known: Vec<Oid> = head.into_iter().chain(newest).chain(job.known.iter().copied()).collect();
        let mut work = self.work(&locked.objects, locked, &seen, job.target, &known, job.limits)?;
        if let Some(plan) = job.plan {
            plan.note_changes(&mut work);
        }
        let resumed = job.earlier.filter(|journal| journal.is_of(job.target));
        work.leave(resumed.map_or(&[][..], |journal| &journal.left));
        let summary = || {
            let also_changed_by = job.plan.map(|plan| plan.summary().also_changed_by.clone()).unwrap_or_default();
            PlanSummary { also_changed_by, ..work.summary(job.target) }
        };
        if job.policy == ConflictPolicy::Stop && !work.conflicts.is_empty() {
            return Err(Error::Conflicts { plan: Box::new(summary()), safety: n });
        }
        self.all_there(locked, job.target, &work)?;
        let journal = self.journal(job, &work, (n, seen.commit));
        let safety = journal.safety;
        journal.write(&self.layout)?;
        let applied = self.apply(locked, &work, &seen, &journal, cancel)?;
        let turn = last_turn(locked)? + 1;
        let (whole, puts, read) = (journal.is_whole(), &applied.puts, &applied.read);
        let purpose = Purpose::Restore { turn, from: job.target, safety, whole, puts, read };
        let after = self.take(locked, &purpose, cancel)?;
        self.sweep_temps(&after, &journal)?;
        let differences = self.differences(locked, &work, &applied, &seen, &after)?;
        journal::remove(&self.layout)?;
        let unchanged = unchanged(locked, job, &work)?;
        let plan = summary();
        Ok(told(job, plan, applied, &after, (turn, safety, unchanged), differences))
    }

    /// The journal of this restore. One that resumes another keeps that one's way back.
    fn journal(&self, job: &Job<'_>, work: &Work, (n, taken): (u32, Oid)) -> Journal {
        let resumed = job.earlier.filter(|journal| journal.is_of(job.target));
        Journal {
            target: job.target.name.to_string(),
            target_commit: job.target.oid,
            safety: resumed.map_or(n, |journal| journal.safety),
            safety_commit: resumed.map_or(taken, |journal| journal.safety_commit),
            token: rand::rng().random(),
            earlier_tokens: job.earlier.map_or_else(Vec::new, |journal| {
                journal.earlier_tokens.iter().copied().chain([journal.token]).collect()
            }),
            paths: job.limits.paths.clone(),
            mine: job.limits.mine.as_ref().map(|mine| mine.iter().cloned().filter_map(RelPath::new).collect()),
            policy: job.policy,
            left: match job.policy {
                ConflictPolicy::KeepMine => work.conflicts.keys().cloned().filter_map(RelPath::new).collect(),
                ConflictPolicy::Stop | ConflictPolicy::Force => Vec::new(),
            },
            time_ms: crate::clock::now_ms(),
        }
    }

    /// A restore that lacks an object must not begin.
    fn all_there(&self, locked: &Locked, target: &Point, work: &Work) -> Result<(), Error> {
        let stock = Stock::of(&self.layout, &locked.packs)?;
        for put in work.puts.values() {
            stock
                .expect(put.after.oid)
                .map_err(|source| Error::BrokenTurn { turn: target.name.to_string(), source: Box::new(source) })?;
        }
        Ok(())
    }

    fn apply(
        &self,
        locked: &Locked,
        work: &Work,
        seen: &Taken,
        journal: &Journal,
        cancel: &Cancel,
    ) -> Result<Applied, Error> {
        let (root, outer) = self.roots()?;
        Apply {
            root: &root,
            outer: &outer,
            work,
            seen,
            cache: self.hot.as_ref().map(|hot| &hot.cache),
            objects: &locked.objects,
            layout: &self.layout,
            policy: journal.policy,
            token: journal.token,
            durability: self.options.durability.from(Durability::Disk),
            cancel,
        }
        .run()
    }
}

fn told(
    job: &Job<'_>,
    plan: PlanSummary,
    applied: Applied,
    after: &Taken,
    (turn, safety, unchanged): (u32, u32, u64),
    Differences { failed, raced }: Differences,
) -> Restored {
    let path = |path: Vec<u8>| RelPath::new(path);
    Restored {
        target: job.target.name.to_string(),
        turn,
        commit: after.commit,
        safety,
        restored: applied.puts.keys().filter(|path| !failed.contains_key(*path)).count() as u64,
        deleted: applied.deletes.iter().filter(|path| !failed.contains_key(*path)).count() as u64,
        unchanged,
        failed: failed.into_iter().filter_map(|(at, why)| Some(FailedPath { path: path(at)?, why })).collect(),
        raced,
        conflicts: applied
            .conflicts
            .into_iter()
            .filter_map(|(at, kind)| Some(Conflict { path: path(at)?, kind }))
            .collect(),
        kept: plan.kept,
        rescued: applied.rescued,
        also_changed_by: plan.also_changed_by,
    }
}
