//! Putting another history in the place of one, for a repair or a scrub. Everything else only appends.
//!
//! The new one is written beside the old, synced, and given its name in one step. The old one keeps its inode and gets a
//! name in `.backup/` before that: whatever anybody writes to it is not lost. Whoever is of this project waits for the
//! locks, and finds the new one then. The reference takes no lock, and can be between opening the history and writing to
//! it while the names change; what it writes lands in the backup, and is carried over ([`late`]).
//!
//! ```text
//! lock, flock ── new one written and synced ── backup named ── new one named ── what came late carried over
//!      nothing has happened                  │ two names for the old one │     nothing is lost or doubled
//! ```
//!
//! The new one may get an inode that an earlier one had, and then it was made later: the earlier one is given up only when
//! nothing comes late any more, after 50 ms, which is longer than the ticks in which file systems tell when a file was
//! made.
//!
//! Who dies before the new one is named has changed nothing; who dies after it leaves a whole history, at worst with late
//! lines that [`late::lines`] finds.

mod backup;
mod end;
pub(crate) mod late;
#[cfg(test)]
mod tests;

pub(crate) use backup::backups;

use crate::flock::Inode;
use crate::history::{BUFFER, blank_at, hold_history, newer_format, settled_len};
use crate::part::Part;
use crate::{Durability, HistoryView, LockGuard, Options, Result, SessionPaths, StoreError};
use session_disk::{DiskError, create_new, remove_file, temp_name, write};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether the old history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepBackup {
    /// In `.backup/`, for good.
    Yes,
    /// Only until nobody can be writing to it any more.
    No,
}

/// A history that is being replaced. The caller goes through the old one from its start and says what becomes of it, part
/// by part. Dropped before [`Rewrite::end`], nothing has happened.
pub(crate) struct Rewrite<'a> {
    paths: &'a SessionPaths,
    lock: &'a LockGuard,
    durability: Durability,
    /// Locked against our own appends.
    old: Arc<File>,
    inode: Inode,
    /// Up to where it is decided what becomes of the old one.
    at: u64,
    len: u64,
    new: File,
    temp: Option<PathBuf>,
    buffer: Vec<u8>,
    /// The last byte that was put, if any was.
    last: Option<u8>,
}

impl<'a> Rewrite<'a> {
    /// Locks the history and makes the file that is to take its place. `lock` is the session's.
    ///
    /// # Errors
    /// [`StoreError::LockLost`]; [`StoreError::NewerFormat`]; [`StoreError::Deleted`] where there is no history; the step
    /// that failed. Nothing has happened then.
    pub(crate) fn begin(paths: &'a SessionPaths, lock: &'a LockGuard, options: &Options) -> Result<Self> {
        lock.check()?;
        refuse_newer(paths, options)?;
        let old = lock_history(paths)?;
        let path = paths.history();
        let inode = Inode::of(&old.metadata().map_err(StoreError::read(&path))?);
        let len = settled_len(&old).map_err(StoreError::read(&path))?;
        let temp = temp_name(&path);
        let new = create_new(&temp)?;
        Ok(Rewrite {
            paths,
            lock,
            durability: options.durability,
            old: Arc::new(old),
            inode,
            at: 0,
            len,
            new,
            temp: Some(temp),
            buffer: Vec::new(),
            last: None,
        })
    }

    /// The old history, for reading.
    pub(crate) fn old(&self) -> Arc<File> {
        Arc::clone(&self.old)
    }

    /// How many bytes of it there are to decide about. What comes behind them meanwhile is copied as it stands.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Whether the old history is so long and that file (device and inode): what somebody has looked at before.
    #[cfg(feature = "remote")]
    pub(crate) fn is_of(&self, (len, identity): (u64, (u64, u64))) -> bool {
        self.len == len && self.inode.is(identity)
    }

    /// Copies what stands before `upto` and was not decided about.
    pub(crate) fn copy_upto(&mut self, upto: u64) -> Result<()> {
        let path = self.paths.history();
        let old = self.old();
        let mut part = Part { file: &old, at: self.at, upto };
        let mut bytes = vec![0; BUFFER];
        while part.at < upto {
            let read = part.read_some(&mut bytes).map_err(StoreError::read(&path))?;
            self.push(read)?;
        }
        self.at = self.at.max(upto);
        Ok(())
    }

    /// Puts blanks for what stands before `upto`: as many bytes, so that nothing behind them moves.
    pub(crate) fn blank_upto(&mut self, upto: u64) -> Result<()> {
        let len = upto.saturating_sub(self.at);
        let mut from = 0;
        while from < len {
            let to = len.min(from + BUFFER as u64);
            let blanks: Vec<u8> = (from..to).map(blank_at).collect();
            self.push(&blanks)?;
            from = to;
        }
        self.at += len;
        Ok(())
    }

    /// Puts other bytes for what stands before `upto`.
    pub(crate) fn put_upto(&mut self, upto: u64, bytes: &[u8]) -> Result<()> {
        self.push(bytes)?;
        self.at = self.at.max(upto);
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.last = bytes.last().copied().or(self.last);
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(temp) = self.temp.as_ref().filter(|_| !self.buffer.is_empty()) {
            write(&self.new, temp, &self.buffer).map_err(DiskError::from)?;
        }
        self.buffer.clear();
        Ok(())
    }
}

impl Drop for Rewrite<'_> {
    fn drop(&mut self) {
        if let Some(temp) = self.temp.take() {
            // What stays is a temporary file that nobody reads.
            drop(remove_file(&temp));
        }
    }
}

/// The history, locked against our own appends, for reading.
fn lock_history(paths: &SessionPaths) -> Result<File> {
    hold_history(paths)?.ok_or_else(|| {
        let name = paths.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        StoreError::Deleted { name, path: paths.history() }
    })
}

fn refuse_newer(paths: &SessionPaths, options: &Options) -> Result<()> {
    match HistoryView::open(paths, options.limits)?.head()?.and_then(|head| newer_format(&head.event)) {
        Some(format) => Err(StoreError::NewerFormat { path: paths.history(), format }),
        None => Ok(()),
    }
}
