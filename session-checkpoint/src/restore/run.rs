//! The restore's steps in their order, and what undoes or resumes one.

use super::apply::{Applied, Apply};
use super::plan::{Limits, Sides, Work, plan};
use super::then::reasons;
use super::types::{Conflict, ConflictKind, ConflictPolicy, FailedPath, PlanSummary, Restored, Scope, SharedPath};
use super::way::place;
use crate::look::{Seen, look_at};
use crate::cancel::Cancel;
use crate::checkpoints::{Checkpoints, Locked};
use crate::commit::ChangedBy;
use crate::error::reading;
use crate::health::Stock;
use crate::journal::{self, Journal};
use crate::meta::Identity;
use crate::objects::Trees;
use crate::options::Durability;
use crate::point::{Point, TurnRef, find, read_commit};
use crate::reader::{Reader, changes_of};
use crate::refs::Family;
use crate::rel_path::RelPath;
use crate::root::{Mounts, Root};
use crate::sink::ObjectSink;
use crate::snapshot::{Purpose, Taken, head_of, last_safety, last_turn};
use crate::tree_diff::{Leaf, diff, leaves};
use crate::tree_edit::{Edit, edit};
use crate::turns::{Turn, read_recorded};
use crate::{Error, Oid, names};
use rand::RngExt as _;
use session_disk::at;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

/// A restore that was planned and not yet carried out.
#[derive(Debug)]
pub struct RestorePlan {
    target: Point,
    limits: Limits,
    summary: PlanSummary,
    /// What each path of the plan held when it was made.
    seen: BTreeMap<Vec<u8>, Option<Leaf>>,
}

impl RestorePlan {
    /// What would be done.
    pub fn summary(&self) -> &PlanSummary {
        &self.summary
    }
}

/// A restore under way.
struct Job<'a> {
    target: &'a Point,
    limits: &'a Limits,
    policy: ConflictPolicy,
    /// What the plan saw, where there was one.
    plan: Option<&'a RestorePlan>,
    /// The journal of the restore that this one resumes or undoes.
    earlier: Option<&'a Journal>,
    /// Trees, beside the newest turn's, of which the workspace's content may come.
    known: Vec<Oid>,
}

impl Checkpoints {
    /// Plans a restore: what would be written, deleted, left alone, and what stands against it. It changes nothing.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], [`Error::OtherWorkspace`], [`Error::Interrupted`], and failed
    /// operations. A rule file of the checkpoint that cannot be read is an error too: nobody could say what it left out.
    pub fn plan_restore(&mut self, at: TurnRef, scope: &Scope, cancel: &Cancel) -> Result<RestorePlan, Error> {
        let locked = self.begin()?;
        self.may_restore(&locked)?;
        let target = find(&locked.refs, &locked.objects, at)?;
        let mine = if scope.only_mine { Some(self.changed_by_session(&locked, &target)?) } else { None };
        let limits = Limits { paths: scope.paths.clone(), mine };
        let sink = ObjectSink::dry(&locked.objects, &locked.packs);
        let purpose = Purpose::Safety { n: 0, target: Some(&target) };
        let old = self.hot.as_ref().map(|hot| &hot.cache);
        let (now, _) = self.observe(&locked, old, &sink, &purpose, cancel)?;
        let known: Vec<Oid> = head_of(&locked)?.into_iter().map(|(_, tree)| tree).collect();
        let work = self.work(&sink, &locked, &now, &target, &known, &limits)?;
        let mut summary = work.summary(&target);
        summary.also_changed_by = self.shared(&work, &target, &scope.other_stores)?;
        let puts = work.puts.iter().map(|(path, put)| (path.clone(), put.before));
        let deletes = work.deletes.iter().map(|(path, leaf)| (path.clone(), Some(*leaf)));
        Ok(RestorePlan { seen: puts.chain(deletes).collect(), target, limits, summary })
    }

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
    /// [`Error::NothingToUndo`], and those of [`plan_restore`](Checkpoints::plan_restore).
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

    fn may_restore(&self, locked: &Locked) -> Result<(), Error> {
        self.is_the_workspace(locked)?;
        match journal::read(&self.layout)? {
            Some(journal) => Err(Error::Interrupted { target: journal.target }),
            None => Ok(()),
        }
    }

    fn is_the_workspace(&self, locked: &Locked) -> Result<(), Error> {
        let recorded = &locked.meta.workspace;
        if recorded.is_same(&Identity::of(&self.workspace)?) {
            return Ok(());
        }
        Err(Error::OtherWorkspace { path: self.workspace.clone(), recorded: recorded.path.path() })
    }

    fn roots(&self) -> Result<(Root, Root), Error> {
        let root = Root::open(&self.workspace, Mounts::Refuse).map_err(reading(&self.workspace))?;
        Ok((root, Root::open(Path::new("/"), Mounts::Enter).map_err(reading(Path::new("/")))?))
    }

    fn work<T: Trees>(
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

    fn restore_locked(&mut self, locked: &mut Locked, job: &Job<'_>, cancel: &Cancel) -> Result<Restored, Error> {
        let head = head_of(locked)?.map(|(_, tree)| tree);
        let n = last_safety(locked)? + 1;
        if let Some(journal) = job.earlier {
            self.sweep_before(locked, job.target, journal, cancel)?;
        }
        let seen = self.take(locked, &Purpose::Safety { n, target: Some(job.target) }, cancel)?;
        let known: Vec<Oid> = head.into_iter().chain(job.known.iter().copied()).collect();
        let mut work = self.work(&locked.objects, locked, &seen, job.target, &known, job.limits)?;
        if let Some(plan) = job.plan {
            changed_since(&mut work, plan);
        }
        let summary = || {
            let also_changed_by = job.plan.map(|plan| plan.summary.also_changed_by.clone()).unwrap_or_default();
            PlanSummary { also_changed_by, ..work.summary(job.target) }
        };
        if job.policy == ConflictPolicy::Stop && !work.conflicts.is_empty() {
            return Err(Error::Conflicts { plan: Box::new(summary()), safety: n });
        }
        self.all_there(locked, job.target, &work)?;
        let safety = job.earlier.filter(|journal| journal.is_of(job.target)).map_or(n, |journal| journal.safety);
        let journal = self.journal(job, (n, seen.commit), safety);
        journal.write(&self.layout)?;
        let applied = self.apply(locked, &work, &seen, &journal, cancel)?;
        let turn = last_turn(locked)? + 1;
        let purpose = Purpose::Restore { turn, from: job.target, safety, puts: &applied.puts };
        let after = self.take(locked, &purpose, cancel)?;
        self.sweep_temps(&after, &journal)?;
        let (failed, raced) = self.differences(locked, &work, &applied, &seen, &after)?;
        journal::remove(&self.layout)?;
        let unchanged = unchanged(locked, job, &work)?;
        let plan = summary();
        Ok(told(job, plan, applied, &after, (turn, safety, unchanged), failed, raced))
    }

    /// The journal of this restore. One that resumes another keeps that one's way back.
    fn journal(&self, job: &Job<'_>, taken: (u32, Oid), safety: u32) -> Journal {
        let resumed = job.earlier.filter(|journal| journal.is_of(job.target));
        Journal {
            target: job.target.name.to_string(),
            target_commit: job.target.oid,
            safety,
            safety_commit: resumed.map_or(taken.1, |journal| journal.safety_commit),
            token: rand::rng().random(),
            earlier_tokens: job.earlier.map_or_else(Vec::new, |journal| {
                journal.earlier_tokens.iter().copied().chain([journal.token]).collect()
            }),
            paths: job.limits.paths.clone(),
            mine: job.limits.mine.as_ref().map(|mine| mine.iter().cloned().filter_map(RelPath::new).collect()),
            policy: job.policy,
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
            sync: self.options.durability == Durability::Disk,
            cancel,
        }
        .run()
    }

    /// Removes what an interrupted restore left: it would keep a directory from being empty.
    fn sweep_before(&self, locked: &Locked, target: &Point, journal: &Journal, cancel: &Cancel) -> Result<(), Error> {
        let sink = ObjectSink::dry(&locked.objects, &locked.packs);
        let old = self.hot.as_ref().map(|hot| &hot.cache);
        let purpose = Purpose::Safety { n: 0, target: Some(target) };
        let (now, _) = self.observe(locked, old, &sink, &purpose, cancel)?;
        self.sweep_temps(&now, journal)
    }

    /// Removes our own temporary files, of this restore and of the one that it resumes.
    fn sweep_temps(&self, after: &Taken, journal: &Journal) -> Result<(), Error> {
        let root = Root::open(&self.workspace, Mounts::Refuse).map_err(reading(&self.workspace))?;
        for skipped in &after.notes.skipped {
            let (dir, name) = crate::rel_path::split(skipped.path.as_bytes());
            let mut tokens = journal.earlier_tokens.iter().chain([&journal.token]);
            if tokens.any(|token| names::is_temp_of(name, *token))
                && let Ok(fd) = root.open_dir(dir)
            {
                at::remove_file(fd.as_fd(), &crate::root::c_name(name), &root.full(skipped.path.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// Compares what the disk holds with what it should hold: paths of the restore that are not right, and others that
    /// changed meanwhile.
    fn differences(
        &self,
        locked: &Locked,
        work: &Work,
        applied: &Applied,
        seen: &Taken,
        after: &Taken,
    ) -> Result<(BTreeMap<Vec<u8>, String>, Vec<RelPath>), Error> {
        let sink = ObjectSink::dry(&locked.objects, &locked.packs);
        let puts = applied.puts.iter().map(|(path, leaf)| (path.clone(), Edit::Put(*leaf)));
        let edits = applied.deletes.iter().map(|path| (path.clone(), Edit::Remove)).chain(puts).collect();
        let expected = edit(&sink, Some(seen.tree), &edits)?;
        let (root, outer) = self.roots()?;
        let mut failed = applied.failed.clone();
        let mut raced = Vec::new();
        for delta in diff(&sink, expected, Some(after.tree))? {
            if applied.puts.contains_key(&delta.path) || applied.deletes.contains(&delta.path) {
                failed.entry(delta.path).or_insert_with(|| "something else stands there now".to_owned());
                continue;
            }
            // What the rules exclude since the restore is not in the new tree, and the same on the disk.
            let (place, rel) = place(&root, &outer, &delta.path);
            let now = match look_at(&sink, place, self.options.max_file_bytes, 0, rel)? {
                Seen::Leaf(leaf, _) => Some(leaf),
                Seen::Absent | Seen::Blocked(_) => None,
            };
            if now != delta.old {
                raced.push(delta.path);
            }
        }
        // What the rules excluded before the restore is in the new tree now, and was there all the time.
        let (oid, commit) = read_commit(&locked.objects, seen.commit)?;
        let before = Point { name: TurnRef::Latest, oid, commit };
        let asked: Vec<(&[u8], bool)> = raced.iter().map(|path| (path.as_slice(), false)).collect();
        let unknown = reasons(&locked.objects, &before, &asked)?;
        let raced = raced.iter().zip(unknown).filter(|(_, reason)| reason.is_none());
        let raced = raced.filter_map(|(path, _)| RelPath::new(path.clone())).collect();
        for dir in work.make_dirs.iter().filter(|dir| root.open_dir(dir).is_err()) {
            failed.entry(dir.clone()).or_insert_with(|| "the directory is not there".to_owned());
        }
        Ok((failed, raced))
    }

    /// The paths that the turns since the target record as this session's own changes.
    fn changed_by_session(&self, locked: &Locked, target: &Point) -> Result<BTreeSet<Vec<u8>>, Error> {
        let from = match target.name {
            TurnRef::Turn(n) => n,
            TurnRef::Safety(_) | TurnRef::Latest => {
                let parent = target.commit.parent.and_then(|oid| read_commit(&locked.objects, oid).ok());
                parent.and_then(|(_, commit)| Some(commit.trailer?.turn)).unwrap_or(0)
            }
        };
        let mut recorded = read_recorded(&self.layout)?;
        let mut paths = BTreeSet::new();
        for (n, oid) in locked.refs.list(Family::Turn)?.split_off(&(from + 1)) {
            let Some(oid) = oid else { continue };
            let whole = |turn: &Turn| turn.changed_n == turn.changed.len() as u64;
            let (by, changed) = match recorded.remove(&oid).filter(whole) {
                Some(turn) => (turn.by, turn.changed),
                None => {
                    let (oid, commit) = read_commit(&locked.objects, oid)?;
                    let point = Point { name: TurnRef::Turn(n), oid, commit };
                    let by = point.commit.trailer.as_ref().map_or(ChangedBy::Session, |trailer| trailer.by);
                    (by, changes_of(&locked.objects, &point)?)
                }
            };
            if by == ChangedBy::Session {
                paths.extend(changed.into_iter().map(|change| change.path.as_bytes().to_vec()));
            }
        }
        Ok(paths)
    }

    /// The paths of a plan that other sessions' turns since the target record as theirs.
    fn shared(&self, work: &Work, target: &Point, stores: &[PathBuf]) -> Result<Vec<SharedPath>, Error> {
        let since = target.commit.trailer.as_ref().map_or(target.commit.time_s * 1000, |trailer| trailer.time_ms);
        let mut shared = Vec::new();
        for store in stores {
            let reader = Reader::open(store)?;
            if reader.status()?.workspace != self.workspace {
                continue;
            }
            for mut turn in reader.turns()?.into_iter().filter(|turn| turn.time_ms >= since) {
                if turn.changed_n > turn.changed.len() as u64 {
                    turn = reader.turn(TurnRef::Turn(turn.turn))?;
                }
                let theirs = turn.changed.iter().filter(|_| turn.by == ChangedBy::Session);
                let ours = |path: &RelPath| {
                    let path = path.as_bytes();
                    work.puts.contains_key(path) || work.deletes.contains_key(path) || work.kept.contains_key(path)
                };
                shared.extend(theirs.filter(|change| ours(&change.path)).map(|change| SharedPath {
                    path: change.path.clone(),
                    store: store.clone(),
                    turn: turn.turn,
                }));
            }
        }
        Ok(shared)
    }
}

impl Journal {
    fn limits(&self) -> Limits {
        let mine = self.mine.as_ref().map(|mine| mine.iter().map(|path| path.as_bytes().to_vec()).collect());
        Limits { paths: self.paths.clone(), mine }
    }
}

/// The safety snapshot of the newest restore.
pub(crate) fn last_restore(locked: &Locked) -> Result<Option<u32>, Error> {
    for (n, oid) in locked.refs.list(Family::Turn)?.into_iter().rev() {
        let Some(Ok((oid, commit))) = oid.map(|oid| read_commit(&locked.objects, oid)) else { continue };
        let point = Point { name: TurnRef::Turn(n), oid, commit };
        if point.is_restore() {
            return Ok(point.commit.trailer.and_then(|trailer| trailer.safety));
        }
    }
    Ok(None)
}

/// What is not as the plan saw it was changed since, whoever did it.
fn changed_since(work: &mut Work, plan: &RestorePlan) {
    let puts = work.puts.iter().map(|(path, put)| (path, put.before));
    let deletes = work.deletes.iter().map(|(path, leaf)| (path, Some(*leaf)));
    let changed: Vec<Vec<u8>> = puts
        .chain(deletes)
        .filter(|(path, before)| plan.seen.get(*path) != Some(before))
        .map(|(path, _)| path.clone())
        .collect();
    for path in changed {
        work.conflicts.insert(path, ConflictKind::ChangedSincePlan);
    }
}

fn unchanged(locked: &Locked, job: &Job<'_>, work: &Work) -> Result<u64, Error> {
    let all = match &job.target.commit.trailer {
        Some(trailer) if job.limits.paths.is_empty() => trailer.files,
        _ => {
            let files = leaves(&locked.objects, Some(job.target.commit.tree))?;
            files.iter().filter(|(path, _)| job.limits.covers(path)).count() as u64
        }
    };
    Ok(all.saturating_sub(work.puts.len() as u64))
}

fn told(
    job: &Job<'_>,
    plan: PlanSummary,
    applied: Applied,
    after: &Taken,
    (turn, safety, unchanged): (u32, u32, u64),
    failed: BTreeMap<Vec<u8>, String>,
    raced: Vec<RelPath>,
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
