//! The history of one session: appending to it, and reading it.
//!
//! A history is only ever appended to. What is promised:
//!
//! - An append is one write to a descriptor in append mode. Lines of several writers, the reference included, interleave
//!   and never mix.
//! - It is in the file, and on the disk as far as the durability says, before it answers. After an error nothing of it is
//!   in the file, or the error says how much.
//! - The file is never cut and never rewritten. What is left of a write that was cut off is copied to the quarantine and
//!   overwritten with spaces, which every reader passes over.
//!
//! Appends of this project exclude each other by a short `flock` on the history itself. The reference takes no lock; all
//! that is done here holds beside it.

mod batch;
mod blank;
#[cfg(feature = "remote")]
mod extend;
mod file;
mod group;
mod head;
mod hold;
mod parallel;
mod pending;
mod read;
mod seen;
mod tail;

pub(crate) use blank::{blank_at, take_back};
#[cfg(feature = "remote")]
pub(crate) use extend::Extension;
pub(crate) use head::newer_format;
pub(crate) use hold::{hold_history, hold_or_create};
pub(crate) use read::{BUFFER, settled_len};
pub use read::{HistoryReader, HistoryView};
pub use tail::Isolated;
pub(crate) use tail::last_line;

use crate::directory::hold;
use crate::flock::{self, Inode};
use crate::{Options, Redaction, Result, SessionPaths, StoreError};
use batch::Batch;
use file::{Kept, Look};
pub(crate) use pending::Pending;
use pending::{Lock, Placed};
pub(crate) use seen::Make;
use session_core::Event;
use session_disk::{append, create_new, open_append};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// How often a history may be replaced under an append before it is given up.
const REOPENS: usize = 16;

/// The history of one session, to append to. Its descriptor is opened by the first append and kept.
///
/// Several processes, and several values in one process, may append to one history.
///
/// ```
/// use session_core::{Event, Message, parse_time};
/// use session_store::{History, HistoryView, Options, SessionPaths};
/// # fn main() -> session_store::Result<()> {
/// # let dir = tempfile::tempdir().expect("a scratch directory");
/// # let ts = parse_time("2026-01-02T03:04:05Z").expect("it is well formed");
/// let paths = SessionPaths::new(dir.path());
/// let mut history = History::new(paths.clone(), "demo", Options::default());
/// let appended = history.append(&[Event::message(ts, Message::user("plant three oaks"))], Vec::new)?;
/// assert_eq!((appended.events, appended.offset), (1, 0));
///
/// let view = HistoryView::open(&paths, Default::default())?;
/// assert_eq!(view.load()?.messages, [Message::user("plant three oaks")]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct History {
    paths: SessionPaths,
    name: String,
    options: Options,
    redaction: Redaction,
    /// The session's directory as it was found first, kept so that its inode is not given to another one.
    dir: Option<File>,
    kept: Option<Kept>,
    /// Whether a history was there: if it is missing from then on, it was deleted.
    was_there: bool,
}

/// What an append did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Appended {
    /// How many events were written: all that were given, or none where they wait.
    pub events: usize,
    /// How many wait in memory for a history to begin: see [`crate::Session::append`].
    pub waiting: usize,
    /// How many bytes their lines take, newlines included.
    pub bytes: u64,
    /// Where the first of them begins. Their lines follow each other without a gap.
    pub offset: u64,
    /// What was found before them that no newline ended and that is no JSON: nothing, as a rule.
    pub isolated: Vec<Isolated>,
}

impl History {
    /// The history of the session at `paths`. `name` is for errors.
    ///
    /// Nothing is created. The directory is remembered: one that stands at its path later is another session's.
    pub fn new(paths: SessionPaths, name: impl Into<String>, options: Options) -> Self {
        let dir = hold(paths.dir()).ok();
        History {
            paths,
            name: name.into(),
            options,
            redaction: Redaction::default(),
            dir,
            kept: None,
            was_there: false,
        }
    }

    /// From here on, each line is written as the redactor gives it. Where that fails, or gives something that is not the
    /// same event, nothing of the call is written.
    pub(crate) fn redact_by(&mut self, redaction: Redaction) {
        self.redaction = redaction;
    }

    /// Appends events, all of them or none.
    ///
    /// Where no event was ever written, those of `first` are written before them, in the same write; a missing history
    /// is created, the session's directory never.
    ///
    /// On disk when it returns: the events; with [`crate::Durability::Data`] synced, and so is the entry of a new file.
    /// A torn line before them is on a line of its own and, if that could be done, in the quarantine: see [`Isolated`].
    ///
    /// It waits while another process of ours appends. The lock is not held when it returns.
    ///
    /// # Errors
    /// - [`StoreError::LineTooLong`], [`StoreError::NotRedacted`], [`StoreError::NewerFormat`] and
    ///   [`StoreError::Deleted`]: nothing was written.
    /// - [`StoreError::Append`]: the write or the sync failed; it says how many of the events are in the file. What was
    ///   written of them has been overwritten with spaces as a rule, so that none is.
    /// - [`StoreError::LockUnsupported`], [`StoreError::Read`] and [`StoreError::Disk`]: nothing was written.
    ///
    /// A process that is over its file size limit (`RLIMIT_FSIZE`) is killed by `SIGXFSZ` unless it ignores that signal.
    pub fn append(&mut self, events: &[Event], first: impl FnOnce() -> Vec<Event>) -> Result<Appended> {
        if events.is_empty() {
            return Ok(Appended::default());
        }
        let pending = self.write_after(events, |is_new| Ok(if is_new { first() } else { Vec::new() }), || {})?;
        pending.settle(&self.paths.history())
    }

    /// The same, but `before` is asked in any case which events come first, and `written` is told when they are in the
    /// file; both under the lock, so that of several writers who know of the same event, one writes it. `before` is told
    /// whether no event was ever written; where it fails, nothing is written.
    ///
    /// On disk when it returns: the events, in the file and not synced, but for the first ones of a history. They are
    /// acknowledged by [`Pending::settle`].
    pub(crate) fn write_after(
        &mut self,
        events: &[Event],
        before: impl FnOnce(bool) -> Result<Vec<Event>>,
        written: impl FnOnce(),
    ) -> Result<Pending> {
        let path = self.paths.history();
        let mut batch = Batch::new(events, &self.redaction, self.options.long_lines, &path)?;
        let (kept, look) = self.lock(&path)?;
        batch.begin_with(&before(look.is_new)?, &self.redaction, &path)?;
        // An error closes the descriptor, and with it frees the lock.
        let (offset, isolated) = self.write(&kept, look, &batch, &path)?;
        written();
        self.written(kept, look, batch, (offset, isolated))
    }

    /// What an append does when its events are in the file: the lock is freed.
    fn written(
        &mut self,
        mut kept: Kept,
        look: Look,
        batch: Batch,
        (offset, isolated): (u64, Vec<Isolated>),
    ) -> Result<Pending> {
        let path = self.paths.history();
        let durability = self.options.durability;
        if look.is_new {
            // Who comes next takes the entry of a new file for durable: nobody comes before it is.
            let placed = Placed::whole(batch.written(look.is_torn), offset);
            let synced = durability.sync_data(&kept.open.file, &path);
            let synced = synced.and_then(|()| durability.sync_dir(self.paths.dir()));
            synced.map_err(|error| placed.take_back(&kept.open, durability, Lock::Held, &path, error))?;
        }
        kept.left = Some(offset + batch.written(look.is_torn).bytes().len() as u64);
        let open = Arc::clone(&kept.open);
        self.unlock(kept, &path);
        Ok(Pending {
            open,
            events: batch.events(),
            batch,
            is_torn: look.is_torn,
            offset,
            isolated,
            durability,
            is_synced: look.is_new,
        })
    }

    fn unlock(&mut self, kept: Kept, path: &Path) {
        // If the lock could not be freed, closing the descriptor frees it.
        self.kept = flock::unlock(&kept.open.file, path).is_ok().then_some(kept);
    }

    /// Whether an append has opened it.
    pub(crate) fn is_open(&self) -> bool {
        self.kept.is_some()
    }

    /// The history, locked, and what it looks like.
    fn lock(&mut self, path: &Path) -> Result<(Kept, Look)> {
        for _ in 0..REOPENS {
            let mut kept = match self.kept.take() {
                Some(kept) => kept,
                None => self.open(path)?,
            };
            flock::exclusive(&kept.open.file, path)?;
            // Whoever repairs a history puts another file in its place; then this one is nobody's.
            if let Some(len) = kept.named_len(path)? {
                let look = kept.look(path, len, self.options.limits)?;
                return Ok((kept, look));
            }
        }
        Err(self.deleted(path))
    }

    fn open(&mut self, path: &Path) -> Result<Kept> {
        self.check_dir(path)?;
        for _ in 0..REOPENS {
            match open_append(path) {
                Ok(file) => {
                    self.was_there = true;
                    return Kept::new(file, path);
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                Err(_) if self.was_there => return Err(self.deleted(path)),
                Err(_) => match create_new(path) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.deleted(path)),
                    Err(error) => return Err(error.into()),
                },
            }
        }
        Err(self.deleted(path))
    }

    /// Whether the session's directory is still the one that it was.
    fn check_dir(&mut self, path: &Path) -> Result<()> {
        let named = match fs::metadata(self.paths.dir()) {
            Ok(metadata) => Inode::of(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.deleted(path)),
            Err(error) => return Err(StoreError::read(self.paths.dir())(error)),
        };
        let dir = match self.dir.take() {
            Some(dir) => dir,
            None => hold(self.paths.dir()).map_err(StoreError::read(self.paths.dir()))?,
        };
        let known = dir.metadata().map_err(StoreError::read(self.paths.dir()))?;
        self.dir = Some(dir);
        if Inode::of(&known) == named { Ok(()) } else { Err(self.deleted(path)) }
    }

    fn deleted(&self, path: &Path) -> StoreError {
        StoreError::Deleted { name: self.name.clone(), path: path.to_owned() }
    }

    /// Writes under the lock, and settles what the bytes before turn out to be. Gives the offset of the first byte.
    fn write(&self, kept: &Kept, look: Look, batch: &Batch, path: &Path) -> Result<(u64, Vec<Isolated>)> {
        let written = batch.written(look.is_torn);
        let open = &kept.open;
        let offset = match append(&open.file, path, written.bytes()) {
            Ok(offset) => offset,
            Err(short) => {
                let len = usize::try_from(short.written).unwrap_or(usize::MAX);
                let placed = Placed { written, offset: short.offset, len };
                return Err(placed.take_back(open, self.options.durability, Lock::Held, path, short.error));
            }
        };
        let isolated = if look.is_torn || offset != look.len {
            tail::settle(&self.paths, &open.file, open.inode, offset, self.options.limits)
        } else {
            Vec::new()
        };
        Ok((offset, isolated))
    }
}
