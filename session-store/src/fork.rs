//! Forking: a second session that begins with a part of the first one's conversation.

use crate::staging::{self, NewHistory, Staged};
use crate::{HistoryView, Result, Store, StoreError, meta, spill};
use session_core::checkpoint::Checkpointer;
use session_core::{
    Defect, Effect, Event, Item, Kind, Meta, Point, Record, Replay, SessionHeader, SessionName, TitleSource, fork_title,
};
use std::collections::{BTreeSet, HashSet};

/// How a session is forked. Everything may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewFork {
    /// Its name; one is generated where it is left out.
    pub name: Option<SessionName>,
    /// The last thing of the conversation that it has; all of it where this is left out.
    pub at: Option<Point>,
    /// Whether it is made although lines before that point cannot be read: it lacks them, and what a rollback across them
    /// took is a guess.
    pub over_damage: bool,
}

/// A fork that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forked {
    /// Its name.
    pub name: SessionName,
    /// How many messages it begins with.
    pub messages: u64,
    /// The spilled outputs that these mention, which it has copies of.
    pub spills: Vec<String>,
    /// How many checkpoints it shares.
    pub checkpoints: u64,
    /// Lines that could not be read, and that it lacks.
    pub damage: Vec<Defect>,
}

impl Store {
    /// Makes a session that begins with the live conversation of another one, as it stood at a point. Links to successors
    /// are not followed: the session of this name is forked, read-only ones included.
    ///
    /// The fork has its own first line, which names its parent; settings, notices and the marks of turns and checkpoints
    /// up to the point; the spilled outputs that its messages mention, under the paths that they mention; and, through
    /// `checkpoints`, which are the source's, the checkpoints up to the point. What responses cost stays with the source,
    /// so that nothing is counted twice. A title that a person gave becomes `Oaks (fork)`. A fork without a message has
    /// metadata only.
    ///
    /// On disk when it returns: the fork, whole, synced as the durability says. The source is not written to. After an
    /// error there is no fork.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Exists`] where the name is taken; [`StoreError::Cut`] for a point that there
    /// is not; [`StoreError::Damaged`] where lines before it cannot be read, unless that is accepted;
    /// [`StoreError::Checkpoint`]; the step that failed.
    pub fn fork(&self, source: &SessionName, fork: &NewFork, checkpoints: Option<&dyn Checkpointer>) -> Result<Forked> {
        let view = self.history(source)?;
        let from = self.paths(source)?;
        let limits = self.options().limits;
        let timeline = view.timeline()?;
        let cut = |source| StoreError::Cut { path: view.path().to_owned(), source };
        let upto = fork.at.map_or(Ok(timeline.events()), |point| timeline.event_at(point)).map_err(cut)?;
        let damage = timeline.damage_before(upto);
        if let (Some(first), false) = (damage.first(), fork.over_damage) {
            let (path, defects) = (view.path().to_owned(), damage.len() as u64);
            return Err(StoreError::Damaged { path, defects, first: Box::new(first.clone()) });
        }
        let parent = meta::read(&from, source.as_str(), limits)?.meta;
        let spilled = spill::names(&from)?;
        let mut forked = Forked { name: source.clone(), messages: 0, spills: Vec::new(), checkpoints: 0, damage };
        forked.name = staging::build(self, fork.name.as_ref(), |staged| {
            let mut made =
                Making { store: self, staged, view: &view, upto, spilled: &spilled, mentioned: BTreeSet::new() };
            let live = made.live()?;
            let meta = made.meta(source, &parent, &live)?;
            forked.messages = live.len() as u64;
            if !live.is_empty() {
                made.write(&meta, &live)?;
            }
            forked.spills = made.mentioned.iter().cloned().collect();
            spill::copy(&from, staged.paths(), &forked.spills, self.options().durability)?;
            if let Some(checkpoints) = checkpoints {
                let told = if fork.at.is_some() { Some(timeline.checkpoints_upto(upto).unwrap_or(0)) } else { None };
                let shared = checkpoints.share(&staged.paths().checkpoints(), told);
                forked.checkpoints =
                    shared.map_err(|source| StoreError::Checkpoint { path: from.checkpoints(), source })?;
            }
            staged.put_meta(&meta)
        })?;
        Ok(forked)
    }
}

/// A fork that is being made.
struct Making<'a> {
    store: &'a Store,
    staged: &'a Staged<'a>,
    /// The source.
    view: &'a HistoryView,
    /// The last event of the source that counts.
    upto: u64,
    /// The outputs that the source has spilled.
    spilled: &'a BTreeSet<String>,
    mentioned: BTreeSet<String>,
}

impl Making<'_> {
    /// The numbers of the events whose messages were live at the point.
    fn live(&self) -> Result<HashSet<u64>> {
        let mut live = Replay::new();
        self.each(|number, record, _| {
            live.event(&record.event.effect(), || number);
            Ok(())
        })?;
        Ok(live.into_live().into_iter().collect())
    }

    /// Goes through the events up to the point; whether the bytes of one are to be believed is told.
    fn each(&self, mut act: impl FnMut(u64, &Record, bool) -> Result<()>) -> Result<()> {
        let (mut number, mut is_clean) = (0, true);
        for item in self.view.forwards() {
            match self.view.told(item)? {
                Item::Defect(_) => is_clean = false,
                Item::Record(_) if number == self.upto => break,
                Item::Record(record) => {
                    number += 1;
                    act(number, &record, is_clean)?;
                    is_clean = true;
                }
            }
        }
        Ok(())
    }

    fn meta(&self, source: &SessionName, parent: &Meta, live: &HashSet<u64>) -> Result<Meta> {
        let now = Some(self.store.clock().utc());
        let mut meta = Meta {
            name: self.staged.name().to_string(),
            created: now,
            updated: now,
            workspace: parent.workspace.clone(),
            model: parent.model.clone(),
            parent: source.to_string(),
            extra: parent.extra.clone(),
            ..Meta::default()
        };
        let by = meta::title_source(parent);
        let title = match by {
            TitleSource::User => fork_title(&parent.title),
            TitleSource::Auto => parent.title.clone(),
        };
        if !parent.title.is_empty() {
            meta::fill_title(&mut meta, &title, by);
        }
        if !live.is_empty() {
            meta::mark_header(&mut meta);
            self.each(|number, record, _| {
                if meta.first_prompt.is_empty() && live.contains(&number) {
                    meta.first_prompt = record.event.prompt().unwrap_or_default();
                }
                Ok(())
            })?;
        }
        Ok(meta)
    }

    fn write(&mut self, meta: &Meta, live: &HashSet<u64>) -> Result<()> {
        let mut history = self.staged.history()?;
        let header = SessionHeader { name: meta.name.clone(), ..SessionHeader::default() };
        for event in staging::first_lines(header, meta, self.store.clock().utc()) {
            history.push(&event)?;
        }
        let mut mentioned = std::mem::take(&mut self.mentioned);
        self.each(|number, record, is_clean| {
            if live.contains(&number) {
                let line = self.copy(&mut history, record, is_clean)?;
                spill::mentions(&line, self.spilled, &mut mentioned);
            } else if goes_along(&record.event) {
                self.copy(&mut history, record, is_clean)?;
            }
            Ok(())
        })?;
        self.mentioned = mentioned;
        history.finish()
    }

    /// Copies an event's line as it stands in the source, unless something had to be repaired.
    fn copy(&self, history: &mut NewHistory, record: &Record, is_clean: bool) -> Result<Vec<u8>> {
        if !is_clean {
            return Ok(history.push(&record.event)?.to_vec());
        }
        let line = self.view.line(record.place.offset, record.len)?;
        history.push_line(&line)?;
        Ok(line)
    }
}

/// Whether an event without a message, or with one that counts for nothing, is copied. What a response cost was paid by
/// the source.
fn goes_along(event: &Event) -> bool {
    match event.kind {
        Kind::Notice | Kind::Settings | Kind::XTurn | Kind::XCheckpoint => event.effect() == Effect::Nothing,
        Kind::Other(_) => event.effect() == Effect::Nothing,
        Kind::Message
        | Kind::ToolResult
        | Kind::Rollback
        | Kind::XSession
        | Kind::XTitle
        | Kind::XUsage
        | Kind::XSuccessor
        | Kind::XNote => false,
    }
}
