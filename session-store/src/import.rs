//! Sessions that were made elsewhere: a conversation that comes in whole, and where it came from.

use crate::import_origin::ImportOrigin;
use crate::staging::{self, Staged};
use crate::{PreviewSize, Result, Spill, Store, StoreError, meta};
use session_core::{
    Event, Meta, SessionHeader, SessionName, Timestamp, TitleSource, first_words_title, layout, normalize_title,
};
use session_disk::{DiskError, create_dir, create_new, write};
use std::path::Path;

/// The file that records which nobody understood are kept in.
const UNKNOWN: &str = "unknown.jsonl";

/// A session that comes from elsewhere.
#[derive(Debug, Clone, Default)]
pub struct NewImport<'a> {
    /// Its name; one is generated where it is left out.
    pub name: Option<SessionName>,
    /// When it was created; now, where that is not known.
    pub created: Option<Timestamp>,
    /// The directory that it works in.
    pub workspace: &'a str,
    /// Its title, which is brought into the form of titles; made of the first prompt where it is empty.
    pub title: &'a str,
    /// Who set the title.
    pub title_by: TitleSource,
    /// The session here that it was forked from or belongs to.
    pub parent: Option<SessionName>,
    /// What happened in it, in order.
    pub events: &'a [Event],
    /// Files that its messages mention as `tmp/<name>`, by their names.
    pub files: &'a [(SessionName, &'a [u8])],
    /// Records that nobody understood, a line of JSON each.
    pub unknown: &'a [u8],
    /// Where it comes from.
    pub origin: ImportOrigin,
}

impl Store {
    /// Creates a session from what another program has recorded, and gives its name.
    ///
    /// A message that is too long for a line of the reference's is kept whole in `tmp/`, and its beginning and end stand
    /// in the history.
    ///
    /// On disk when it returns: the session, whole, synced as the durability says. After an error there is none.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the name is taken; [`StoreError::LineTooLong`] for an event that is long by something
    /// else than what its message says; the step that failed.
    pub fn import(&self, new: &NewImport<'_>) -> Result<SessionName> {
        staging::build(self, new.name.as_ref(), |staged| Making { store: self, staged, new }.fill())
    }

    /// The sessions that were imported, and where each comes from: the file of another program, the bundle that it came
    /// with, or one after the other. Their metadata is read, and what a bundle has left beside it.
    ///
    /// # Errors
    /// Failed reads of the store's directory. A session whose metadata cannot be read is left out.
    pub fn imports(&self) -> Result<Vec<(SessionName, ImportOrigin)>> {
        let mut imports = Vec::new();
        for name in self.names()? {
            let origin = self.read_meta(&name).ok().and_then(|reading| ImportOrigin::of(&reading.meta.x));
            let of_bundle = self.paths(&name).ok().and_then(|paths| ImportOrigin::of_bundle(&paths));
            imports.extend(origin.into_iter().chain(of_bundle).map(|origin| (name.clone(), origin)));
        }
        Ok(imports)
    }
}

/// An import that is being made.
struct Making<'a> {
    store: &'a Store,
    staged: &'a Staged<'a>,
    new: &'a NewImport<'a>,
}

impl Making<'_> {
    fn fill(&self) -> Result<()> {
        let (paths, durability) = (self.staged.paths(), self.store.options().durability);
        for (name, bytes) in self.new.files {
            self.put(&paths.tmp().join(name), bytes)?;
        }
        durability.sync_dir(&paths.tmp())?;
        if !self.new.unknown.is_empty() {
            create_dir(&paths.raw())?;
            self.put(&paths.raw().join(UNKNOWN), self.new.unknown)?;
            durability.sync_dir(&paths.raw())?;
        }
        self.history()?;
        // What the history says is what the metadata says.
        let mut meta = meta::of_history(&paths.history(), self.store.options().limits)?;
        self.new.origin.put_on(&mut meta.x);
        self.staged.put_meta(&meta)
    }

    fn history(&self) -> Result<()> {
        let now = self.store.clock().utc();
        let created = self.new.created.unwrap_or(now);
        let mut meta = Meta {
            workspace: self.new.workspace.to_owned(),
            parent: self.new.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
            ..Meta::default()
        };
        let title = normalize_title(self.new.title);
        if title.is_empty() {
            let prompts = self.new.events.iter().filter_map(Event::prompt);
            let title = prompts.map(|prompt| first_words_title(&prompt, None)).find(|title| !title.is_empty());
            meta::fill_title(&mut meta, &title.unwrap_or_default(), TitleSource::Auto);
        } else {
            meta::fill_title(&mut meta, &title, self.new.title_by);
        }
        let mut history = self.staged.history()?;
        let header = SessionHeader { name: self.staged.name().to_string(), ..SessionHeader::default() };
        let mut first = staging::first_lines(header, &meta, created);
        if let Some(header) = first.first_mut() {
            self.new.origin.put_on(&mut header.x);
        }
        for event in &first {
            history.push(event)?;
        }
        for (number, event) in self.new.events.iter().enumerate() {
            let too_long = |bytes: u64| StoreError::LineTooLong {
                event: number,
                bytes,
                limit: layout::MAX_REFERENCE_LINE,
                path: self.staged.paths().history(),
            };
            match self.shortened(event)? {
                None => drop(history.push(event)?),
                Some(event) => {
                    let bytes = history.push(&event)?.len() as u64 - 1;
                    if bytes >= layout::MAX_REFERENCE_LINE {
                        return Err(too_long(bytes));
                    }
                }
            }
        }
        history.finish()
    }

    /// An event whose line would be too long, with the beginning and the end of its message; `None` for every other.
    fn shortened(&self, event: &Event) -> Result<Option<Event>> {
        let mut line = Vec::new();
        event.encode(&mut line);
        if (line.len() as u64) <= layout::MAX_REFERENCE_LINE {
            return Ok(None);
        }
        let mut event = event.clone();
        if let Some(message) = &mut event.message {
            let spill =
                Spill::new(self.staged.paths().clone(), self.staged.name().as_str(), self.store.options().durability);
            let said = message.content.text().into_owned();
            message.content = spill.bytes("import", said.as_bytes(), PreviewSize::default())?.text().into();
            let thought = std::mem::take(&mut message.reasoning_content);
            if !thought.is_empty() {
                message.reasoning_content =
                    spill.bytes("import", thought.as_bytes(), PreviewSize::default())?.text().into();
            }
        }
        Ok(Some(event))
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let file = create_new(path)?;
        write(&file, path, bytes).map_err(DiskError::from)?;
        Ok(self.store.options().durability.sync_data(&file, path)?)
    }
}
