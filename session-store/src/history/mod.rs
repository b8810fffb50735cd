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
mod file;
mod parallel;
mod read;
mod tail;

pub(crate) use read::BUFFER;
pub use read::{HistoryReader, HistoryView};
pub use tail::Isolated;
pub(crate) use tail::{Part, last_line};

use crate::flock::{self, Inode};
use crate::{Durability, Options, Result, SessionPaths, StoreError};
use batch::{Batch, Written};
use blank::{Last, blank, open_overwrite};
use file::{Kept, Look};
use nix::libc::{O_DIRECTORY, O_PATH};
use session_core::Event;
use session_disk::{DiskError, append, create_new, open_append, sync_data, sync_dir};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

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
    /// The session's directory as it was found first, kept so that its inode is not given to another one.
    dir: Option<File>,
    kept: Option<Kept>,
    /// Whether a history was there: if it is missing from then on, it was deleted.
    was_there: bool,
}

/// What an append did.
#[derive(Debug, Default)]
pub struct Appended {
    /// How many events were written: all that were given.
    pub events: usize,
    /// How many bytes their lines take, newlines included.
    pub bytes: u64,
    /// Where the first of them begins. Their lines follow each other without a gap.
    pub offset: u64,
    /// What was found before them that no newline ended and that is no JSON: nothing, as a rule.
    pub isolated: Vec<Isolated>,
}

/// Bytes of a call that are in the file.
#[derive(Clone, Copy)]
struct Placed<'a> {
    written: Written<'a>,
    /// The first of them, as an offset in the history.
    offset: u64,
    /// How many of them.
    len: usize,
}

impl History {
    /// The history of the session at `paths`. `name` is for errors.
    ///
    /// Nothing is created. The directory is remembered: one that stands at its path later is another session's.
    pub fn new(paths: SessionPaths, name: impl Into<String>, options: Options) -> Self {
        let dir = open_dir(paths.dir()).ok();
        History { paths, name: name.into(), options, dir, kept: None, was_there: false }
    }

    /// Appends events, all of them or none.
    ///
    /// Where no event was ever written, those of `first` are written before them, in the same write; a missing history
    /// is created, the session's directory never.
    ///
    /// On disk when it returns: the events; with [`Durability::Data`] synced, and so is the entry of a new file. A torn
    /// line before them is on a line of its own and, if that could be done, in the quarantine: see [`Isolated`].
    ///
    /// It waits while another process of ours appends. The lock is not held when it returns.
    ///
    /// # Errors
    /// - [`StoreError::LineTooLong`], [`StoreError::NewerFormat`] and [`StoreError::Deleted`]: nothing was written.
    /// - [`StoreError::Append`]: the write or the sync failed; it says how many of the events are in the file. What was
    ///   written of them has been overwritten with spaces as a rule, so that none is.
    /// - [`StoreError::LockUnsupported`], [`StoreError::Read`] and [`StoreError::Disk`]: nothing was written.
    ///
    /// A process that is over its file size limit (`RLIMIT_FSIZE`) is killed by `SIGXFSZ` unless it ignores that signal.
    pub fn append(&mut self, events: &[Event], first: impl FnOnce() -> Vec<Event>) -> Result<Appended> {
        self.append_after(events, |is_new| if is_new { first() } else { Vec::new() }, || {})
    }

    /// The same, but `before` is asked in any case which events come first, and `written` is told when they are in the
    /// file; both under the lock, so that of several writers who know of the same event, one writes it. `before` is told
    /// whether no event was ever written.
    pub(crate) fn append_after(
        &mut self,
        events: &[Event],
        before: impl FnOnce(bool) -> Vec<Event>,
        written: impl FnOnce(),
    ) -> Result<Appended> {
        let path = self.paths.history();
        let mut batch = Batch::new(events, self.options.long_lines, &path)?;
        if events.is_empty() {
            return Ok(Appended::default());
        }
        let (mut kept, look) = self.lock(&path)?;
        batch.begin_with(&before(look.is_new));
        // An error closes the descriptor, and with it frees the lock.
        let (placed, isolated) = self.write(&kept, look, &batch, &path)?;
        written();
        // Who comes next takes the entry of a new file for durable: nobody comes before it is.
        let entry = if look.is_new { self.sync(&kept, &path, true) } else { Ok(()) };
        let freed = flock::unlock(&kept.file, &path);
        let synced = entry.and_then(|()| if look.is_new { Ok(()) } else { self.sync(&kept, &path, false) });
        synced.map_err(|error| self.take_back(&kept, placed, &path, error))?;
        kept.left = Some(placed.offset + placed.len as u64);
        // If the lock could not be freed, closing the descriptor frees it.
        self.kept = freed.is_ok().then_some(kept);
        let before = placed.written.before_own();
        Ok(Appended {
            events: events.len(),
            bytes: (placed.len - before) as u64,
            offset: placed.offset + before as u64,
            isolated,
        })
    }

    /// The history, locked, and what it looks like.
    fn lock(&mut self, path: &Path) -> Result<(Kept, Look)> {
        for _ in 0..REOPENS {
            let mut kept = match self.kept.take() {
                Some(kept) => kept,
                None => self.open(path)?,
            };
            flock::exclusive(&kept.file, path)?;
            // Whoever repairs a history puts another file in its place; then this one is nobody's.
            if let Some(len) = kept.named_len(path)? {
                let look = kept.look(path, len)?;
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
            None => open_dir(self.paths.dir()).map_err(StoreError::read(self.paths.dir()))?,
        };
        let known = dir.metadata().map_err(StoreError::read(self.paths.dir()))?;
        self.dir = Some(dir);
        if Inode::of(&known) == named { Ok(()) } else { Err(self.deleted(path)) }
    }

    fn deleted(&self, path: &Path) -> StoreError {
        StoreError::Deleted { name: self.name.clone(), path: path.to_owned() }
    }

    /// Writes under the lock, and settles what the bytes before turn out to be.
    fn write<'a>(&self, kept: &Kept, look: Look, batch: &'a Batch, path: &Path) -> Result<(Placed<'a>, Vec<Isolated>)> {
        let written = batch.written(look.is_torn);
        let offset = match append(&kept.file, path, written.bytes()) {
            Ok(offset) => offset,
            Err(short) => {
                let len = usize::try_from(short.written).unwrap_or(usize::MAX);
                return Err(self.take_back(kept, Placed { written, offset: short.offset, len }, path, short.error));
            }
        };
        let isolated = if look.is_torn || offset != look.len {
            tail::settle(&self.paths, &kept.file, kept.inode, offset, self.options.limits)
        } else {
            Vec::new()
        };
        Ok((Placed { written, offset, len: written.bytes().len() }, isolated))
    }

    fn sync(&self, kept: &Kept, path: &Path, is_new: bool) -> Result<(), DiskError> {
        match self.options.durability {
            Durability::Os => Ok(()),
            Durability::Data => {
                sync_data(&kept.file, path)?;
                if is_new { sync_dir(self.paths.dir()) } else { Ok(()) }
            }
        }
    }

    /// Blanks what a call that failed has written, so that the caller may try again, and tells why it failed.
    fn take_back(&self, kept: &Kept, placed: Placed<'_>, path: &Path, cause: DiskError) -> StoreError {
        let blanked = placed.len == 0 || self.try_take_back(kept, placed, path).is_ok();
        let whole_events = if blanked { 0 } else { placed.written.whole_events(standing(kept, placed)) };
        let mut source = cause;
        // The system took a part of the bytes and gave no cause: it gives it to who asks for one byte more. If there is
        // room again, that byte makes a blank line.
        if source.kind() == io::ErrorKind::WriteZero
            && let Err(short) = append(&kept.file, path, b"\n")
        {
            source = short.error;
        }
        StoreError::Append { path: path.to_owned(), whole_events, source }
    }

    fn try_take_back(&self, kept: &Kept, placed: Placed<'_>, path: &Path) -> Result<()> {
        flock::exclusive(&kept.file, path)?;
        let over = open_overwrite(path, kept.inode)?;
        if standing(kept, placed) < placed.len {
            // Whatever stands there is not this call's: nothing is known about it, so nothing is done to it.
            return Err(self.deleted(path));
        }
        blank(&over, path, placed.offset, placed.len as u64, Last::Newline)?;
        if self.options.durability == Durability::Data {
            // The bytes are blank for every reader. If even this sync fails there is nothing more to be done about what
            // a power cut might bring back.
            drop(sync_data(&over, path));
        }
        Ok(())
    }
}

/// How many bytes of a call can be read in the file, from its first one.
fn standing(kept: &Kept, placed: Placed<'_>) -> usize {
    let wanted = &placed.written.bytes()[..placed.len];
    let mut found = vec![0; placed.len];
    match kept.file.read_exact_at(&mut found, placed.offset) {
        Ok(()) => found.iter().zip(wanted).take_while(|(a, b)| a == b).count(),
        // Nobody can say; the system said that it took them.
        Err(_) => placed.len,
    }
}

fn open_dir(dir: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(O_PATH | O_DIRECTORY).open(dir)
}
