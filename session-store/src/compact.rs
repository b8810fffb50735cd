//! Compaction: a session that goes on with another one, from a summary of it.
//!
//! The successor is built whole and gets its name; then, while nobody of ours can append to the source, what was said there
//! meanwhile is appended to the successor, and the source names it, in one step: from then on nothing is appended to the
//! source. Who dies before that leaves a session that says that it was made for it and how far its summary goes, and that
//! nobody goes on in: repeating the compaction takes it.

mod carry;

use crate::chain::Member;
use crate::history::hold_or_create;
use crate::processes::refuse_turn;
use crate::staging::{self, Staged};
use crate::{HistoryView, LockGuard, Result, Session, SessionPaths, Store, StoreError, meta, spill};
use session_core::checkpoint::Checkpointer;
use session_core::{Event, Extension, Item, Limits, Message, Meta, SessionHeader, SessionName, Successor};
use std::collections::BTreeSet;

/// How a session is compacted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compaction {
    /// The successor's name; one is generated where it is left out.
    pub name: Option<SessionName>,
    /// What is to be known of the conversation: the first message of the successor, as one of the user's.
    pub summary: String,
}

/// A compaction that was done.
#[derive(Debug)]
#[must_use = "it tells what went wrong after the source had named its successor"]
#[non_exhaustive]
pub struct Compacted {
    /// The successor's name.
    pub name: SessionName,
    /// Messages that came while it was made, and stand behind the summary. 0 where only the history had to be told of it.
    pub carried: u64,
    /// How many checkpoints the successor shares.
    pub checkpoints: u64,
    /// What went wrong after the source had named its successor. What waits in the source's inbox is taken by the
    /// successor's next drain in any case.
    pub error: Option<StoreError>,
}

impl Store {
    /// Makes a session that goes on with another one, from a summary. It has the source's title, workspace and model, and
    /// through `checkpoints`, which are the source's, its checkpoints; spilled outputs that the summary mentions are
    /// copied, and what waits in the source's inbox is moved to it.
    /// Background processes stay with the source; who looks at the successor sees them.
    ///
    /// It is done under the source's lock, between two turns.
    ///
    /// On disk when it returns: the successor, with what was said in the source meanwhile, and last of all the link to it in
    /// the source's metadata and history, synced as the durability says. A source without a history has an empty one. It
    /// takes no event any more: who appends at that moment waits, and is refused. After an error the source has no
    /// successor, or the error is part of the answer. Repeating one that was interrupted, with the same name and summary,
    /// ends it.
    ///
    /// # Errors
    /// [`StoreError::LiveTurn`]; [`StoreError::Succeeded`] where another goes on with it already; [`StoreError::Exists`]
    /// where the name is taken, but not by what an earlier try has left; [`StoreError::NotLocked`] and
    /// [`StoreError::LockLost`]; [`StoreError::Checkpoint`]; the step that failed.
    pub fn compact(
        &self,
        source: &Session,
        lock: &LockGuard,
        compaction: &Compaction,
        checkpoints: Option<&dyn Checkpointer>,
    ) -> Result<Compacted> {
        let mut redacted = compaction.clone();
        self.redaction().text(&mut redacted.summary, &source.paths().history())?;
        let compaction = &redacted;
        match source.begin_change(lock) {
            // Who died after the link, before the history told of it.
            Err(StoreError::Succeeded { successor, .. })
                if compaction.name.as_ref().is_some_and(|name| name.as_str() == successor)
                    && !source.tells_successor(&successor)? =>
            {
                let (successor, name) = self.member(SessionName::new(successor)?)?;
                return Ok(finish(source, &successor, name, (0, 0)));
            }
            begun => begun?,
        }
        refuse_turn(source.paths(), source.name())?;
        let mut shared = 0;
        let (name, upto) = match self.left_over(source, compaction)? {
            Some(left) => left,
            None => {
                // What is in the source from here on was not seen by who made the summary.
                let upto = source.view()?.len_bytes();
                let name = staging::build(self, compaction.name.as_ref(), |staged| {
                    shared = fill(self, source, staged, (&compaction.summary, upto), checkpoints)?;
                    Ok::<_, StoreError>(())
                })?;
                (name, upto)
            }
        };
        let (successor, name) = self.member(name)?;
        let carried = source.go_on_in(&name, || carry::carry(source, upto, &successor))?;
        Ok(finish(source, &successor, name, (carried, shared)))
    }

    fn member(&self, name: SessionName) -> Result<(Session, SessionName)> {
        let member = Member { paths: self.existing(&name)?, name: name.clone(), dangling: None };
        Ok((self.session(member)?, name))
    }

    /// What an earlier try under this name has left, if it begins with the same summary, and how far that goes.
    fn left_over(&self, source: &Session, compaction: &Compaction) -> Result<Option<(SessionName, u64)>> {
        let Some(name) = compaction.name.as_ref().filter(|name| self.has_history(name)) else { return Ok(None) };
        let (paths, limits) = (self.paths(name)?, self.options().limits);
        let Some(upto) = header_for(&paths, source.name(), limits)?.and_then(|header| header.compacts_bytes) else {
            return Ok(None);
        };
        let left = HistoryView::open(&paths, limits)?.load()?.messages;
        let is_same = left.first() == Some(&Message::user(&compaction.summary));
        Ok(is_same.then(|| (name.clone(), upto)))
    }
}

/// The session is linked: what is left is told, and what waits goes along.
fn finish(source: &Session, successor: &Session, name: SessionName, (carried, checkpoints): (u64, u64)) -> Compacted {
    let told = source.tell_successor(&name);
    let adopted = successor.adopt(&successor.inbox());
    Compacted { name, carried, checkpoints, error: told.err().or(adopted.err()) }
}

/// Whether the session at `paths` was made to go on with `parent`: its first line says so.
pub(crate) fn was_made_for(paths: &SessionPaths, parent: &str, limits: Limits) -> Result<bool> {
    Ok(header_for(paths, parent, limits)?.is_some())
}

/// The first line of a session that was made to go on with `parent`.
fn header_for(paths: &SessionPaths, parent: &str, limits: Limits) -> Result<Option<SessionHeader>> {
    let head = HistoryView::open(paths, limits)?.head()?;
    Ok(match head.and_then(|head| head.event.extension()) {
        Some(Extension::Session(header)) if header.compacts && header.parent == parent => Some(header),
        _ => None,
    })
}

/// Fills a successor, and says how many checkpoints it shares.
fn fill(
    store: &Store,
    source: &Session,
    staged: &Staged<'_>,
    (summary, upto): (&str, u64),
    checkpoints: Option<&dyn Checkpointer>,
) -> Result<u64> {
    let parent = source.meta()?.meta;
    let now = store.clock().utc();
    let mut meta = Meta {
        name: staged.name().to_string(),
        created: Some(now),
        updated: Some(now),
        workspace: parent.workspace.clone(),
        model: source.last_model()?.unwrap_or_else(|| parent.model.clone()),
        first_prompt: parent.first_prompt.clone(),
        summary: summary.to_owned(),
        parent: source.name().to_owned(),
        extra: parent.extra.clone(),
        ..Meta::default()
    };
    if !parent.title.is_empty() {
        let by = meta::title_source(&parent);
        meta::fill_title(&mut meta, &parent.title, by);
    }
    meta::mark_header(&mut meta);
    let mut history = staged.history()?;
    let header = SessionHeader {
        name: meta.name.clone(),
        compacts: true,
        compacts_bytes: Some(upto),
        ..SessionHeader::default()
    };
    for event in staging::first_lines(header, &meta, now) {
        history.push(&event)?;
    }
    // What the summary points to must be there, under the path that it names.
    let mut mentioned = BTreeSet::new();
    let line = history.push(&Event::message(now, Message::user(summary)))?;
    spill::mentions(line, &spill::names(source.paths())?, &mut mentioned);
    history.finish()?;
    let mentioned: Vec<String> = mentioned.into_iter().collect();
    spill::copy(source.paths(), staged.paths(), &mentioned, store.options().durability)?;
    let shared = checkpoints.map_or(Ok(0), |own| own.share(&staged.paths().checkpoints(), None));
    let path = source.paths().checkpoints();
    let shared = shared.map_err(|source| StoreError::Checkpoint { path, source })?;
    staged.put_meta(&meta)?;
    Ok(shared)
}

impl Session {
    /// Makes sure that this lock is this session's and held, and that nobody goes on with the session.
    pub(crate) fn begin_change(&self, lock: &LockGuard) -> Result<()> {
        self.verify()?;
        if !lock.held().is_of(self.paths())? {
            return Err(StoreError::NotLocked { name: self.name().to_owned() });
        }
        lock.check()?;
        self.remember(lock);
        self.refuse_succeeded(&mut self.state())
    }

    /// Names the successor in the metadata, which is what counts, once `carry` has completed it with what was said here
    /// meanwhile. Nobody of ours appends from before that until it is done, and who does then sees it.
    ///
    /// The history is told last ([`Session::tell_successor`]): the other way round, who died in between would leave a
    /// history that says that another goes on with it, and a session that still does.
    fn go_on_in<T>(&self, name: &SessionName, carry: impl FnOnce() -> Result<T>) -> Result<T> {
        let _appends = hold_or_create(self.paths())?;
        let carried = carry()?;
        let now = self.now();
        self.held()?.check()?;
        self.change_meta(|meta| {
            name.as_str().clone_into(&mut meta.succeeded_by);
            meta.updated = Some(now);
            Ok(())
        })?;
        Ok(carried)
    }

    /// Whether the history names this successor.
    fn tells_successor(&self, name: &str) -> Result<bool> {
        let view = self.view()?;
        for item in view.backwards()? {
            if let Item::Record(record) = view.told(item)?
                && let Some(Extension::Successor(successor)) = record.event.extension()
            {
                return Ok(successor.name == name);
            }
        }
        // Without a history there is nothing to tell it in.
        Ok(!self.has_history()?)
    }

    /// Appends the event that names the successor, where there is a history to tell it in.
    pub(crate) fn tell_successor(&self, name: &SessionName) -> Result<()> {
        if !self.has_history()? {
            return Ok(());
        }
        let event = Extension::Successor(Successor { name: name.to_string() }).into_event(self.now());
        self.append_closing(&[event])
    }
}
