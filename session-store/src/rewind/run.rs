//! Doing a rewind.

use super::files::force_of;
use super::mark;
use super::plan::{RewindPlan, cut};
use super::{Rewind, RewindForce};
use crate::rewind_record::{self, Record, Target};
use crate::{LockGuard, Result, Session, StoreError};
use session_core::checkpoint::{Checkpointer, FilesRestored};
use session_core::{CheckpointMark, Event, Extension, Point, RewindMark, format_time};

/// A rewind that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "it tells which files are not as they should be"]
#[non_exhaustive]
pub struct Rewound {
    /// How many messages left the conversation, or came back to it.
    pub messages: u64,
    /// What happened to files; `None` where they stayed.
    pub files: Option<FilesRestored>,
    /// Whether one was ended that had been interrupted.
    pub resumed: bool,
}

impl Session {
    /// Goes back to a point of the history: the conversation, the workspace, or both. `lock` is the session's; without it
    /// the caller answers for it that no turn begins meanwhile, as a process of the live turn can.
    ///
    /// A rewind to the same point that was interrupted is ended: nothing is done twice. What somebody else says until the
    /// rollback is written goes too: it stands behind the point.
    ///
    /// On disk when it returns: the workspace as a checkpoint shows it, with a guard of what it was; in the history, in one
    /// write and synced as the durability says, a rollback that says so. After an error before the first change nothing
    /// has changed; after another the record of the rewind stands, and repeating it does the rest.
    ///
    /// # Errors
    /// [`StoreError::RewindRefused`] with everything that stands against it, unless it is forced;
    /// [`StoreError::RestoreInterrupted`] where the rewind was interrupted, and another restore since; otherwise as
    /// [`Session::plan_rewind`] and [`Session::append`].
    pub fn rewind(
        &self,
        lock: Option<&LockGuard>,
        rewind: &Rewind,
        mut checkpoints: Option<&mut dyn Checkpointer>,
    ) -> Result<Rewound> {
        self.hold(lock)?;
        if let Some(record) = rewind_record::read(self.paths())? {
            return self.resume_rewind(&record, rewind.to, checkpoints);
        }
        let plan = self.plan_rewind(rewind, reborrow(&mut checkpoints))?;
        self.refuse(rewind.force, &plan.refusals)?;
        if plan.is_empty() {
            return Ok(Rewound { messages: 0, files: None, resumed: false });
        }
        let id = new_id();
        let changes_files = plan.files.as_ref().is_some_and(|files| !files.is_empty());
        let (Some(own), Some(checkpoint), true) = (checkpoints, plan.cut.checkpoint, changes_files) else {
            return self.end_rewind(&self.record_of(&plan, id, Target::Taken(0), rewind.force, None), None, false);
        };
        let before = own.last_restore().map_err(|error| self.checkpoint_error(error))?.map(|last| last.checkpoint);
        let record = self.record_of(&plan, id, Target::Taken(checkpoint), rewind.force, before);
        rewind_record::write(self.paths(), &record, self.options().durability)?;
        let files = match self.bring_files(&record, own) {
            Ok(files) => files,
            Err(error) => return Err(self.give_up(&record, own, error)),
        };
        self.end_rewind(&record, Some(files), false)
    }

    /// Removes the record where nothing was changed yet, as when a conflict stopped it.
    pub(super) fn give_up(&self, record: &Record, own: &dyn Checkpointer, error: StoreError) -> StoreError {
        // One that was interrupted before this began has changed nothing of this one's.
        let own_target = Some(record.target.into());
        let is_untouched = own.interrupted().is_ok_and(|found| found.is_none_or(|found| found.restoring != own_target))
            && own.last_restore().is_ok_and(|last| last.map(|last| last.checkpoint) == record.restored_before);
        if is_untouched {
            // The first error is the one to tell; a record that stays is ended by repeating.
            drop(rewind_record::remove(self.paths(), self.options().durability));
        }
        error
    }

    fn record_of(
        &self,
        plan: &RewindPlan,
        id: String,
        target: Target,
        force: RewindForce,
        restored_before: Option<u64>,
    ) -> Record {
        Record {
            id,
            undoes: false,
            event: plan.cut.event,
            events: plan.cut.events,
            chat: plan.chat,
            dropped: if plan.chat { plan.cut.dropped } else { 0 },
            target,
            forced: force == RewindForce::Forced,
            restored_before,
            began: format_time(&self.now()),
        }
    }

    /// Ends a rewind that was interrupted.
    fn resume_rewind(&self, record: &Record, to: Point, checkpoints: Option<&mut dyn Checkpointer>) -> Result<Rewound> {
        let view = self.view()?;
        let asked = view.timeline()?.event_at(to).ok();
        if record.undoes || asked != Some(record.event) {
            return Err(self.interrupted());
        }
        self.finish_record(record, checkpoints)
    }

    /// Ends a rewind, or the undoing of one, that was interrupted: what `doctor` does, and repeating it. `None` where none
    /// was.
    ///
    /// On disk when it returns: as after the rewind.
    ///
    /// # Errors
    /// [`StoreError::RewindInterrupted`] where the conversation has gone on since, so that only taking it back is left, or
    /// where its files need checkpoints and none were given; otherwise as [`Session::rewind`].
    pub fn finish_rewind(
        &self,
        lock: Option<&LockGuard>,
        checkpoints: Option<&mut dyn Checkpointer>,
    ) -> Result<Option<Rewound>> {
        self.hold(lock)?;
        let Some(record) = rewind_record::read(self.paths())? else { return Ok(None) };
        self.finish_record(&record, checkpoints).map(Some)
    }

    pub(super) fn finish_record(&self, record: &Record, checkpoints: Option<&mut dyn Checkpointer>) -> Result<Rewound> {
        let view = self.view()?;
        if mark::tells(&view, record.events, &record.id)? {
            rewind_record::remove(self.paths(), self.options().durability)?;
            return Ok(Rewound { messages: record.dropped, files: None, resumed: true });
        }
        let timeline = view.timeline()?;
        let has_gone_on = timeline.cut(Point::Event(record.events)).map_or(true, |cut| cut.dropped > 0);
        let Some(own) = checkpoints.filter(|_| !has_gone_on) else { return Err(self.interrupted()) };
        let files = self.bring_files(record, own)?;
        if record.undoes {
            self.end_undo(Some(files), force_of(record), true)
        } else {
            self.end_rewind(record, Some(files), true)
        }
    }

    /// Tells the history, and ends the record.
    fn end_rewind(&self, record: &Record, files: Option<FilesRestored>, resumed: bool) -> Result<Rewound> {
        let now = self.now();
        let mut dropped = 0;
        self.append_made(&mut |view| {
            let mut events = Vec::new();
            if let Some(files) = &files {
                events.extend(restored(files, now, &format!("the workspace went back to event {}", record.event)));
            }
            // A restore takes its time, and a child of a turn needs no lock: what was said up to this write stands behind
            // the point, too.
            dropped = if record.chat { cut(view, Point::Event(record.event))?.dropped } else { 0 };
            let mut rollback = Event::rollback(now, i64::try_from(dropped).unwrap_or(i64::MAX));
            let guard = files.as_ref().map(|files| files.guard);
            RewindMark { id: record.id.clone(), to: record.event, guard }.put_on(&mut rollback);
            events.push(rollback);
            Ok(events)
        })?;
        if files.is_some() {
            rewind_record::remove(self.paths(), self.options().durability)?;
        }
        Ok(Rewound { messages: dropped, files, resumed })
    }

    /// Makes sure that this is the session, and the lock its own.
    pub(super) fn hold(&self, lock: Option<&LockGuard>) -> Result<()> {
        match lock {
            Some(lock) => self.begin_change(lock),
            None => {
                self.verify()?;
                self.refuse_succeeded(&mut self.state())
            }
        }
    }

    pub(super) fn refuse(&self, force: RewindForce, refusals: &[super::Refusal]) -> Result<()> {
        if refusals.is_empty() || force == RewindForce::Forced {
            return Ok(());
        }
        Err(StoreError::RewindRefused { name: self.name().to_owned(), reasons: refusals.to_vec() })
    }

    fn interrupted(&self) -> StoreError {
        let path = self.paths().dir().join(session_core::layout::REWIND);
        StoreError::RewindInterrupted { name: self.name().to_owned(), path }
    }
}

/// The events of a restore: one for whoever reads along, one for us.
pub(super) fn restored(files: &FilesRestored, now: session_core::Timestamp, note: &str) -> [Event; 2] {
    let mark = CheckpointMark { action: "restored".to_owned(), turn: Some(files.checkpoint), note: note.to_owned() };
    [Event::notice(now, note), Extension::Checkpoint(mark).into_event(now)]
}

pub(super) fn new_id() -> String {
    format!("{:016x}", rand::random::<u64>())
}

/// The same for a shorter time.
pub(super) fn reborrow<'a>(own: &'a mut Option<&mut dyn Checkpointer>) -> Option<&'a mut dyn Checkpointer> {
    match own {
        Some(own) => Some(&mut **own),
        None => None,
    }
}
