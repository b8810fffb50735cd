//! Searching all sessions, the newest first, and telling what is found as it comes.
//!
//! [`query`] is what is looked for, [`targets`] says which sessions are searched and in which order, [`threads`] searches
//! several at once and tells what they find one after the other. What of a history matches is judged by
//! [`session_core::search`]. There is no index.

mod query;
mod required;
mod targets;
mod threads;

pub use query::{Case, Form, Query, QueryError, Words};

use crate::{Damage, Result, Store};
use session_core::search::Hit;
use session_core::{Defect, SessionName, Timestamp};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Which sessions are searched, and how much is asked of each.
#[derive(Debug, Clone, Default)]
pub struct SearchOptions {
    /// Only these sessions. `None`: all.
    pub only: Option<Vec<SessionName>>,
    /// Only sessions whose newest event is not older.
    pub since: Option<Timestamp>,
    /// Only sessions that work in this directory, links resolved.
    pub workspace: Option<PathBuf>,
    /// Whether one hit of a session is enough.
    pub hits: HitsOfASession,
    /// Whether it is found out which hits are still part of the conversation.
    pub live: Liveness,
}

/// How many hits of a session are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HitsOfASession {
    /// Every one.
    #[default]
    All,
    /// The first: what follows in its history is not searched.
    First,
}

/// Whether it is found out which hits are still part of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Liveness {
    /// Yes: a history with a hit is replayed.
    #[default]
    Told,
    /// No: it is `None` for every hit.
    Unknown,
}

/// What a search comes upon.
#[derive(Debug)]
#[non_exhaustive]
pub enum Found<'a> {
    /// A text with a match.
    #[non_exhaustive]
    Hit {
        /// The session, as a list names it.
        session: &'a str,
        /// The text.
        hit: Hit,
        /// Whether the event's message is part of the conversation, or was rolled back. `None` where the event is no
        /// message, and where a damaged line leaves it in doubt.
        live: Option<bool>,
    },
    /// How far the search has come.
    #[non_exhaustive]
    Progress {
        /// Sessions that were searched to their ends.
        sessions: u64,
        /// Bytes that were looked through.
        bytes: u64,
    },
}

/// What a search covered.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Searched {
    /// Sessions that were searched.
    pub sessions: u64,
    /// Bytes of histories that were looked through.
    pub bytes: u64,
    /// What was not, in the order of the sessions.
    pub skipped: Vec<Unsearched>,
    /// Whether the caller ended it before all were searched.
    pub stopped: bool,
}

/// A session, or lines of one, that could not be searched.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unsearched {
    /// The session, as a list names it.
    pub session: String,
    /// Why. For lines: those that may have held a match.
    pub damage: Damage,
    /// The first of the lines.
    pub first: Option<Defect>,
}

impl Store {
    /// Searches histories, and flat files of sessions from before they were directories: those of the newest sessions
    /// first, each from its start to its end. What a rollback took back is searched, too.
    ///
    /// `told` is given hits as they are found, in that order, and progress at least once a megabyte; when it says
    /// [`ControlFlow::Break`], the search ends. Several sessions are searched at the same time, by threads that have ended
    /// when this returns; a few sessions behind the last one that was told of may have been opened.
    ///
    /// Nothing is created, locked or written but the cache of the lists. Whatever is wrong with a session is part of the
    /// answer, and keeps no other from being searched.
    ///
    /// # Errors
    /// As [`Store::list`]; [`crate::StoreError::NotFound`] for a session of `only` that does not exist;
    /// [`crate::StoreError::Threads`].
    pub fn search(
        &self,
        query: &Query,
        options: &SearchOptions,
        told: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
    ) -> Result<Searched> {
        let targets = targets::targets(self, options)?;
        threads::search(self, query, options, &targets, told)
    }
}
