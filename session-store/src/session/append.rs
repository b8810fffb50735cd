//! Appending to the conversation.

use super::state::State;
use super::turn_start;
use crate::history::{Make, Pending};
use crate::{Appended, HistoryView, Result, Session, StoreError, meta, staging};
use session_core::{Event, Kind, Message, SessionHeader};
use std::cell::OnceCell;
use std::fs;
use std::io;

/// What a call appends.
enum Said<'a> {
    Events(&'a [Event]),
    /// What is made of the history as it stands then.
    Made(Make<'a>),
}

/// What becomes of events for a session that another goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    Refuse,
    /// They say what the session says last.
    Write,
}

impl Session {
    /// Appends events, all of them or none, in one write.
    ///
    /// A history begins with the first event of a kind that the reference knows; a line that says what the session is
    /// goes before it. Events of this project's own kinds that come earlier wait for that in memory: the answer counts
    /// them as `waiting`, and they are gone with the handle if no such event comes.
    ///
    /// Whoever appends first while a turn is live, in any process, also writes that the turn has started.
    ///
    /// No lock is needed, and none is left behind: a child of a turn may append. While this handle holds the session's
    /// lock, it makes sure first that it still does; while it runs a turn, it puts the turn's marker back where the
    /// reference removed it.
    ///
    /// On disk when it returns: the events, synced as the durability says. `updated` and the cost in the metadata are
    /// written at most once a second; what is left is written with the next append after that, at the end of the turn, or
    /// when the session is closed.
    ///
    /// # Errors
    /// [`StoreError::Deleted`] and [`StoreError::Succeeded`] where the session is gone or another goes on with it,
    /// [`StoreError::LockLost`], [`StoreError::NewerFormat`], [`StoreError::LineTooLong`], [`StoreError::NotRedacted`]:
    /// nothing was written. For
    /// [`StoreError::Append`] and the others see [`crate::History::append`].
    #[doc(alias = "Append")]
    pub fn append(&self, events: &[Event]) -> Result<Appended> {
        if events.is_empty() {
            return Ok(Appended::default());
        }
        let mut state = self.state();
        self.verify()?;
        let waits = events.iter().all(|event| event.kind.is_extension()) && !self.has_history()?;
        if waits || !state.history.is_open() {
            // It is asked again under the lock of the history; here, so that nothing is kept or created in vain.
            self.refuse_succeeded(&mut state)?;
        }
        self.may_append(&state)?;
        if waits {
            state.waiting.extend_from_slice(events);
            return Ok(Appended { waiting: events.len(), ..Appended::default() });
        }
        let (pending, start) = self.write(&mut state, Said::Events(events), Closed::Refuse)?;
        state.has_usage |= events.iter().chain(&state.waiting).any(|event| event.kind == Kind::XUsage);
        let appended = if start.is_none() && state.waiting.is_empty() {
            // Other threads may write while this one waits for the disk.
            drop(state);
            let appended = pending.settle(&self.paths.history())?;
            state = self.state();
            appended
        } else {
            self.settle_with_waiting(&mut state, pending, start.as_ref())?
        };
        self.touch(&mut state);
        Ok(appended)
    }

    /// Appends what `make` makes of the history as it stands: nothing comes between what it sees and what it adds. It must
    /// not ask this session for anything that an append changes, and may be asked twice.
    ///
    /// On disk when it returns, and errors: as [`Session::append`], and those of `make`, after which nothing was written.
    pub(crate) fn append_made(&self, make: Make<'_>) -> Result<()> {
        let mut state = self.state();
        self.verify()?;
        self.refuse_succeeded(&mut state)?;
        self.may_append(&state)?;
        let (pending, start) = self.write(&mut state, Said::Made(make), Closed::Refuse)?;
        self.settle_with_waiting(&mut state, pending, start.as_ref())?;
        self.touch(&mut state);
        Ok(())
    }

    /// Refuses to write without the lock that this handle held, or for a turn whose marker cannot be put back.
    fn may_append(&self, state: &State) -> Result<()> {
        self.held_now().map_or(Ok(()), |held| held.check())?;
        if let Some(turn) = &state.turn {
            // That another turn has taken its place is for the lock to prevent; the marker only tells.
            turn.ensure()?;
        }
        Ok(())
    }

    /// Writes the events that wait, and these. Gives the start of a turn, too, if it was written with them.
    fn write(&self, state: &mut State, said: Said<'_>, closed: Closed) -> Result<(Pending, Option<Event>)> {
        let State { history, waiting, seen, has_begun, .. } = state;
        let mut begins = false;
        let start = OnceCell::new();
        let before = |is_new| {
            if closed == Closed::Refuse {
                // Whoever names a successor holds the lock that is held now: what is written goes before that.
                self.refuse_where_succeeded(seen)?;
            }
            begins = is_new;
            let mut lines = if is_new { self.first_lines() } else { Vec::new() };
            lines.extend(start.get_or_init(|| turn_start::waiting(&self.paths)).clone());
            Ok(lines)
        };
        let written = || {
            if start.get().is_some_and(Option::is_some) {
                turn_start::written(&self.paths);
            }
        };
        let waiting = &waiting[..];
        let pending = match said {
            Said::Events(events) if waiting.is_empty() => history.write_after(events, before, written),
            Said::Events(events) => history.write_after(&[waiting, events].concat(), before, written),
            Said::Made(make) => {
                let mut both = |view: &HistoryView| Ok([waiting, &make(view)?].concat());
                history.write_seen(&mut both, before, written)
            }
        };
        let start = start.into_inner().flatten();
        match pending {
            Ok(pending) => {
                *has_begun |= begins;
                Ok((pending, start))
            }
            Err(error) => Err(self.not_written(state, start.as_ref(), error)),
        }
    }

    /// Acknowledges the events that waited, and those after them. The answer is about the latter.
    fn settle_with_waiting(&self, state: &mut State, pending: Pending, start: Option<&Event>) -> Result<Appended> {
        let before = pending.bytes_of_first(state.waiting.len());
        let settled = pending.settle(&self.paths.history());
        let Appended { events, bytes, offset, isolated, .. } =
            settled.map_err(|error| self.not_written(state, start, error))?;
        let waiting = std::mem::take(&mut state.waiting);
        Ok(Appended {
            events: events - waiting.len(),
            waiting: 0,
            bytes: bytes - before,
            offset: offset + before,
            isolated,
        })
    }

    /// Takes note that a call failed. The error is about the caller's events, and not about those that waited.
    fn not_written(&self, state: &mut State, start: Option<&Event>, error: StoreError) -> StoreError {
        if let Some(start) = start {
            // What was written is blank again, and the start waits for the next append. Where even this fails, it is lost,
            // and the history tells of an end without it.
            drop(turn_start::put(&self.paths, start));
        }
        let waiting = state.waiting.len();
        match error {
            StoreError::Append { path, whole_events, source } => {
                state.waiting.drain(..whole_events.min(waiting));
                StoreError::Append { path, whole_events: whole_events.saturating_sub(waiting), source }
            }
            StoreError::LineTooLong { event, bytes, limit, path } => {
                StoreError::LineTooLong { event: event.saturating_sub(waiting), bytes, limit, path }
            }
            StoreError::NotRedacted { event, path, source } => {
                StoreError::NotRedacted { event: event.saturating_sub(waiting), path, source }
            }
            error => error,
        }
    }

    /// What a history of ours begins with: what waited in the metadata until there was one.
    fn first_lines(&self) -> Vec<Event> {
        // Without metadata the line still says the format and the name.
        let meta = meta::read(&self.paths, &self.name, self.options.limits).map(|read| read.meta).unwrap_or_default();
        let ts = meta.created.unwrap_or_else(|| self.clock.utc());
        staging::first_lines(SessionHeader { name: self.name.clone(), ..SessionHeader::default() }, &meta, ts)
    }

    /// Appends what a session says last: also where another goes on with it.
    pub(crate) fn append_closing(&self, events: &[Event]) -> Result<()> {
        self.verify()?;
        let mut state = self.state();
        let (pending, start) = self.write(&mut state, Said::Events(events), Closed::Write)?;
        self.settle_with_waiting(&mut state, pending, start.as_ref())?;
        self.touch(&mut state);
        Ok(())
    }

    /// Whether something was ever written to the history.
    pub(crate) fn has_history(&self) -> Result<bool> {
        let path = self.paths.history();
        match fs::symlink_metadata(&path) {
            Ok(metadata) => Ok(metadata.len() > 0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::read(&path)(error)),
        }
    }

    /// Appends messages of the conversation, with the present time. A tool's result is recorded as one.
    ///
    /// On disk when it returns, and errors: as [`Session::append`].
    ///
    /// # Errors
    /// See there.
    #[doc(alias = "AppendMessages")]
    pub fn append_messages(&self, messages: impl IntoIterator<Item = Message>) -> Result<Appended> {
        let now = self.clock.utc();
        let events: Vec<Event> = messages.into_iter().map(|message| Event::message(now, message)).collect();
        self.append(&events)
    }

    /// Appends a notice: something that happened to the turn rather than in the conversation.
    ///
    /// # Errors
    /// See [`Session::append`].
    #[doc(alias = "Notice")]
    pub fn notice(&self, text: impl Into<String>) -> Result<Appended> {
        self.append(&[Event::notice(self.clock.utc(), text)])
    }

    /// Appends what a turn runs with.
    ///
    /// # Errors
    /// See [`Session::append`].
    #[doc(alias = "Settings")]
    pub fn settings(&self, model: impl Into<String>, merge_thinking: bool, tools: Vec<String>) -> Result<Appended> {
        self.append(&[Event::settings(self.clock.utc(), model, merge_thinking, tools)])
    }

    /// Takes the last `dropped` messages out of the conversation. They stay in the file. They are the last when it is
    /// written: what somebody appends before that counts. [`Session::rewind`] goes back to a point instead.
    ///
    /// # Errors
    /// See [`Session::append`].
    #[doc(alias = "Rollback")]
    pub fn rollback(&self, dropped: i64) -> Result<Appended> {
        self.append(&[Event::rollback(self.clock.utc(), dropped)])
    }
}
