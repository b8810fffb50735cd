//! Listing and reading sessions without opening them: nothing is created, migrated, locked or written.
//!
//! [`base`] finds what is or should be a session, [`entry`] says all that a list says about one, [`reading`] loads one by
//! its name. Whatever is wrong with one session is part of its own entry and never keeps another from being listed.

mod active;
mod base;
mod entry;
mod escape;
mod info;
mod reading;
mod similar;
mod verbs;

pub use active::{ActiveTurn, ActiveTurns};
pub use base::NameFault;
pub use info::{Damage, ListNote, ListSubject, SessionInfo, SessionState};

pub(crate) use base::{Candidate, Node, candidate, candidates};
pub(crate) use entry::times;
pub(crate) use escape::escaped;

use crate::Result;
use crate::flat::Standing;
use chrono::TimeDelta;
use entry::{Times, entry};
use session_core::{Limits, SessionName, Timestamp};
use std::cmp::Reverse;
use std::path::Path;

/// Which sessions a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Empties {
    /// Those with a message, and those that are damaged or running.
    #[default]
    Hide,
    /// All, also directories without a history.
    Show,
}

/// How far another machine's clock may be ahead before its times are doubted.
const AHEAD: TimeDelta = TimeDelta::minutes(5);

/// Every session, newest first.
///
/// # Errors
/// Only what keeps the store's directory itself from being read. A directory that does not exist holds no session.
fn list(base: &Path, empties: Empties, limits: Limits, now: Timestamp) -> Result<Vec<SessionInfo>> {
    let mut sessions = Vec::new();
    for candidate in candidates(base)? {
        let mut info = entry(base, &candidate, limits);
        info.is_ahead = is_ahead(info.updated, now);
        match (info.state, empties) {
            (SessionState::Empty, Empties::Hide) => {}
            (SessionState::Empty | SessionState::Running | SessionState::Idle | SessionState::Damaged, _) => {
                sessions.push(info);
            }
        }
    }
    sessions.sort_by_cached_key(|info| {
        let times = Times { updated: info.updated, modified: info.modified };
        (order(times, now), info.name.clone())
    });
    Ok(sessions)
}

/// The session whose newest event is the newest of all. One without a message is never it, and neither is one that no
/// verb takes.
///
/// # Errors
/// As [`list`].
fn most_recent(base: &Path, limits: Limits, now: Timestamp) -> Result<Option<SessionName>> {
    let mut found = Vec::new();
    for candidate in candidates(base)? {
        let Ok(name) = candidate.session_name() else { continue };
        if !matches!((candidate.directory, candidate.flat), (Some(Node::Real), _) | (None, Some(Node::Real))) {
            continue;
        }
        // What cannot be read is damaged: the list says so, and it is no place to go on.
        let Ok(Standing { history: Some(history), form, .. }) = Standing::of(base, &candidate, limits) else {
            continue;
        };
        if let Ok(times) = times(&history, form) {
            found.push((order(times, now), name, candidate));
        }
    }
    found.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let has_messages = |candidate: &Candidate| entry(base, candidate, limits).messages.is_some_and(|n| n > 0);
    Ok(found.into_iter().find(|(_, _, candidate)| has_messages(candidate)).map(|(_, name, _)| name))
}

/// Whether a time has not come yet, whatever the clocks of two machines may differ by.
pub(crate) fn is_ahead(updated: Option<Timestamp>, now: Timestamp) -> bool {
    updated.is_some_and(|updated| updated > now + AHEAD)
}

/// The place in a list: by the time of the newest event, then by the history's. A time that has not come yet is not
/// believed: such a session stands where its file's time puts it, and not before now.
fn order(times: Times, now: Timestamp) -> impl Ord + use<> {
    let modified = times.modified.map(|modified| modified.min(now));
    let updated = if is_ahead(times.updated, now) { modified } else { times.updated };
    Reverse((updated, modified))
}
