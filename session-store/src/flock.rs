//! The kernel's advisory locks (`flock`).
//!
//! `flock` only: locks by `fcntl` do not exclude the reference. The kernel frees a lock when the last descriptor of its
//! open file is closed, so a process that dies frees it at once. The standard library opens files close-on-exec, so a
//! child that outlives this process does not keep it.

use crate::{Result, StoreError, Wait};
use fs4::TryLockError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The first pause between two tries, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(500), Duration::from_millis(10));

/// Until when something is tried again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// One try.
    pub(crate) fn now() -> Self {
        Deadline(Instant::now())
    }

    /// So long from now.
    pub(crate) fn after(time: Duration) -> Self {
        let now = Instant::now();
        // A wait that the clock cannot express is as good as a day.
        Deadline(now.checked_add(time).unwrap_or(now + Duration::from_secs(86_400)))
    }

    /// Calls `attempt` until it gives something or the time is over.
    pub(crate) fn poll<T>(self, mut attempt: impl FnMut() -> Result<Option<T>>) -> Result<Option<T>> {
        let mut pause = PAUSES.0;
        loop {
            if let Some(done) = attempt()? {
                return Ok(Some(done));
            }
            let left = self.0.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

impl From<Wait> for Deadline {
    fn from(wait: Wait) -> Self {
        match wait {
            Wait::No => Deadline::now(),
            Wait::UpTo(time) => Deadline::after(time),
        }
    }
}

/// Takes the exclusive lock of an open file unless another open file has it. `path` is for the error.
///
/// # Errors
/// [`StoreError::LockUnsupported`] where the file system has no locks.
pub(crate) fn try_exclusive(file: &File, path: &Path) -> Result<bool> {
    loop {
        match fs4::FileExt::try_lock(file) {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(source)) => {
                return Err(StoreError::LockUnsupported { path: path.to_owned(), source });
            }
        }
    }
}

/// Takes the exclusive lock of an open file, after whoever has it: for locks that are only held for the length of a
/// call. Taking it again changes nothing. `path` is for the error.
///
/// # Errors
/// [`StoreError::LockUnsupported`] where the file system has no locks.
pub(crate) fn exclusive(file: &File, path: &Path) -> Result<()> {
    loop {
        match fs4::FileExt::lock(file) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(StoreError::LockUnsupported { path: path.to_owned(), source }),
        }
    }
}

/// Frees the lock, also where a child between fork and exec still has a copy of the descriptor.
pub(crate) fn unlock(file: &File, path: &Path) -> Result<()> {
    fs4::FileExt::unlock(file).map_err(|source| StoreError::LockUnsupported { path: path.to_owned(), source })
}

/// Which file or directory something is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    pub(crate) fn of(metadata: &fs::Metadata) -> Self {
        Inode { device: metadata.dev(), number: metadata.ino() }
    }

    /// Whether it has this device and this number.
    #[cfg(feature = "remote")]
    pub(crate) fn is(self, (device, number): (u64, u64)) -> bool {
        (self.device, self.number) == (device, number)
    }

    /// Whether `path` names it. A name that is gone names nothing. The answer holds for an inode that is kept open: the
    /// number of any other may be given to another file.
    pub(crate) fn is_at(self, path: &Path) -> Result<bool> {
        match fs::metadata(path) {
            Ok(named) => Ok(Inode::of(&named) == self),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::read(path)(error)),
        }
    }
}

/// Whether `path` still names the open file. A name that is gone names nothing.
pub(crate) fn names(path: &Path, file: &File) -> Result<bool> {
    Inode::of(&file.metadata().map_err(StoreError::read(path))?).is_at(path)
}
