//! The lock under which records change: short, and never held while anything is waited for.

use crate::ProcError;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_NAP: Duration = Duration::from_millis(20);

/// The records of one session are this process's to change. The kernel releases the lock when the holder ends.
pub(crate) struct DirLock(File);

impl Drop for DirLock {
    fn drop(&mut self) {
        // Closing is not enough: another thread may have copied this process, and the copy holds the descriptor too.
        // If unlocking fails, closing is what is left to do.
        self.0.unlock().ok();
    }
}

/// Locks the directory itself (flock), so that nothing is written for it, waiting for others up to ten seconds.
pub(crate) fn lock(dir: &Path) -> Result<DirLock, ProcError> {
    lock_within(dir, PATIENCE)
}

fn lock_within(dir: &Path, patience: Duration) -> Result<DirLock, ProcError> {
    let fail = |source| ProcError::Lock { path: dir.to_owned(), source };
    let file = File::open(dir).map_err(|source| ProcError::read(dir, source))?;
    let end = Instant::now() + patience;
    let mut nap = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(DirLock(file)),
            Err(TryLockError::Error(source)) => return Err(fail(source)),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                return Err(ProcError::Busy { path: dir.to_owned() });
            }
            Err(TryLockError::WouldBlock) => thread::sleep(nap),
        }
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_the_lock_for_too_long_is_not_waited_for() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let held = lock(scratch.path()).expect("it is free");
        let refused = lock_within(scratch.path(), Duration::from_millis(5)).map(drop);
        assert!(matches!(&refused, Err(ProcError::Busy { path }) if path == scratch.path()), "{refused:?}");
        drop(held);
        lock_within(scratch.path(), Duration::ZERO).expect("it is free again");
    }
}
