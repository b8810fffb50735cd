//! Going back: undoing the newest restore, and ending one that was interrupted.

use super::job::Job;
use super::limits::Limits;
use super::planned::RestorePlan;
use super::types::{Restored, Scope};
use crate::Error;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::journal::{self, Journal};
use crate::locked::Locked;
use crate::options::ConflictPolicy;
use crate::point::{Point, TurnRef, own_safety, read_commit};
use crate::refs::Family;

impl Checkpoints {
    /// Plans and carries out the undoing of the newest restore: the workspace becomes what it was right before. Undoing
    /// an undo does it again.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`], and those of planning and carrying out.
    pub fn undo(&mut self, policy: ConflictPolicy, cancel: &Cancel) -> Result<Restored, Error> {
        let plan = self.plan_undo(cancel)?;
        self.apply_restore(&plan, policy, cancel)
    }

    /// Plans the undoing of the newest restore.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`], also where a fork's newest restore is one of its parent, and those of
    /// [`plan_restore`](Checkpoints::plan_restore).
    pub fn plan_undo(&mut self, cancel: &Cancel) -> Result<RestorePlan, Error> {
        let safety = {
            let locked = self.begin()?;
            self.may_restore(&locked)?;
            last_restore(&locked)?.ok_or(Error::NothingToUndo)?
        };
        self.plan_restore(TurnRef::Safety(safety), &Scope::default(), cancel)
    }

    /// Ends an interrupted restore by carrying out the rest of it.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`] where none was interrupted, and those of carrying out.
    pub fn resume_interrupted(&mut self, cancel: &Cancel) -> Result<Restored, Error> {
        let mut locked = self.begin()?;
        let journal = journal::read(&self.layout)?.ok_or(Error::NothingToUndo)?;
        let (target, safety) = self.both_ends(&locked, &journal)?;
        let known = vec![safety.commit.tree, target.commit.tree];
        let limits = journal.limits();
        let job = Job {
            target: &target,
            limits: &limits,
            policy: journal.policy,
            plan: None,
            earlier: Some(&journal),
            known,
        };
        self.restore_locked(&mut locked, &job, cancel)
    }

    /// Ends an interrupted restore by going back to the workspace as it was before.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`] where none was interrupted, and those of carrying out.
    pub fn undo_interrupted(&mut self, policy: ConflictPolicy, cancel: &Cancel) -> Result<Restored, Error> {
        let mut locked = self.begin()?;
        let journal = journal::read(&self.layout)?.ok_or(Error::NothingToUndo)?;
        let (target, safety) = self.both_ends(&locked, &journal)?;
        let known = vec![safety.commit.tree, target.commit.tree];
        let limits = Limits::default();
        let job = Job { target: &safety, limits: &limits, policy, plan: None, earlier: Some(&journal), known };
        self.restore_locked(&mut locked, &job, cancel)
    }

    fn both_ends(&self, locked: &Locked, journal: &Journal) -> Result<(Point, Point), Error> {
        self.is_the_workspace(locked)?;
        let point = |name: Option<TurnRef>, oid| {
            let (oid, commit) = read_commit(&locked.objects, oid)?;
            Ok::<_, Error>(Point { name: name.unwrap_or(TurnRef::Latest), oid, commit })
        };
        let target = point(journal.target_ref(), journal.target_commit)?;
        Ok((target, point(Some(TurnRef::Safety(journal.safety)), journal.safety_commit)?))
    }
}

impl Journal {
    pub(super) fn limits(&self) -> Limits {
        let mine = self.mine.as_ref().map(|mine| mine.iter().map(|path| path.as_bytes().to_vec()).collect());
        Limits { paths: self.paths.clone(), mine }
    }
}

/// The safety snapshot of the newest restore, where this store has it.
pub(crate) fn last_restore(locked: &Locked) -> Result<Option<u32>, Error> {
    for (n, oid) in locked.refs.list(Family::Turn)?.into_iter().rev() {
        let Some(Ok((oid, commit))) = oid.map(|oid| read_commit(&locked.objects, oid)) else { continue };
        let point = Point { name: TurnRef::Turn(n), oid, commit };
        if point.is_restore() {
            let safety = point.commit.trailer.and_then(|trailer| trailer.safety);
            return own_safety(&locked.refs, locked.meta.fork_base, n, safety);
        }
    }
    Ok(None)
}
