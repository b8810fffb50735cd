//! Searching several sessions at once, and telling what they give one after the other.

use super::targets::Target;
use super::{Found, HitsOfASession, Liveness, Query, SearchOptions, Searched, Unsearched};
use crate::candidate::Node;
use crate::flat::Standing;
use crate::{Damage, HistoryView, Result, Store, StoreError};
use session_core::LiveEvents;
use session_core::search::{Coverage, Hit, Search, Seen};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many hits travel together, at most.
const BATCH: usize = 64;
/// How many batches of a session wait to be told.
const WAITING: usize = 8;
/// How many sessions may be searched before what they give can be told.
const AHEAD: usize = 8;

/// What the search of one session gives.
enum Part {
    Hits(Vec<(Hit, Option<bool>)>),
    Bytes(u64),
    End(std::result::Result<Coverage, Damage>),
}

/// The sessions that nobody has taken yet, and where their takers say so: in order, because taking is exclusive.
struct Queue<'a> {
    rest: std::slice::Iter<'a, Target>,
    taken: SyncSender<(&'a Target, Receiver<Part>)>,
}

pub(super) fn search(
    store: &Store,
    query: &Query,
    options: &SearchOptions,
    targets: &[Target],
    told: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
) -> Result<Searched> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(targets.len());
    let (taken, order) = sync_channel(AHEAD);
    let queue = Mutex::new(Queue { rest: targets.iter(), taken });
    thread::scope(|scope| {
        let (queue, mut searched) = (&queue, Searched::default());
        for started in 0..threads {
            let work = move || work(store, query, options, queue);
            match thread::Builder::new().spawn_scoped(scope, work) {
                Err(source) if started == 0 => return Err(StoreError::Threads { source }),
                // Those that there are do it all.
                Err(_) => break,
                Ok(_) => {}
            }
        }
        // When this loop is left, the receivers are dropped, and that ends the workers.
        for (target, parts) in order.into_iter().take(targets.len()) {
            if tell(target, parts, &mut searched, told).is_break() {
                searched.stopped = true;
                break;
            }
        }
        Ok(searched)
    })
}

/// Tells what one session gives.
fn tell(
    target: &Target,
    parts: Receiver<Part>,
    searched: &mut Searched,
    told: &mut dyn FnMut(Found<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let before = searched.bytes;
    let skipped = |damage, first| Unsearched { session: target.name.clone(), damage, first };
    for part in parts {
        match part {
            Part::Hits(hits) => {
                for (hit, live) in hits {
                    told(Found::Hit { session: &target.name, hit, live })?;
                }
            }
            Part::Bytes(bytes) => {
                searched.bytes += bytes;
                told(Found::Progress { sessions: searched.sessions, bytes: searched.bytes })?;
            }
            Part::End(Ok(coverage)) => {
                searched.sessions += 1;
                searched.bytes = before + coverage.bytes;
                if coverage.unread > 0 {
                    let lines = Damage::Lines { skipped: coverage.unread, uncertain: false };
                    searched.skipped.push(skipped(lines, coverage.first_unread));
                }
            }
            Part::End(Err(damage)) => searched.skipped.push(skipped(damage, None)),
        }
    }
    ControlFlow::Continue(())
}

/// Searches one session after the other, until there is none or nobody listens.
fn work<'a>(store: &Store, query: &Query, options: &SearchOptions, queue: &Mutex<Queue<'a>>) {
    let mut search = Search::new(query, query.scope().clone(), store.options().limits);
    loop {
        let (target, parts) = {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(target) = queue.rest.next() else { return };
            let (parts, given) = sync_channel(WAITING);
            if queue.taken.send((target, given)).is_err() {
                return;
            }
            (target, parts)
        };
        let end = one(store, options, target, &mut search, &parts);
        if end.is_some_and(|end| parts.send(Part::End(end)).is_err()) {
            return;
        }
    }
}

/// Searches one session. `None` where it has no history, and where nobody listens any more.
fn one(
    store: &Store,
    options: &SearchOptions,
    target: &Target,
    search: &mut Search<&Query>,
    parts: &SyncSender<Part>,
) -> Option<std::result::Result<Coverage, Damage>> {
    let candidate = &target.candidate;
    match (candidate.directory, candidate.flat) {
        (Some(Node::Link), _) | (None, Some(Node::Link)) => return Some(Err(Damage::Link)),
        (None, Some(Node::Odd)) => return Some(Err(Damage::NotAFile)),
        _ => {}
    }
    let history = match Standing::of(store.base_dir(), candidate, store.options().limits) {
        Ok(Standing { history, .. }) => history?,
        Err(error) => return Some(Err(Damage::Unreadable(error))),
    };
    let mut telling = Telling { history: &history, options, parts, batch: Vec::new(), live: None };
    let read = search.read(history.reader(), &mut |seen| telling.seen(seen));
    if !telling.batch.is_empty() && telling.flush().is_break() {
        return None;
    }
    Some(history.told(read).map_err(Damage::Unreadable))
}

/// Passes on what the search of one session comes upon.
struct Telling<'a> {
    history: &'a HistoryView,
    options: &'a SearchOptions,
    parts: &'a SyncSender<Part>,
    batch: Vec<(Hit, Option<bool>)>,
    /// Which events are live, as soon as somebody must know.
    live: Option<LiveEvents>,
}

impl Telling<'_> {
    fn seen(&mut self, seen: Seen) -> ControlFlow<()> {
        match seen {
            Seen::Hit(hit) => {
                let live = self.live(hit.event);
                self.batch.push((hit, live));
                match self.options.hits {
                    HitsOfASession::First => ControlFlow::Break(()),
                    HitsOfASession::All if self.batch.len() == BATCH => self.flush(),
                    HitsOfASession::All => ControlFlow::Continue(()),
                }
            }
            Seen::Bytes(bytes) => {
                self.flush()?;
                self.send(Part::Bytes(bytes))
            }
        }
    }

    /// Whether an event is live. The history is replayed for the first one that is asked for; where that fails, the search
    /// itself will, too.
    fn live(&mut self, event: u64) -> Option<bool> {
        match self.options.live {
            Liveness::Unknown => return None,
            Liveness::Told => {}
        }
        let live = self.live.get_or_insert_with(|| self.history.live_events().unwrap_or_default());
        let number = usize::try_from(event - 1).ok().filter(|_| !live.uncertain)?;
        live.events.get(number).copied().flatten()
    }

    fn flush(&mut self) -> ControlFlow<()> {
        if self.batch.is_empty() {
            return ControlFlow::Continue(());
        }
        let batch = std::mem::take(&mut self.batch);
        self.send(Part::Hits(batch))
    }

    fn send(&mut self, part: Part) -> ControlFlow<()> {
        if self.parts.send(part).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}
