//! Planning a restore: what would be done, and what it was planned for.

use super::limits::Limits;
use super::types::{ConflictKind, PlanSummary, Scope};
use super::work::Work;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::locked::Locked;
use crate::observe::Purpose;
use crate::point::{Point, TurnRef, find, read_commit};
use crate::sink::ObjectSink;
use crate::tree_diff::Leaf;
use crate::{Error, Oid};
use std::collections::BTreeMap;

/// A restore that was planned and not yet carried out.
#[derive(Debug)]
pub struct RestorePlan {
    pub(super) target: Point,
    pub(super) limits: Limits,
    summary: PlanSummary,
    /// What each path of the plan held when it was made.
    seen: BTreeMap<Vec<u8>, Option<Leaf>>,
}

impl RestorePlan {
    /// What would be done.
    pub fn summary(&self) -> &PlanSummary {
        &self.summary
    }

    /// The same, without the plan.
    pub fn into_summary(self) -> PlanSummary {
        self.summary
    }

    /// Notes as conflicts what is not as the plan saw it: it was changed since, whoever did it.
    pub(super) fn note_changes(&self, work: &mut Work) {
        let puts = work.puts.iter().map(|(path, put)| (path, put.before));
        let deletes = work.deletes.iter().map(|(path, leaf)| (path, Some(*leaf)));
        let changed: Vec<Vec<u8>> = puts
            .chain(deletes)
            .filter(|(path, before)| self.seen.get(*path) != Some(before))
            .map(|(path, _)| path.clone())
            .collect();
        for path in changed {
            work.conflicts.insert(path, ConflictKind::ChangedSincePlan);
        }
    }
}

impl Checkpoints {
    /// Plans a restore: what would be written, deleted, left alone, and what stands against it. It changes nothing.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], [`Error::OtherWorkspace`], [`Error::Interrupted`], and failed
    /// operations. A rule file of the checkpoint that cannot be read is an error too: nobody could say what it left out.
    pub fn plan_restore(&mut self, at: TurnRef, scope: &Scope, cancel: &Cancel) -> Result<RestorePlan, Error> {
        let locked = self.begin()?;
        let target = find(&locked.refs, &locked.objects, at)?;
        self.plan(&locked, target, scope, cancel)
    }

    pub(crate) fn plan(
        &self,
        locked: &Locked,
        target: Point,
        scope: &Scope,
        cancel: &Cancel,
    ) -> Result<RestorePlan, Error> {
        self.may_restore(locked)?;
        let mine = if scope.only_mine { Some(self.changed_by_session(locked, &target)?) } else { None };
        let limits = Limits { paths: scope.paths.clone(), mine };
        let sink = ObjectSink::dry(&locked.objects, &locked.packs);
        let purpose = Purpose::Safety { n: 0, target: Some(&target) };
        let old = self.hot.as_ref().map(|hot| &hot.cache);
        let (now, _) = self.observe(locked, old, &sink, &purpose, cancel)?;
        let head = self.head(locked)?.map(|(_, tree)| tree);
        let known: Vec<Oid> = head.into_iter().chain(newest_there(locked, &target)).collect();
        let work = self.work(&sink, locked, &now, &target, &known, &limits)?;
        let mut summary = work.summary(&target);
        summary.also_changed_by = self.shared(locked, &work, &target, &scope.other_stores)?;
        let puts = work.puts.iter().map(|(path, put)| (path.clone(), put.before));
        let deletes = work.deletes.iter().map(|(path, leaf)| (path.clone(), Some(*leaf)));
        Ok(RestorePlan { seen: puts.chain(deletes).collect(), target, limits, summary })
    }
}

/// The tree of the newest turn in the repository that a target was taken from.
pub(super) fn newest_there(locked: &Locked, target: &Point) -> Option<Oid> {
    let parent = target.commit.parent.filter(|_| target.is_imported())?;
    // It may have been dropped since: then more is asked about.
    read_commit(&locked.objects, parent).ok().map(|(_, commit)| commit.tree)
}
