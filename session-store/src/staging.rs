//! Building a session where nobody sees it, and giving it its name in one step.

#[cfg(feature = "remote")]
mod resume;

#[cfg(feature = "remote")]
pub(crate) use resume::resume;

use crate::flock::try_exclusive;
use crate::paths::staging_path;
use crate::{Durability, Redaction, Result, SessionPaths, Store, StoreError, meta, name};
use session_core::{Event, Extension, FORMAT, Meta, Note, SessionHeader, SessionName, Timestamp, TitleSet};
use session_disk::{
    DiskError, create_dir, create_dir_all, create_new, ensure_dir, remove_dir_all, rename_new, replace, write,
};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How many names are tried for a session that nobody named.
const MAX_TRIES: u32 = 64;
/// How much of a history is written at once.
const CHUNK: usize = 1 << 20;

/// A session that is being built. Dropped before it has its name, it is removed.
pub(crate) struct Staged<'a> {
    store: &'a Store,
    name: SessionName,
    paths: SessionPaths,
    /// Locked for as long as somebody builds here, so that nobody takes it for a leftover.
    at_work: Option<File>,
    /// Whether it has its name.
    is_placed: bool,
    /// Whether what was built stays when this goes: for the next try.
    is_kept: bool,
}

/// Builds a session under the name that is wanted, or under one that is made up, and gives it that name.
pub(crate) fn build<E: From<StoreError>>(
    store: &Store,
    wanted: Option<&SessionName>,
    mut fill: impl FnMut(&Staged<'_>) -> Result<(), E>,
) -> Result<SessionName, E> {
    // None: the name is taken.
    let mut once = |name: &SessionName| {
        let Some(staged) = free(Staged::new(store, name.clone(), ""))? else { return Ok(None) };
        fill(&staged)?;
        Ok::<_, E>(free(staged.place())?)
    };
    if let Some(name) = wanted {
        return once(name)?.ok_or_else(|| StoreError::Exists { name: name.clone() }.into());
    }
    let mut tries = 1;
    loop {
        let name = name::generate(&store.clock().local(), &mut rand::rng());
        match once(&name)? {
            Some(name) => return Ok(name),
            None if tries < MAX_TRIES => tries += 1,
            None => return Err(StoreError::Exists { name }.into()),
        }
    }
}

/// `None` where the name was taken.
fn free<T>(made: Result<T>) -> Result<Option<T>> {
    match made {
        Err(StoreError::Exists { .. }) => Ok(None),
        made => made.map(Some),
    }
}

impl<'a> Staged<'a> {
    /// A new directory in the store's staging area, with those that every session has, for a name that is free.
    fn new(store: &'a Store, name: SessionName, prefix: &str) -> Result<Self> {
        let is_taken = |path: &Path| path.symlink_metadata().is_ok();
        if is_taken(store.paths(&name)?.dir()) || is_taken(&store.flat_path(&name)) {
            return Err(StoreError::Exists { name });
        }
        Staged::begin(store, name, prefix)
    }

    /// The same, whatever has the name: which one it gets is said when it is whole ([`Staged::place_as`]).
    #[cfg(feature = "bundle")]
    pub(crate) fn unclaimed(store: &'a Store, name: SessionName) -> Result<Self> {
        Staged::begin(store, name, "")
    }

    fn begin(store: &'a Store, name: SessionName, prefix: &str) -> Result<Self> {
        let (dir, at_work) = stage(store, prefix)?;
        let staged = Staged { store, name, paths: SessionPaths::new(dir), at_work, is_placed: false, is_kept: false };
        directories(&staged.paths)?;
        Ok(staged)
    }

    /// The name that it will have.
    pub(crate) fn name(&self) -> &SessionName {
        &self.name
    }

    /// What stands where in it, until it has its name.
    pub(crate) fn paths(&self) -> &SessionPaths {
        &self.paths
    }

    /// Writes the metadata. On disk when it returns: both files, and whatever else is directly in the directory, synced as
    /// the durability says.
    pub(crate) fn put_meta(&self, meta: &Meta) -> Result<()> {
        let durability = self.store.options().durability;
        replace(&self.paths.meta_copy(), &meta.to_json(), durability)?;
        // The sync of the directory that follows the second replacement is for all that is in it.
        Ok(replace(&self.paths.meta(), &meta::file_of(meta).to_json(), durability)?)
    }

    /// Begins its history.
    pub(crate) fn history(&self) -> Result<NewHistory> {
        let path = self.paths.history();
        Ok(NewHistory {
            file: create_new(&path)?,
            path,
            bytes: Vec::new(),
            redaction: self.store.redaction().clone(),
            durability: self.store.options().durability,
        })
    }

    /// Gives it its name.
    fn place(mut self) -> Result<SessionName> {
        let name = self.name.clone();
        self.place_as(&name)?;
        Ok(name)
    }

    /// Gives it a name. On disk when it returns: the session under that name, which was free.
    pub(crate) fn place_as(&mut self, name: &SessionName) -> Result<()> {
        let target = self.store.paths(name)?;
        // Under its name this is the lock of the session.
        self.at_work = None;
        let renamed = rename_new(self.paths.dir(), target.dir()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { name: name.clone() },
            _ => StoreError::Disk(error),
        });
        if renamed.is_err() {
            self.at_work = at_work(self.paths.dir());
            return renamed;
        }
        self.name = name.clone();
        self.is_placed = true;
        Ok(self.store.options().durability.sync_dir(self.store.base_dir())?)
    }

    /// Takes its name away again, if it has one.
    #[cfg(feature = "bundle")]
    pub(crate) fn take_back(&mut self) -> Result<()> {
        if self.is_placed {
            rename_new(self.store.paths(&self.name)?.dir(), self.paths.dir())?;
            self.is_placed = false;
            self.at_work = at_work(self.paths.dir());
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // What has its name is not there any more; what stays in staging is no session and is swept later.
        if self.paths.dir().symlink_metadata().is_ok() {
            drop(remove_dir_all(self.paths.dir()));
        }
    }
}

/// A history that is written for the first time, in pieces.
pub(crate) struct NewHistory {
    file: File,
    path: PathBuf,
    bytes: Vec<u8>,
    redaction: Redaction,
    durability: Durability,
}

impl NewHistory {
    /// Adds an event as the store's redactor gives it, and gives its line.
    pub(crate) fn push(&mut self, event: &Event) -> Result<&[u8]> {
        if self.bytes.len() >= CHUNK {
            self.flush()?;
        }
        let from = self.bytes.len();
        event.encode(&mut self.bytes);
        self.bytes.pop();
        self.redaction.line(event, &mut self.bytes, from, (0, &self.path))?;
        self.bytes.push(b'\n');
        Ok(&self.bytes[from..])
    }

    /// Adds an event's line as it stands elsewhere, without its newline.
    pub(crate) fn push_line(&mut self, line: &[u8]) -> Result<()> {
        if self.bytes.len() >= CHUNK {
            self.flush()?;
        }
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        Ok(())
    }

    /// Adds bytes as they stand elsewhere, any part of a history, and writes them at once.
    #[cfg(feature = "remote")]
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.flush()?;
        Ok(write(&self.file, &self.path, bytes).map_err(DiskError::from)?)
    }

    fn flush(&mut self) -> Result<()> {
        write(&self.file, &self.path, &self.bytes).map_err(DiskError::from)?;
        self.bytes.clear();
        Ok(())
    }

    /// On disk when it returns: all events, synced as the durability says; the entry of the file is not.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        Ok(self.durability.sync_data(&self.file, &self.path)?)
    }
}

/// What a history of ours begins with: what the session is, its title, and whether it is pinned.
pub(crate) fn first_lines(header: SessionHeader, meta: &Meta, ts: Timestamp) -> Vec<Event> {
    let by = meta::title_source(meta);
    let header = SessionHeader {
        format: FORMAT,
        workspace: meta.workspace.clone(),
        model: meta.model.clone(),
        parent: meta.parent.clone(),
        ..header
    };
    let mut lines = vec![Extension::Session(header).into_event(ts)];
    if !meta.title.is_empty() {
        lines.push(Extension::Title(TitleSet { title: meta.title.clone(), by }).into_event(ts));
    }
    if meta::is_pinned(meta) {
        let note = Note { topic: Note::PINNED.to_owned(), text: String::new() };
        lines.push(Extension::Note(note).into_event(ts));
    }
    lines
}

/// Makes the directories that are missing of those that every session has.
pub(crate) fn directories(paths: &SessionPaths) -> Result<()> {
    for dir in [paths.checkpoints(), paths.proc(), paths.inbox(), paths.tmp()] {
        ensure_dir(&dir)?;
    }
    Ok(())
}

/// A new directory in staging, locked where that can be done.
fn stage(store: &Store, prefix: &str) -> Result<(PathBuf, Option<File>)> {
    let base = store.base_dir();
    if base.exists() && !base.is_dir() {
        return Err(StoreError::NotADirectory { path: base.to_owned() });
    }
    let staging = staging_path(store.base_dir());
    create_dir_all(&staging)?;
    let staged = staging.join(format!("{prefix}{:032x}", rand::random::<u128>()));
    create_dir(&staged)?;
    let at_work = at_work(&staged);
    Ok((staged, at_work))
}

/// The lock that says that somebody builds there.
fn at_work(staged: &Path) -> Option<File> {
    File::open(staged).ok().filter(|dir| try_exclusive(dir, staged).unwrap_or(false))
}
