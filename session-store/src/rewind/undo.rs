//! Taking a rewind back.

use super::plan::Undoing;
use super::run::{Rewound, reborrow, restored};
use super::{Refusal, RewindForce, mark};
use crate::rewind_record::{self, Record, Target};
use crate::{LockGuard, Result, Session};
use serde_json::Value;
use session_core::checkpoint::{Checkpointer, FilesRestored};
use session_core::{CheckpointMark, Event, Extension, Note, RewindMark, format_time};

/// What an event that was appended again says beside what it said: when it was said.
const AGAIN: &str = "again";

impl Session {
    /// Takes the newest rewind back: the workspace becomes what its guard shows, and the messages that went are appended
    /// again, with a note. One that was interrupted is taken back as if it had not begun, and where another restore has come
    /// since, the workspace stays what that one made of it; the undoing of one that was interrupted is ended.
    ///
    /// On disk when it returns: the workspace as it was; the events, in one write, synced as the durability says. After an
    /// error, repeating it does the rest.
    ///
    /// # Errors
    /// As [`Session::plan_rewind_undo`] and [`Session::rewind`]. Messages that came since are a reason to refuse; when
    /// forced, they leave the conversation first.
    pub fn undo_rewind(
        &self,
        lock: Option<&LockGuard>,
        force: RewindForce,
        mut checkpoints: Option<&mut dyn Checkpointer>,
    ) -> Result<Rewound> {
        self.hold(lock)?;
        if let Some(record) = rewind_record::read(self.paths())? {
            self.refuse(force, &self.busy()?)?;
            return self.abandon(&record, force, checkpoints);
        }
        let plan = self.plan_rewind_undo(reborrow(&mut checkpoints))?;
        self.refuse(force, &plan.refusals)?;
        let undoing = self.undoing(&self.view()?)?;
        let mut record = Record {
            id: undoing.last.mark.id.clone(),
            undoes: true,
            event: undoing.last.event,
            events: self.view()?.timeline()?.events(),
            chat: true,
            dropped: undoing.events.len() as u64,
            target: Target::Guard(0),
            forced: force == RewindForce::Forced,
            restored_before: None,
            began: format_time(&self.now()),
        };
        let changes_files = plan.files.as_ref().is_some_and(|files| !files.is_empty());
        let (Some(own), Some(guard), true) = (checkpoints, undoing.last.mark.guard, changes_files) else {
            return self.end_undo(None, force, false);
        };
        record.target = Target::Guard(guard);
        let last = own.last_restore().map_err(|error| self.checkpoint_error(error))?;
        record.restored_before = last.map(|last| last.checkpoint);
        rewind_record::write(self.paths(), &record, self.options().durability)?;
        let files = match self.bring_files(&record, own) {
            Ok(files) => files,
            Err(error) => return Err(self.give_up(&record, own, error)),
        };
        self.end_undo(Some(files), force, false)
    }

    /// Takes back what was interrupted; an undoing is ended instead.
    fn abandon(
        &self,
        record: &Record,
        force: RewindForce,
        checkpoints: Option<&mut dyn Checkpointer>,
    ) -> Result<Rewound> {
        if record.undoes || mark::tells(&self.view()?, record.events, &record.id)? {
            return self.finish_record(record, checkpoints);
        }
        if let Some(own) = checkpoints {
            self.bring_back_files(record, own, force.on_conflict())?;
            rewind_record::remove(self.paths(), self.options().durability)?;
            return Ok(Rewound { messages: 0, files: None, resumed: true });
        }
        self.finish_record(record, None)
    }

    /// Appends what went again, and ends the record where files have one.
    pub(super) fn end_undo(&self, files: Option<FilesRestored>, force: RewindForce, resumed: bool) -> Result<Rewound> {
        let now = self.now();
        let mut messages = 0;
        self.append_made(&mut |view| {
            let undoing = self.undoing(view)?;
            // Where the workspace came back, there is no way but on: what was said meanwhile leaves.
            if files.is_none() && undoing.since > 0 {
                self.refuse(force, &[Refusal::GoneOn(undoing.since)])?;
            }
            messages = undoing.events.len() as u64;
            Ok(undone(undoing, files.as_ref(), now))
        })?;
        if files.is_some() {
            rewind_record::remove(self.paths(), self.options().durability)?;
        }
        Ok(Rewound { messages, files, resumed })
    }
}

/// The events that take a rewind back.
fn undone(undoing: Undoing, files: Option<&FilesRestored>, now: session_core::Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    if let Some(files) = files {
        events.extend(restored(files, now, "the workspace is what it was before the rewind"));
    }
    if undoing.since > 0 {
        events.push(Event::rollback(now, i64::try_from(undoing.since).unwrap_or(i64::MAX)));
    }
    events.extend(undoing.events.into_iter().map(|(_, event)| again(event, now)));
    // Behind the messages once more: it shows the workspace that they left.
    if let Some(files) = files {
        let mark = CheckpointMark { action: "taken".to_owned(), turn: Some(files.checkpoint), ..Default::default() };
        events.push(Extension::Checkpoint(mark).into_event(now));
    }
    let text = format!("the rewind to event {} was taken back", undoing.last.mark.to);
    let mut note = Extension::Note(Note { topic: Note::REWIND_UNDONE.to_owned(), text }).into_event(now);
    RewindMark { guard: None, ..undoing.last.mark }.put_on(&mut note);
    events.push(note);
    events
}

/// An event that is said again now, and when it was said first.
fn again(event: Event, now: session_core::Timestamp) -> Event {
    let mut event = event;
    if event.x.get(AGAIN).is_none() {
        let ts = event.ts.as_ref().map_or(Value::Null, |ts| Value::String(format_time(ts)));
        event.x.set(AGAIN, &ts);
    }
    event.ts = Some(now);
    event
}
