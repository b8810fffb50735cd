//! What a rewind would do, and what stands against it.

use super::mark::{self, Last};
use super::{Refusal, Rewind, RewindParts};
use crate::{HistoryView, Result, Session, StoreError, processes, rewind_record};
use session_core::checkpoint::{CheckpointRef, Checkpointer, FilePlan};
use session_core::{Cut, Effect, Event, Item, Point, Replay, Role};
use session_proc::TurnMarker;

/// What a rewind would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindPlan {
    /// What lies between the point and the end.
    pub cut: Cut,
    /// Whether the conversation goes back.
    pub chat: bool,
    /// The messages that go, in order; none where the conversation stays.
    pub messages: Vec<RewoundMessage>,
    /// What happens to files; `None` where they stay.
    pub files: Option<FilePlan>,
    /// What stands against it, unless it is forced.
    pub refusals: Vec<Refusal>,
}

/// A message that goes, or comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewoundMessage {
    /// The number of its event.
    pub event: u64,
    /// Who said it.
    pub role: Role,
    /// How it begins.
    pub text: String,
}

/// How many characters of a message a plan has.
const TEXT_CHARS: usize = 200;

impl RewindPlan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.files.as_ref().is_none_or(FilePlan::is_empty)
    }
}

/// What undoing the newest rewind would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoPlan {
    /// The messages that come back, in order.
    pub messages: Vec<RewoundMessage>,
    /// Messages that came since, and go first.
    pub since: u64,
    /// What happens to files; `None` where they stay.
    pub files: Option<FilePlan>,
    /// Whether the rewind was interrupted: then it is as if it had not begun.
    pub interrupted: bool,
    /// What stands against it, unless it is forced.
    pub refusals: Vec<Refusal>,
}

/// What an undo does to the history.
pub(super) struct Undoing {
    pub(super) last: Last,
    pub(super) since: u64,
    /// The events that come back, with their numbers.
    pub(super) events: Vec<(u64, Event)>,
}

impl Session {
    /// What a rewind would do now, and what stands against it. `checkpoints` are the session's; without them the
    /// workspace stays. Nothing is locked or written.
    ///
    /// # Errors
    /// [`StoreError::Cut`] for a point that there is not, or that is no longer part of the conversation;
    /// [`StoreError::NoCheckpoint`] where the workspace must go back and nothing shows it; [`StoreError::Succeeded`];
    /// [`StoreError::RewindInterrupted`] where another one has not ended; [`StoreError::Checkpoint`]; failed reads.
    pub fn plan_rewind(&self, rewind: &Rewind, checkpoints: Option<&mut dyn Checkpointer>) -> Result<RewindPlan> {
        self.verify()?;
        self.refuse_succeeded(&mut self.state())?;
        if let Some(path) = rewind_record::stands(self.paths())? {
            return Err(StoreError::RewindInterrupted { name: self.name().to_owned(), path });
        }
        let view = self.view()?;
        let cut = cut(&view, rewind.to)?;
        let chat = rewind.parts != RewindParts::Files;
        let files = self.plan_files(rewind, &cut, checkpoints)?;
        let mut refusals = Vec::new();
        if !cut.damage.is_empty() {
            refusals.push(Refusal::Damage(cut.damage.clone()));
        }
        refusals.extend(Refusal::of_files(files.as_ref()));
        refusals.extend(self.busy()?);
        let messages = if chat { last_events(&view, cut.dropped, cut.events)? } else { Vec::new() };
        let messages = messages.iter().map(|(number, event)| shown(*number, event)).collect();
        Ok(RewindPlan { cut, chat, messages, files, refusals })
    }

    fn plan_files(
        &self,
        rewind: &Rewind,
        cut: &Cut,
        checkpoints: Option<&mut dyn Checkpointer>,
    ) -> Result<Option<FilePlan>> {
        let missing = || StoreError::NoCheckpoint { name: self.name().to_owned(), point: rewind.to };
        let must = match rewind.parts {
            RewindParts::Chat => return Ok(None),
            RewindParts::Auto => false,
            RewindParts::Files | RewindParts::Both => true,
        };
        let (Some(checkpoints), Some(checkpoint)) = (checkpoints, cut.checkpoint) else {
            return if must { Err(missing()) } else { Ok(None) };
        };
        checkpoints.plan(CheckpointRef::Taken(checkpoint)).map(Some).map_err(|error| self.checkpoint_error(error))
    }

    /// What undoing the newest rewind would do now, and what stands against it. Nothing is locked or written.
    ///
    /// # Errors
    /// [`StoreError::NothingToUndo`] where no rewind is the newest that went back, or the conversation was cut before it
    /// since; otherwise as [`Session::plan_rewind`].
    pub fn plan_rewind_undo(&self, checkpoints: Option<&mut dyn Checkpointer>) -> Result<UndoPlan> {
        self.verify()?;
        self.refuse_succeeded(&mut self.state())?;
        let mut refusals = self.busy()?;
        if rewind_record::read(self.paths())?.is_some() {
            return Ok(UndoPlan { messages: Vec::new(), since: 0, files: None, interrupted: true, refusals });
        }
        let undoing = self.undoing(&self.view()?)?;
        let files = match (undoing.last.mark.guard, checkpoints) {
            (Some(guard), Some(own)) => {
                Some(own.plan(CheckpointRef::Guard(guard)).map_err(|error| self.checkpoint_error(error))?)
            }
            (Some(_), None) => {
                let point = Point::Event(undoing.last.event);
                return Err(StoreError::NoCheckpoint { name: self.name().to_owned(), point });
            }
            (None, _) => None,
        };
        refusals.extend(Refusal::of_files(files.as_ref()));
        if undoing.since > 0 {
            refusals.push(Refusal::GoneOn(undoing.since));
        }
        let messages = undoing.events.iter().map(|(number, event)| shown(*number, event)).collect();
        Ok(UndoPlan { messages, since: undoing.since, files, interrupted: false, refusals })
    }

    /// What undoing does to a history.
    pub(super) fn undoing(&self, view: &HistoryView) -> Result<Undoing> {
        let nothing = || StoreError::NothingToUndo { name: self.name().to_owned() };
        let last = mark::last(view)?.filter(|last| !last.is_undone).ok_or_else(nothing)?;
        // What was live right after it must still be: else there is no telling what came in its place.
        let since = view.timeline()?.cut(Point::Event(last.event)).map_err(|_| nothing())?.dropped;
        let dropped = u64::try_from(last.dropped).unwrap_or(0);
        let events = last_events(view, dropped, last.event - 1)?;
        Ok(Undoing { last, since, events })
    }

    /// Who works in the session just now, but for the turn that this process belongs to.
    pub(super) fn busy(&self) -> Result<Vec<Refusal>> {
        let mut busy = Vec::new();
        if let Some(turn) = TurnMarker::read(&self.paths().proc())?
            && !turn.is_of_this_process()?
        {
            busy.push(Refusal::LiveTurn(turn.pid));
        }
        let ids = processes::running(self.paths())?;
        if !ids.is_empty() {
            busy.push(Refusal::Processes(ids));
        }
        Ok(busy)
    }
}

/// What lies between a point and the end of a history.
pub(super) fn cut(view: &HistoryView, point: Point) -> Result<Cut> {
    view.timeline()?.cut(point).map_err(|source| StoreError::Cut { path: view.path().to_owned(), source })
}

/// The last `count` events whose messages are live after the event of a number, with their numbers.
fn last_events(view: &HistoryView, count: u64, upto: u64) -> Result<Vec<(u64, Event)>> {
    let mut live = Replay::new();
    let mut number = 0;
    for item in view.forwards() {
        let Item::Record(record) = view.told(item)? else { continue };
        number += 1;
        if number > upto {
            break;
        }
        live.event(&record.event.effect(), || number);
    }
    let live = live.into_live();
    let from = live.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
    let (wanted, mut found, mut number) = (&live[from..], Vec::new(), 0);
    for item in view.forwards() {
        if found.len() == wanted.len() {
            break;
        }
        let Item::Record(record) = view.told(item)? else { continue };
        number += 1;
        // They stand in the order of the file.
        if wanted.get(found.len()) == Some(&number) {
            debug_assert_eq!(record.event.effect(), Effect::Adds);
            found.push((number, *record.event));
        }
    }
    Ok(found)
}

fn shown(number: u64, event: &Event) -> RewoundMessage {
    let message = event.message.as_deref().cloned().unwrap_or_default();
    let text = message.content.text().chars().take(TEXT_CHARS).collect();
    RewoundMessage { event: number, role: message.role, text }
}
