//! One session of a list.

use super::cache::{Cache, Conversed, Counting, Found, Known, KnownMeta, News, Quiet};
use super::{Damage, SessionInfo, SessionState};
use crate::candidate::{Candidate, Node};
use crate::flat::{FlatFile, SessionForm, Standing};
use crate::{HistoryView, Result, SessionPaths, inbox, meta, workspace};
use session_core::{Count, Item, Limits, Meta, Timestamp};
use session_proc::TurnMarker;
use std::path::Path;

/// How many events at the end of a history are looked at for a time. Every event that anybody writes has one.
const TIMED_WITHIN: usize = 64;

/// All that a list says about one session, and what of it the next list may believe. Whatever is wrong with the session
/// is part of the answer.
pub(super) fn entry(base: &Path, candidate: &Candidate, limits: Limits, cache: &Cache) -> (SessionInfo, News) {
    let (mut info, mut known) = (blank(base, candidate), News::NONE);
    if let Err(fault) = candidate.session_name() {
        info.damage.push(Damage::Name(fault));
    }
    match (candidate.directory, candidate.flat) {
        (Some(Node::Link), _) | (None, Some(Node::Link)) => info.damage.push(Damage::Link),
        (None, Some(Node::Odd)) => info.damage.push(Damage::NotAFile),
        _ => known = fill(&mut info, base, candidate, limits, cache),
    }
    info.state = state(&info);
    (info, known)
}

fn blank(base: &Path, candidate: &Candidate) -> SessionInfo {
    let form = if candidate.directory.is_some() { SessionForm::Directory } else { SessionForm::Flat };
    SessionInfo {
        name: candidate.shown(),
        path: base.join(candidate.file_name()),
        form,
        flat: FlatFile::Absent,
        title: None,
        created: None,
        updated: None,
        modified: None,
        workspace: None,
        workspace_id: None,
        model: None,
        parent: None,
        succeeded_by: None,
        state: SessionState::Empty,
        pid: None,
        messages: None,
        bytes: 0,
        cost: None,
        inbox_pending: 0,
        defects: 0,
        damage: Vec::new(),
        is_ahead: false,
    }
}

fn state(info: &SessionInfo) -> SessionState {
    let has_no_name = info.damage.iter().any(|damage| matches!(damage, Damage::Name(_)));
    match info.messages {
        _ if has_no_name => SessionState::Damaged,
        _ if info.pid.is_some() => SessionState::Running,
        _ if !info.damage.is_empty() => SessionState::Damaged,
        None | Some(0) => SessionState::Empty,
        Some(_) => SessionState::Idle,
    }
}

fn fill(info: &mut SessionInfo, base: &Path, candidate: &Candidate, limits: Limits, cache: &Cache) -> News {
    let mut known = News::NONE;
    match history(info, base, candidate, limits, cache) {
        Ok(history) => known.history = history,
        Err(error) => info.damage.push(Damage::Unreadable(error)),
    }
    if let Some(paths) = candidate.paths(base) {
        let stands = known.history == Found::Same;
        known.meta = described(info, candidate, &paths, limits, cache, stands);
        known.quiet = visited(info, candidate, &paths, cache);
    }
    known
}

fn history(
    info: &mut SessionInfo,
    base: &Path,
    candidate: &Candidate,
    limits: Limits,
    cache: &Cache,
) -> Result<Found<Known>> {
    // A flat file beside the directory asks for a look at both.
    let before = cache.entry(&info.name).and_then(|known| known.history.as_ref()).filter(|_| candidate.is_plain());
    if let Some(known) = before
        && known.is_counted()
        && let Some(conversed) = known.believed(cache, &candidate.name)
    {
        tell(info, conversed);
        return Ok(Found::Same);
    }
    let standing = Standing::of(base, candidate, limits)?;
    info.form = standing.form;
    info.flat = standing.flat;
    let Some(history) = &standing.history else {
        info.messages = Some(0);
        return Ok(Found::New(None));
    };
    info.path = match standing.form {
        SessionForm::Directory => base.join(&candidate.name),
        SessionForm::Flat => history.path().to_owned(),
    };
    info.bytes = history.len_bytes();
    let Times { newest, modified } = times(history, standing.form)?;
    (info.updated, info.modified) = (newest.or(modified), modified);
    let known =
        if candidate.is_plain() { Known::read(history, before, cache.begun(), newest, Counting::Whole)? } else { None };
    tell(
        info,
        match &known {
            Some(known) => known.says(),
            None => Conversed { bytes: info.bytes, newest, modified, count: Some(history.count()?) },
        },
    );
    Ok(Found::New(known))
}

fn tell(info: &mut SessionInfo, conversed: Conversed) {
    let Conversed { bytes, newest, modified, count } = conversed;
    (info.bytes, info.updated, info.modified) = (bytes, newest.or(modified), modified);
    let Some(Count { messages, skipped, repaired, uncertain, .. }) = count else { return };
    info.messages = Some(messages);
    info.defects = skipped + repaired;
    if skipped > 0 || uncertain {
        info.damage.push(Damage::Lines { skipped, uncertain });
    }
}

/// What the order of a list goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// The time of the newest event.
    pub(crate) newest: Option<Timestamp>,
    /// When the history was last written.
    pub(crate) modified: Option<Timestamp>,
}

impl Times {
    /// When the session was last used, as far as it can be known.
    pub(crate) fn updated(&self) -> Option<Timestamp> {
        self.newest.or(self.modified)
    }
}

/// The times of a session, from the end of its history alone. The messages of a flat file have none: migrating gives
/// them the file's.
pub(crate) fn times(history: &HistoryView, form: SessionForm) -> Result<Times> {
    let newest = match form {
        SessionForm::Directory => newest(history)?,
        SessionForm::Flat => None,
    };
    Ok(Times { newest, modified: history.modified() })
}

/// The times of a session that has a history, and what the next list may believe. `None` where it has none, or where
/// something is wrong with it: then [`entry`] knows more.
pub(super) fn glance(base: &Path, candidate: &Candidate, limits: Limits, cache: &Cache) -> Option<(Times, News)> {
    let name = candidate.session_name().ok()?;
    let before = cache.entry(name.as_str());
    if let Some(before) = before
        && let Some(known) = &before.history
        && candidate.is_plain()
    {
        if let Some(Conversed { newest, modified, .. }) = known.believed(cache, &candidate.name) {
            return Some((Times { newest, modified }, News::SAME));
        }
        // A count that can go on from where it ended is cheap, and would be lost.
        if known.is_counted() {
            return None;
        }
    }
    if !matches!((candidate.directory, candidate.flat), (Some(Node::Real), _) | (None, Some(Node::Real))) {
        return None;
    }
    let Standing { history, form, .. } = Standing::of(base, candidate, limits).ok()?;
    let history = history?;
    let times = times(&history, form).ok()?;
    let known = if candidate.is_plain() {
        Known::read(&history, None, cache.begun(), times.newest, Counting::Later).ok().flatten()
    } else {
        None
    };
    Some((times, News { history: Found::New(known), ..News::SAME }))
}

fn newest(history: &HistoryView) -> Result<Option<Timestamp>> {
    for item in history.backwards()?.take(TIMED_WITHIN) {
        if let Item::Record(record) = history.told(item)?
            && let Some(ts) = record.event.ts
        {
            return Ok(Some(ts.to_utc().fixed_offset()));
        }
    }
    Ok(None)
}

/// The metadata, and what of it the next list may believe.
fn described(
    info: &mut SessionInfo,
    candidate: &Candidate,
    paths: &SessionPaths,
    limits: Limits,
    cache: &Cache,
    history_stands: bool,
) -> Found<KnownMeta> {
    let looked = KnownMeta::look(cache, &candidate.name);
    let before = cache.entry(&info.name).and_then(|known| known.meta.as_ref());
    let believed = before.zip(looked.as_ref()).and_then(|(before, now)| before.believed(now, history_stands));
    match believed {
        Some(meta) => {
            metadata(info, meta);
            Found::Same
        }
        None => match meta::read(paths, &info.name, limits) {
            Ok(reading) => {
                let known = looked.and_then(|looked| looked.with(&reading));
                info.damage.extend(reading.damage.map(Damage::Meta));
                metadata(info, reading.meta);
                Found::New(known)
            }
            Err(error) => {
                info.damage.push(Damage::Unreadable(error));
                Found::New(None)
            }
        },
    }
}

/// Whether a turn runs and what waits for it, and what of it the next list may believe.
fn visited(info: &mut SessionInfo, candidate: &Candidate, paths: &SessionPaths, cache: &Cache) -> Found<Quiet> {
    let looked = Quiet::look(cache, &candidate.name);
    let before = cache.entry(&info.name).and_then(|known| known.quiet.as_ref());
    if let Some(before) = before
        && let Some(pending) = looked.as_ref().and_then(|now| before.believed(now))
    {
        info.inbox_pending = pending;
        return Found::Same;
    }
    let turn = TurnMarker::stands(&paths.proc()).and_then(|stands| Ok((stands, TurnMarker::read(&paths.proc())?)));
    let is_free = match turn {
        Ok((stands, turn)) => {
            info.pid = turn.map(|turn| turn.pid);
            !stands
        }
        Err(error) => {
            info.damage.push(Damage::Unreadable(error.into()));
            false
        }
    };
    match inbox::count(paths) {
        Ok(pending) => info.inbox_pending = pending,
        Err(error) => {
            info.damage.push(Damage::Unreadable(error));
            return Found::New(None);
        }
    }
    Found::New(looked.filter(|_| is_free).map(|looked| looked.with(info.inbox_pending)))
}

fn metadata(info: &mut SessionInfo, meta: Meta) {
    let text = |text: String| Some(text).filter(|text| !text.is_empty());
    info.workspace_id = workspace::id_of(&meta);
    info.title = text(meta.title);
    info.workspace = text(meta.workspace);
    info.model = text(meta.model);
    info.parent = text(meta.parent);
    info.succeeded_by = text(meta.succeeded_by);
    info.created = meta.created;
    info.updated = info.updated.or(meta.updated);
    info.cost = Some(meta.cost).filter(|cost| *cost != 0.0);
}
