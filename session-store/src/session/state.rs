//! What an open session remembers between two appends.

use super::price::Priced;
use crate::meta::{self, count_cost, mark_header};
use crate::stamp::Stamp;
use crate::{History, Options, Result, Session, SessionPaths, StoreError};
use session_core::Event;
use session_proc::TurnMarker;
use std::time::{Duration, Instant};

/// How often `updated` is written while events are appended.
const TOUCH_INTERVAL: Duration = Duration::from_secs(1);
/// How long that waits for updates of other processes. The next one will do as well.
const TOUCH_WAIT: Duration = Duration::from_millis(20);
/// How long the last one waits.
pub(super) const CLOSE_WAIT: Duration = Duration::from_secs(2);

/// The successor that `meta.json` named when it was last read, and the state of the file then.
pub(super) type SeenSuccessor = Option<(Option<Stamp>, String)>;

#[derive(Debug)]
pub(crate) struct State {
    pub(super) history: History,
    /// Events of ours that are written with the next one that begins, or stands in, a history.
    pub(super) waiting: Vec<Event>,
    pub(super) seen: SeenSuccessor,
    /// When `updated` was last written.
    touched: Option<Instant>,
    /// Whether something was appended since.
    is_stale: bool,
    /// Whether the history was begun through this handle and the metadata does not say so yet.
    pub(super) has_begun: bool,
    /// Whether usage was appended that the metadata's cost does not hold yet.
    pub(super) has_usage: bool,
    /// The usage of the history, as far as this handle has read it.
    priced: Option<Priced>,
    /// The turn that this handle runs.
    pub(super) turn: Option<TurnMarker>,
}

impl State {
    pub(super) fn new(paths: &SessionPaths, name: &str, options: Options) -> Self {
        State {
            history: History::new(paths.clone(), name, options),
            waiting: Vec::new(),
            seen: None,
            touched: None,
            is_stale: false,
            has_begun: false,
            has_usage: false,
            priced: None,
            turn: None,
        }
    }
}

impl Session {
    /// Refuses to write to a session that another goes on with. The metadata is read again only when its file changed.
    pub(crate) fn refuse_succeeded(&self, state: &mut State) -> Result<()> {
        self.refuse_where_succeeded(&mut state.seen)
    }

    pub(super) fn refuse_where_succeeded(&self, seen: &mut SeenSuccessor) -> Result<()> {
        let path = self.paths.meta();
        let stamp = Stamp::at(&path).map_err(StoreError::read(&path))?;
        let known = seen.take().filter(|(known, _)| *known == stamp);
        let successor = match known {
            Some((_, successor)) => successor,
            None => meta::read(&self.paths, &self.name, self.options.limits)?.meta.succeeded_by,
        };
        let refusal = (!successor.is_empty())
            .then(|| StoreError::Succeeded { name: self.name.clone(), successor: successor.clone() });
        *seen = Some((stamp, successor));
        refusal.map_or(Ok(()), Err)
    }

    /// Notes that something was appended, and writes `updated` if that is due.
    pub(super) fn touch(&self, state: &mut State) {
        state.is_stale = true;
        if state.touched.is_none_or(|touched| touched.elapsed() >= TOUCH_INTERVAL) {
            // The events are in the history, and that is what was asked for. `updated` is a copy of their time; it is
            // tried again.
            drop(self.settle(state, TOUCH_WAIT));
        }
    }

    /// Brings the metadata up to date with what was appended.
    ///
    /// # Errors
    /// As [`Session::update_meta`].
    pub(super) fn settle(&self, state: &mut State, wait: Duration) -> Result<()> {
        if !state.is_stale {
            return Ok(());
        }
        state.touched = Some(Instant::now());
        let now = self.clock.utc();
        let price = match state.has_usage {
            true => Priced::update(&mut state.priced, &self.paths, self.options.limits)?,
            false => None,
        };
        self.change_meta_within(wait, |meta| {
            meta.updated = meta.updated.max(Some(now));
            if let Some(price) = price {
                count_cost(meta, price);
            }
            if state.has_begun {
                mark_header(meta);
            }
            Ok(())
        })?;
        state.is_stale = false;
        state.has_begun = false;
        state.has_usage = false;
        Ok(())
    }

    /// Closes the session: writes what is left to write, as dropping does, and says whether that worked.
    ///
    /// On disk when it returns: `updated` and the cost in the metadata, if something was appended since they were last
    /// written. Events that wait for a history to begin are not written: see [`Session::append`].
    ///
    /// # Errors
    /// As [`Session::update_meta`]. Every append that succeeded stands.
    pub fn close(self) -> Result<()> {
        self.settle(&mut self.state(), CLOSE_WAIT)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // There is nobody to tell, and the history says it all.
        drop(self.settle(&mut self.state(), CLOSE_WAIT));
    }
}
