//! Compaction: a session that goes on with another one, from a summary of it.
//!
//! The successor is built whole and gets its name; then the source names it, in one step, and from then on nothing is
//! appended to the source. Who dies in between leaves a session that says that it was made for that, and that nobody goes
//! on in: repeating the compaction takes it.

use crate::chain::Member;
use crate::processes::refuse_turn;
use crate::staging::{self, Staged};
use crate::{HistoryView, LockGuard, Result, Session, SessionPaths, Store, StoreError, meta, spill};
use session_core::checkpoint::Checkpointer;
use session_core::{Event, Extension, Item, Message, Meta, Replay, SessionHeader, SessionName, Successor};
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
    /// Messages that came while it was made, and stand behind the summary.
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
    /// On disk when it returns: the successor, and last of all the link to it in the source's metadata and history, synced
    /// as the durability says. The source takes no event any more. After an error it has no successor, or the error is
    /// part of the answer.
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
                let name = SessionName::new(successor)?;
                source.tell_successor(&name)?;
                return self.finish(source, name, source.view()?.len_bytes(), 0);
            }
            begun => begun?,
        }
        refuse_turn(source.paths(), source.name())?;
        // What is in the source from here on was not seen by who made the summary.
        let upto = source.view()?.len_bytes();
        let mut shared = 0;
        let name = match self.left_over(source, compaction)? {
            Some(name) => name,
            None => staging::build(self, compaction.name.as_ref(), |staged| {
                shared = fill(self, source, staged, &compaction.summary, checkpoints)?;
                Ok::<_, StoreError>(())
            })?,
        };
        source.link_successor(&name)?;
        self.finish(source, name, upto, shared)
    }

    /// From here on it is done: what came meanwhile, and what waits, goes along.
    fn finish(&self, source: &Session, name: SessionName, upto: u64, checkpoints: u64) -> Result<Compacted> {
        let mut compacted = Compacted { name: name.clone(), carried: 0, checkpoints, error: None };
        let successor = self.session(Member { paths: self.existing(&name)?, name, dangling: None })?;
        match carry(source, upto, &successor) {
            Ok(carried) => compacted.carried = carried,
            Err(error) => compacted.error = Some(error),
        }
        compacted.error = compacted.error.or(successor.adopt(&successor.inbox()).err());
        Ok(compacted)
    }

    /// What an earlier try under this name has left, if it says the same.
    fn left_over(&self, source: &Session, compaction: &Compaction) -> Result<Option<SessionName>> {
        let Some(name) = &compaction.name else { return Ok(None) };
        let paths = self.paths(name)?;
        if self.has_history(name) && was_made_for(&paths, source.name(), self.options().limits)? {
            let mut left = HistoryView::open(&paths, self.options().limits)?.load()?.messages;
            if left.len() == 1 && left.pop() == Some(Message::user(&compaction.summary)) {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    }
}

/// Whether the session at `paths` was made to go on with `parent`: its first line says so.
pub(crate) fn was_made_for(paths: &SessionPaths, parent: &str, limits: session_core::Limits) -> Result<bool> {
    let head = HistoryView::open(paths, limits)?.head()?;
    Ok(match head.and_then(|head| head.event.extension()) {
        Some(Extension::Session(header)) => header.compacts && header.parent == parent,
        _ => false,
    })
}

/// Fills a successor, and says how many checkpoints it shares.
fn fill(
    store: &Store,
    source: &Session,
    staged: &Staged<'_>,
    summary: &str,
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
    let header = SessionHeader { name: meta.name.clone(), compacts: true, ..SessionHeader::default() };
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

/// Appends to the successor what was said in the source meanwhile: a child of an earlier turn needs no lock for that.
fn carry(source: &Session, upto: u64, successor: &Session) -> Result<u64> {
    let view = source.view()?;
    let mut live = Replay::new();
    for item in view.forwards() {
        let Item::Record(record) = view.told(item)? else { continue };
        if record.place.offset >= upto {
            let event = record.event.clone();
            live.event(&record.event.effect(), || event);
        }
    }
    let events: Vec<Event> = live.into_live().into_iter().map(|event| *event).collect();
    let (known, mut mentioned) = (spill::names(source.paths())?, BTreeSet::new());
    for event in &events {
        let mut line = Vec::new();
        event.encode(&mut line);
        spill::mentions(&line, &known, &mut mentioned);
    }
    let there = spill::names(successor.paths())?;
    let missing: Vec<String> = mentioned.into_iter().filter(|name| !there.contains(name)).collect();
    spill::copy(source.paths(), successor.paths(), &missing, successor.options().durability)?;
    successor.append(&events)?;
    Ok(events.len() as u64)
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

    /// Names the successor: in the metadata, which is what counts, then in the history, which is what lasts.
    ///
    /// The other way round, who died in between would leave a history that says that another goes on with it, and a
    /// session that still does.
    fn link_successor(&self, name: &SessionName) -> Result<()> {
        self.update_meta(|meta| name.as_str().clone_into(&mut meta.succeeded_by))?;
        self.tell_successor(name)
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
