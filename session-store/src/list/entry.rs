//! One session of a list.

use super::base::{Candidate, Node};
use super::{Damage, SessionInfo, SessionState};
use crate::flat::{FlatFile, SessionForm, Standing};
use crate::{HistoryView, MetaReading, Result, SessionPaths, StoreError, inbox, meta};
use session_core::{Count, Item, Limits, Meta, Timestamp};
use session_proc::TurnMarker;
use std::path::Path;

/// How many events at the end of a history are looked at for a time. Every event that anybody writes has one.
const TIMED_WITHIN: usize = 64;

/// All that a list says about one session. Whatever is wrong with it is part of the answer.
///
/// This is the one place that reads a session for a list, so a cache would stand here.
pub(super) fn entry(base: &Path, candidate: &Candidate, limits: Limits) -> SessionInfo {
    let mut info = blank(base, candidate);
    if let Err(fault) = candidate.session_name() {
        info.damage.push(Damage::Name(fault));
    }
    match (candidate.directory, candidate.flat) {
        (Some(Node::Link), _) | (None, Some(Node::Link)) => info.damage.push(Damage::Link),
        (None, Some(Node::Odd)) => info.damage.push(Damage::NotAFile),
        _ => fill(&mut info, base, candidate, limits),
    }
    info.state = state(&info);
    info
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

fn fill(info: &mut SessionInfo, base: &Path, candidate: &Candidate, limits: Limits) {
    let read = Standing::of(base, candidate, limits).and_then(|standing| {
        info.form = standing.form;
        info.flat = standing.flat;
        if let Some(history) = &standing.history {
            info.path = match standing.form {
                SessionForm::Directory => base.join(&candidate.name),
                SessionForm::Flat => history.path().to_owned(),
            };
            return conversation(info, history);
        }
        info.messages = Some(0);
        Ok(())
    });
    note(info, read);
    if let Some(paths) = candidate.paths(base) {
        directory(info, &paths, limits);
    }
}

/// Adds a failure to what is wrong with the session.
fn note(info: &mut SessionInfo, read: Result<()>) {
    if let Err(error) = read {
        info.damage.push(Damage::Unreadable(error));
    }
}

fn conversation(info: &mut SessionInfo, history: &HistoryView) -> Result<()> {
    info.bytes = history.len_bytes();
    let Times { updated, modified } = times(history, info.form)?;
    info.updated = updated;
    info.modified = modified;
    let Count { messages, skipped, repaired, uncertain, .. } = history.count()?;
    info.messages = Some(messages);
    info.defects = skipped + repaired;
    if skipped > 0 || uncertain {
        info.damage.push(Damage::Lines { skipped, uncertain });
    }
    Ok(())
}

/// What the order of a list goes by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) updated: Option<Timestamp>,
    pub(crate) modified: Option<Timestamp>,
}

/// The times of a session, from the end of its history alone. The messages of a flat file have none: migrating gives
/// them the file's.
pub(crate) fn times(history: &HistoryView, form: SessionForm) -> Result<Times> {
    let modified = history.modified();
    let newest = match form {
        SessionForm::Directory => newest(history)?,
        SessionForm::Flat => None,
    };
    Ok(Times { updated: newest.or(modified), modified })
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

/// What is beside the history.
fn directory(info: &mut SessionInfo, paths: &SessionPaths, limits: Limits) {
    let read = meta::read(paths, &info.name, limits).map(|MetaReading { meta, damage, .. }| {
        info.damage.extend(damage.map(Damage::Meta));
        metadata(info, meta);
    });
    note(info, read);
    let read = TurnMarker::read(&paths.proc()).map(|turn| info.pid = turn.map(|turn| turn.pid));
    note(info, read.map_err(StoreError::from));
    let read = inbox::count(&paths.inbox()).map(|pending| info.inbox_pending = pending);
    note(info, read);
}

fn metadata(info: &mut SessionInfo, meta: Meta) {
    let text = |text: String| Some(text).filter(|text| !text.is_empty());
    info.title = text(meta.title);
    info.workspace = text(meta.workspace);
    info.model = text(meta.model);
    info.parent = text(meta.parent);
    info.succeeded_by = text(meta.succeeded_by);
    info.created = meta.created;
    info.updated = info.updated.or(meta.updated);
    info.cost = Some(meta.cost).filter(|cost| *cost != 0.0);
}
