//! Bytes that have been written and are not yet known to be on the disk.

use super::batch::{Batch, Written};
use super::blank::{Last, blank, open_overwrite};
use super::file::Open;
use super::{Appended, Isolated};
use crate::{Durability, Result, StoreError, flock};
use session_disk::{DiskError, append, sync_data};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

/// Bytes of a call that are in the file.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) written: Written<'a>,
    /// The first of them, as an offset in the history.
    pub(super) offset: u64,
    /// How many of them.
    pub(super) len: usize,
}

/// A call whose events are in the file.
#[must_use]
#[derive(Debug)]
pub(crate) struct Pending {
    pub(super) open: Arc<Open>,
    pub(super) batch: Batch,
    pub(super) is_torn: bool,
    pub(super) offset: u64,
    pub(super) isolated: Vec<Isolated>,
    pub(super) events: usize,
    pub(super) durability: Durability,
    /// Whether they are on the disk already.
    pub(super) is_synced: bool,
}

impl<'a> Placed<'a> {
    /// All of them.
    pub(super) fn whole(written: Written<'a>, offset: u64) -> Self {
        Placed { written, offset, len: written.bytes().len() }
    }
}

impl Pending {
    fn placed(&self) -> Placed<'_> {
        Placed::whole(self.batch.written(self.is_torn), self.offset)
    }

    /// How many bytes the lines of the first events of the call take.
    pub(crate) fn bytes_of_first(&self, events: usize) -> u64 {
        self.batch.bytes_of_first(events)
    }

    /// Answers when the events are on the disk, as far as the durability says. Threads that append through one handle
    /// share a sync.
    ///
    /// # Errors
    /// [`StoreError::Append`].
    pub(crate) fn settle(self, path: &Path) -> Result<Appended> {
        if self.durability == Durability::Data && !self.is_synced {
            let synced = self.open.sync.run(path, || sync_data(&self.open.file, path));
            synced.map_err(|error| self.placed().take_back(&self.open, self.durability, Lock::Take, path, error))?;
        }
        let placed = self.placed();
        let before = placed.written.before_own();
        let (bytes, offset) = ((placed.len - before) as u64, placed.offset + before as u64);
        Ok(Appended { events: self.events, waiting: 0, bytes, offset, isolated: self.isolated })
    }
}

/// Whether the caller has the lock of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    Held,
    /// It is taken for the time that bytes are blanked.
    Take,
}

impl Placed<'_> {
    /// Blanks what a call that failed has written, so that the caller may try again, and tells why it failed.
    pub(super) fn take_back(
        self,
        open: &Open,
        durability: Durability,
        lock: Lock,
        path: &Path,
        cause: DiskError,
    ) -> StoreError {
        let blanked = self.len == 0 || self.blank(open, durability, lock, path).is_ok_and(|blanked| blanked);
        let whole_events = if blanked { 0 } else { self.written.whole_events(standing(open, self)) };
        let mut source = cause;
        // The system took a part of the bytes and gave no cause: it gives it to who asks for one byte more. If there is
        // room again, that byte makes a blank line.
        if source.kind() == io::ErrorKind::WriteZero
            && let Err(short) = append(&open.file, path, b"\n")
        {
            source = short.error;
        }
        StoreError::Append { path: path.to_owned(), whole_events, source }
    }

    /// False: whatever stands there is not this call's. Nothing is known about it, so nothing is done to it.
    pub(super) fn blank(self, open: &Open, durability: Durability, lock: Lock, path: &Path) -> Result<bool> {
        let over = open_overwrite(path, open.inode)?;
        if lock == Lock::Take {
            // Of a descriptor of its own: that of the appends is shared by threads, and so is its lock.
            flock::exclusive(&over, path)?;
        }
        if standing(open, self) < self.len {
            return Ok(false);
        }
        blank(&over, path, self.offset, self.len as u64, Last::Newline)?;
        // The bytes are blank for every reader. If even this sync fails there is nothing more to be done about what a
        // power cut might bring back.
        drop(durability.sync_data(&over, path));
        Ok(true)
    }
}

/// How many bytes of a call can be read in the file, from its first one.
fn standing(open: &Open, placed: Placed<'_>) -> usize {
    let wanted = &placed.written.bytes()[..placed.len];
    let mut found = vec![0; placed.len];
    match open.file.read_exact_at(&mut found, placed.offset) {
        Ok(()) => found.iter().zip(wanted).take_while(|(a, b)| a == b).count(),
        // Nobody can say; the system said that it took them.
        Err(_) => placed.len,
    }
}
