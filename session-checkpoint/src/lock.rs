//! The store's lock: one writer at a time, across threads and processes.

use crate::{Error, error::reading, layout::Layout};
use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::time::{Duration, Instant};

/// How long a waiter sleeps between two tries. A lock is held for milliseconds; the wait is bounded by the caller.
const TRY_EVERY: Duration = Duration::from_millis(5);

/// The lock, held until it is dropped or the process dies. The file is never removed, so there is no stale one.
#[derive(Debug)]
pub(crate) struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Takes the lock, waiting no longer than `timeout`.
    pub(crate) fn take(layout: &Layout, timeout: Duration) -> Result<Self, Error> {
        let path = layout.lock();
        let file = session_disk::open_private(&path)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(source)) => return Err(reading(&path)(source)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= timeout => {
                    return Err(Error::Busy { holder: holder(&file), path });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(TRY_EVERY),
            }
        }
        // The text is only for the people who wait; a failure to write it must not cost them the lock. Whoever had the
        // lock last finds its own text there, and need not trouble the disk again.
        let text = format!("pid {}", std::process::id());
        if holder(&file).as_deref() != Some(&text) {
            let line = format!("{text}\n");
            drop(
                session_disk::truncate(&file, &path, 0)
                    .and_then(|()| session_disk::write_at(&file, &path, 0, line.as_bytes())),
            );
        }
        Ok(StoreLock { _file: file })
    }
}

fn holder(mut file: &File) -> Option<String> {
    let mut text = String::new();
    file.by_ref().take(200).read_to_string(&mut text).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
