//! `session checkpoint restore`

use super::at::{At, completer, kept};
use super::hold::hold;
use super::place::{Found, InWorkspace, Place, paths, refuse_other};
use super::plan::{cut, lines};
use super::restored::Answer;
use crate::confirm::{self, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::number::counted;
use crate::{interrupt, output, span, target};
use session_checkpoint::{
    Cancel, Checkpoints, ConflictPolicy, Error, Options, PlanSummary, Reader, Restored, Scope, TurnRef,
};
use session_store::LockGuard;
use std::path::PathBuf;
use std::time::Duration;

/// The flags of `checkpoint restore`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The workspace as it is becomes a safety snapshot first, which undo restores. Nothing is deleted that the checkpoint is \
not known to have lacked: what it left out by a rule, for its size, or because it could not be read stays. What was edited since the \
newest checkpoint is a conflict, and stops it. It is refused while a turn runs that this command is no part of.\n\n\
Examples:\n  session checkpoint restore @ 3 -n\n  session checkpoint restore @ 3 -- src docs\n  session checkpoint restore oaks reference:2 --only-mine -y"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The checkpoint
    #[arg(value_name = "TURN", value_parser = kept, required_unless_present = "resume", add = completer())]
    at: Option<At>,
    /// Go on with a restore that was interrupted
    #[arg(long, conflicts_with_all = ["at", "only_mine", "paths", "force", "keep_mine"])]
    resume: bool,
    /// Only what this session's checkpoints since then record as its own changes
    #[arg(long)]
    only_mine: bool,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    place: InWorkspace,
    /// Only these paths and what lies below them
    #[arg(last = true, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
}

/// What restores and undos are asked alike.
#[derive(Debug, clap::Args)]
pub(super) struct Policy {
    /// Overwrite what is in conflict; what no snapshot can hold is moved aside and named
    #[arg(long)]
    pub(super) force: bool,
    /// Leave what is in conflict as it is, and restore the rest
    #[arg(long, conflicts_with = "force")]
    pub(super) keep_mine: bool,
    /// Go on with the directory that is there now, although the checkpoints were taken of another one
    #[arg(long)]
    pub(super) adopt: bool,
    /// How long to wait for a turn that runs, or a lock that another holds [default: not at all]
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    pub(super) wait: Option<Duration>,
}

impl Policy {
    fn on_conflict(&self) -> ConflictPolicy {
        match (self.force, self.keep_mine) {
            (true, _) => ConflictPolicy::Force,
            (false, true) => ConflictPolicy::KeepMine,
            (false, false) => ConflictPolicy::Stop,
        }
    }
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let place = Place::to_change(context, &flags.session)?;
    let options = place.options(context, &flags.place)?;
    let work = Work { context, place: &place, options: &options, policy: &flags.policy, consent: flags.consent };
    let Some(at) = flags.at else { return work.resume() };
    let scope = Scope {
        paths: paths(Some(&options.workspace), &flags.paths)?,
        only_mine: flags.only_mine,
        other_stores: place.others(context, &options.workspace)?,
    };
    work.restore(at, &scope)
}

/// A restore or an undo, and everything that it is told.
pub(super) struct Work<'a> {
    pub(super) context: &'a Context,
    pub(super) place: &'a Place,
    pub(super) options: &'a Options,
    pub(super) policy: &'a Policy,
    pub(super) consent: Consent,
}

impl Work<'_> {
    fn answer(&self, verb: &'static str, target: String) -> Answer<'_> {
        let workspace = &self.options.workspace;
        Answer { context: self.context, place: self.place, verb, target, workspace }
    }

    fn restore(&self, at: At, scope: &Scope) -> Result<Exit, Failure> {
        let answer = self.answer("checkpoint-restore", at.to_string());
        // What is not there is told before anything is made for it.
        let Found { reader, at: own } = self.place.find(at)?;
        reader.turn(own)?;
        if self.consent.is_dry_run() {
            let watch = interrupt::watch()?;
            let plan = self.preview(at, scope, &watch.cancel())?;
            self.consent.ask(self.context, &lines(&plan))?;
            return answer.planned(Some(&plan));
        }
        let (mut checkpoints, held) = self.open()?;
        let watch = interrupt::watch()?;
        let target = match at {
            At::Reference(n) => checkpoints.import_reference(&self.place.store, n, &watch.cancel())?,
            At::Ours(TurnRef::Turn(_) | TurnRef::Safety(_) | TurnRef::Latest) | At::Disk => own,
        };
        let plan = checkpoints.plan_restore(target, scope, &watch.cancel())?;
        drop(watch);
        let what = format!("restored {at}");
        let exit = self.carry_out(&answer, plan.summary(), &what, |cancel| {
            checkpoints.apply_restore(&plan, self.policy.on_conflict(), cancel)
        });
        release(held)?;
        exit
    }

    /// Undoes the newest restore, or the one that was interrupted.
    pub(super) fn undo(&self) -> Result<Exit, Failure> {
        let reader = Reader::open(&self.place.store)?;
        if let Some(restore) = reader.interrupted()? {
            let (of, safety) = (super::at::name(&restore.target), restore.safety);
            let answer = self.answer("checkpoint-undo", format!("safety:{safety}"));
            let line = format!("go back to safety:{safety}: the restore of {of} was interrupted");
            let policy = self.policy.on_conflict();
            return self.end(&answer, line, &format!("took the interrupted restore of {of} back"), |own, cancel| {
                own.undo_interrupted(policy, cancel)
            });
        }
        if self.consent.is_dry_run() {
            let watch = interrupt::watch()?;
            let plan = reader.plan_undo(self.options, &watch.cancel())?;
            self.consent.ask(self.context, &lines(&plan))?;
            return self.answer("checkpoint-undo", super::at::name(&plan.target)).planned(Some(&plan));
        }
        let (mut checkpoints, held) = self.open()?;
        let watch = interrupt::watch()?;
        let plan = checkpoints.plan_undo(&watch.cancel())?;
        drop(watch);
        let answer = self.answer("checkpoint-undo", super::at::name(&plan.summary().target));
        let exit = self.carry_out(&answer, plan.summary(), "took the restore back", |cancel| {
            checkpoints.apply_restore(&plan, self.policy.on_conflict(), cancel)
        });
        release(held)?;
        exit
    }

    fn resume(&self) -> Result<Exit, Failure> {
        let interrupted = Reader::open(&self.place.store)?.interrupted()?;
        let interrupted = interrupted.ok_or_else(|| Failure::new(Exit::No, "no restore was interrupted"))?;
        let of = super::at::name(&interrupted.target);
        let answer = self.answer("checkpoint-restore", of.clone());
        let line = format!("go on with the restore of {of}, which was interrupted");
        self.end(&answer, line, &format!("restored {of}"), Checkpoints::resume_interrupted)
    }

    /// Ends a restore that was interrupted, for which there is no plan.
    fn end(
        &self,
        answer: &Answer<'_>,
        line: String,
        what: &str,
        work: impl FnOnce(&mut Checkpoints, &Cancel) -> Result<Restored, Error>,
    ) -> Result<Exit, Failure> {
        if self.consent.ask(self.context, &[line])? == confirm::Answer::Stop {
            return answer.planned(None);
        }
        let (mut checkpoints, held) = self.open()?;
        let watch = interrupt::watch()?;
        let restored = work(&mut checkpoints, &watch.cancel()).map_err(stopped)?;
        release(held)?;
        answer.done(None, &restored, what)
    }

    /// Opens the checkpoints for writing, while no turn can start.
    fn open(&self) -> Result<(Checkpoints, Option<LockGuard>), Failure> {
        let held = hold(self.context, self.place, self.policy.wait)?;
        let (mut checkpoints, report) = Checkpoints::open(self.options.clone())?;
        refuse_other(&mut checkpoints, &report, self.policy.adopt)?;
        Ok((checkpoints, held))
    }

    /// The plan, without a lock or a write in the session.
    fn preview(&self, at: At, scope: &Scope, cancel: &Cancel) -> Result<PlanSummary, Failure> {
        let n = match at {
            At::Ours(at) => {
                return Ok(Reader::open(&self.place.store)?.plan_restore(at, self.options, scope, cancel)?);
            }
            At::Reference(n) => n,
            At::Disk => return Err(Failure::new(Exit::Usage, "the disk is no checkpoint")),
        };
        // The reference's turn is taken into a store that is thrown away.
        let scratch = tempfile::tempdir().map_err(|error| Failure::input("a scratch directory", &error))?;
        let options = Options { store: scratch.path().join("checkpoints"), ..self.options.clone() };
        let (mut other, _) = Checkpoints::open(options)?;
        let at = other.import_reference(&self.place.store, n, cancel)?;
        let other = other.reader()?;
        Ok(match self.place.ours()? {
            Some(ours) => ours.plan_restore_of(&other, at, self.options, scope, cancel)?,
            None => other.plan_restore(at, self.options, scope, cancel)?,
        })
    }

    fn carry_out(
        &self,
        answer: &Answer<'_>,
        plan: &PlanSummary,
        what: &str,
        apply: impl FnOnce(&Cancel) -> Result<Restored, Error>,
    ) -> Result<Exit, Failure> {
        if plan.is_empty() {
            return answer.planned(Some(plan));
        }
        if self.policy.on_conflict() == ConflictPolicy::Stop && !plan.conflicts.is_empty() {
            return Err(conflicts(plan));
        }
        // A dry run has ended before.
        self.consent.ask(self.context, &cut(lines(plan)))?;
        let watch = interrupt::watch()?;
        let restored = match apply(&watch.cancel()) {
            Err(Error::Conflicts { plan, .. }) => return Err(conflicts(&plan)),
            other => other.map_err(stopped)?,
        };
        drop(watch);
        answer.done(Some(plan), &restored, what)
    }
}

fn release(held: Option<LockGuard>) -> Result<(), Failure> {
    Ok(held.map_or(Ok(()), LockGuard::release)?)
}

/// Tells each conflict, then that nothing was changed.
fn conflicts(plan: &PlanSummary) -> Failure {
    cut(plan.conflicts.iter().map(super::words::conflict).collect()).iter().for_each(|line| output::say(line));
    let paths = counted(plan.conflicts.len() as u64, "path is", "paths are");
    Failure::new(Exit::Refused, format!("{paths} in conflict; nothing was changed"))
        .hint("--force overwrites them, --keep-mine leaves them as they are")
}

/// Who stops a restore in the middle must know how it ends.
fn stopped(error: Error) -> Failure {
    let is_cancel = matches!(error, Error::Cancelled);
    let failure = Failure::from(error);
    if !is_cancel {
        return failure;
    }
    Failure { text: "stopped in the middle: each file is the old one or the new one".to_owned(), ..failure }
        .hint("`session checkpoint undo` goes back, `session checkpoint restore --resume` goes on with it")
}
