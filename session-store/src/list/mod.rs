//! Listing and reading sessions without opening them: nothing is created, migrated, locked or written.
//!
//! [`crate::candidate`] finds what is or should be a session; of these, [`entry`] says all that a list says about one, [`reading`] loads one by
//! its name, [`cache`] keeps what is found for the next list. Whatever is wrong with one session is part of its own entry
//! and never keeps another from being listed.

mod active;
mod cache;
mod entry;
mod info;
mod reading;
mod similar;
mod verbs;

pub use active::{ActiveTurn, ActiveTurns};
pub use info::{Damage, ListNote, ListSubject, SessionInfo, SessionState};

pub(crate) use entry::times;

use crate::Result;
use crate::candidate::{Candidate, candidates};
use cache::{Cache, Kept, News};
use chrono::TimeDelta;
use entry::{entry, glance};
use session_core::{Limits, SessionName, Timestamp};
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Which sessions a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Empties {
    /// Those with a message, and those that are damaged or running.
    #[default]
    Hide,
    /// All, also directories without a history.
    Show,
}

/// So many sessions are worth a thread.
const MIN_SHARE: usize = 16;

/// How far another machine's clock may be ahead before its times are doubted.
const AHEAD: TimeDelta = TimeDelta::minutes(5);

/// Every session, newest first. The sessions are looked at by several threads, which have ended when it returns.
///
/// # Errors
/// Only what keeps the store's directory itself from being read. A directory that does not exist holds no session.
fn list(view: &View<'_>, empties: Empties) -> Result<Vec<SessionInfo>> {
    let candidates = candidates(view.base)?;
    let cache = view.cache();
    let looked = in_parallel(&candidates, |candidate| entry(view.base, candidate, view.limits, &cache));
    let (mut sessions, mut known) = (Vec::new(), Vec::new());
    for (mut info, entry) in looked {
        known.push((info.name.clone(), entry));
        info.is_ahead = is_ahead(info.updated, view.now);
        if is_shown(&info, empties) {
            sessions.push(info);
        }
    }
    cache.keep(known, Kept::All);
    sessions.sort_by_cached_key(|info| (order(info.updated, info.modified, view.now), info.name.clone()));
    Ok(sessions)
}

/// The first of [`list`] that are wanted. Of the others only the end of the history is looked at.
///
/// # Errors
/// As [`list`].
fn newest(
    view: &View<'_>,
    empties: Empties,
    limit: usize,
    mut wanted: impl FnMut(&SessionInfo) -> bool,
) -> Result<Vec<SessionInfo>> {
    let cache = view.cache();
    let (mut sessions, mut kept) = (Vec::new(), Vec::new());
    for Placed { name, candidate, info, known, .. } in placed(view, &cache, candidates(view.base)?) {
        if sessions.len() == limit {
            kept.push((name, known));
            continue;
        }
        let (mut info, known) = match info {
            Some(info) => (info, known),
            None => entry(view.base, &candidate, view.limits, &cache),
        };
        kept.push((name, known));
        info.is_ahead = is_ahead(info.updated, view.now);
        if is_shown(&info, empties) && wanted(&info) {
            sessions.push(info);
        }
    }
    cache.keep(kept, Kept::All);
    Ok(sessions)
}

/// A session in the order of a list, looked at only so far as the order asks for.
#[derive(Debug)]
pub(crate) struct Placed {
    /// As the list names it.
    pub(crate) name: String,
    pub(crate) candidate: Candidate,
    /// The time of its newest event; without one, when its history was last written.
    pub(crate) updated: Option<Timestamp>,
    /// All about it, where less would not do.
    info: Option<SessionInfo>,
    known: News,
}

/// Sessions in the order of a list. Of most only the end of the history is looked at, and nothing where the cache knows it.
fn placed(view: &View<'_>, cache: &Cache, candidates: Vec<Candidate>) -> Vec<Placed> {
    let looked = in_parallel(&candidates, |candidate| match glance(view.base, candidate, view.limits, cache) {
        Some((times, known)) => ((times.updated(), times.modified), None, known),
        None => {
            let (info, known) = entry(view.base, candidate, view.limits, cache);
            ((info.updated, info.modified), Some(info), known)
        }
    });
    let mut placed = Vec::with_capacity(candidates.len());
    for (candidate, ((updated, modified), info, known)) in candidates.into_iter().zip(looked) {
        let place = order(updated, modified, view.now);
        placed.push((place, Placed { name: candidate.shown(), candidate, updated, info, known }));
    }
    placed.sort_by(|(a, one), (b, other)| (a, &one.name).cmp(&(b, &other.name)));
    placed.into_iter().map(|(_, placed)| placed).collect()
}

/// All sessions, or some, in the order of a list.
///
/// # Errors
/// As [`list`].
fn in_order(view: &View<'_>, some: Option<Vec<Candidate>>) -> Result<Vec<Placed>> {
    let cache = view.cache();
    let kept = if some.is_none() { Kept::All } else { Kept::Some };
    let placed = placed(view, &cache, some.map_or_else(|| candidates(view.base), Ok)?);
    cache.keep(placed.iter().map(|placed| (placed.name.clone(), placed.known.clone())).collect(), kept);
    Ok(placed)
}

fn is_shown(info: &SessionInfo, empties: Empties) -> bool {
    match (info.state, empties) {
        (SessionState::Empty, Empties::Hide) => false,
        (SessionState::Empty | SessionState::Running | SessionState::Idle | SessionState::Damaged, _) => true,
    }
}

/// What is looked at, and how.
#[derive(Debug, Clone, Copy)]
struct View<'a> {
    base: &'a Path,
    limits: Limits,
    now: Timestamp,
    cache_dir: Option<&'a Path>,
}

impl View<'_> {
    fn cache(&self) -> Cache {
        Cache::load(self.cache_dir, self.base, self.limits)
    }
}

/// The session whose newest event is the newest of all. One without a message is never it, and neither is one that no
/// verb takes.
///
/// # Errors
/// As [`list`].
fn most_recent(view: &View<'_>) -> Result<Option<SessionName>> {
    // What cannot be read is damaged: the list says so, and it is no place to go on.
    let is_usable = |info: &SessionInfo| {
        let is_broken = |damage: &Damage| match damage {
            Damage::Name(_) | Damage::Link | Damage::NotAFile | Damage::Unreadable(_) => true,
            Damage::Meta(_) | Damage::Lines { .. } => false,
        };
        info.messages.is_some_and(|messages| messages > 0) && !info.damage.iter().any(is_broken)
    };
    let found = newest(view, Empties::Hide, 1, is_usable)?;
    Ok(found.first().and_then(|info| SessionName::new(&info.name).ok()))
}

/// Whether a time has not come yet, whatever the clocks of two machines may differ by.
pub(crate) fn is_ahead(updated: Option<Timestamp>, now: Timestamp) -> bool {
    updated.is_some_and(|updated| updated > now + AHEAD)
}

/// The place in a list: by the time of the newest event, then by the history's. A time that has not come yet is not
/// believed: such a session stands where its file's time puts it, and not before now.
fn order(updated: Option<Timestamp>, modified: Option<Timestamp>, now: Timestamp) -> impl Ord + use<> {
    let modified = modified.map(|modified| modified.min(now));
    let updated = if is_ahead(updated, now) { modified } else { updated };
    Reverse((updated, modified))
}

/// What `act` gives for each item, in their order. The threads have ended when it returns.
fn in_parallel<T: Sync, U: Send>(items: &[T], act: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(items.len().div_ceil(MIN_SHARE));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match items.get(at) {
                Some(item) => done.push((at, act(item))),
                None => return done,
            }
        }
    };
    let mut done = thread::scope(|scope| {
        // Where the system gives no more threads, those that there are do it all.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, given)| given).collect()
}
