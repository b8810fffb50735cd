//! The session's lock: exclusive between processes, the reference's included.
//!
//! Two files carry it. The first is the session's directory itself, which only this project locks: ours against ours is
//! strict, whatever happens to the second. The second is `.lock`, the reference's file. The reference unlocks it and
//! removes it then, so who has locked it makes sure that the path still names what was locked.
//!
//! Neither is removed by us, and readers need neither.

mod file;
mod guard;
mod holder;

pub(crate) use guard::Held;
pub use guard::LockGuard;
pub use holder::LockHolder;

use crate::flock::{Deadline, names, try_exclusive};
use crate::{Clock, Result, SessionPaths, StoreError, Wait};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Takes the lock of the session at `paths`. `name` is for errors.
///
/// On disk when it returns: `.lock`, which says who holds it. After an error nothing is held.
///
/// # Errors
/// [`StoreError::Locked`] with the holder, [`StoreError::LockUnsupported`], [`StoreError::NotFound`], or what the disk
/// says.
pub(crate) fn acquire(paths: &SessionPaths, name: &str, wait: Wait) -> Result<LockGuard> {
    let deadline = Deadline::from(wait);
    let busy = || StoreError::Locked { name: name.to_owned(), holder: LockHolder::find(&paths.lock()) };
    let dir = deadline.poll(|| take_directory(paths.dir(), name))?.ok_or_else(busy)?;
    let file = deadline.poll(|| file::take(&paths.lock()))?.ok_or_else(busy)?;
    let held = Held::new(name, paths.clone(), dir, file);
    held.say_who(&LockHolder::this_process(Clock::SYSTEM.utc()));
    Ok(LockGuard::new(Arc::new(held)))
}

/// Takes a lock unless something forbids it. That is asked first, since it says more than that the lock is held; and
/// again once nothing can start any more.
pub(crate) fn unless<T>(forbid: impl Fn() -> Result<()>, acquire: impl FnOnce() -> Result<T>) -> Result<T> {
    forbid()?;
    let lock = acquire()?;
    forbid()?;
    Ok(lock)
}

/// One try at the directory. `None`: another has it, or it was replaced at this very moment.
fn take_directory(path: &Path, name: &str) -> Result<Option<File>> {
    let dir = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            StoreError::NotFound { name: name.to_owned(), base: path.parent().unwrap_or(path).to_owned() }
        }
        _ => StoreError::read(path)(error),
    })?;
    if !dir.metadata().is_ok_and(|metadata| fs::Metadata::is_dir(&metadata)) {
        return Err(StoreError::NotADirectory { path: path.to_owned() });
    }
    Ok((try_exclusive(&dir, path)? && names(path, &dir)?).then_some(dir))
}
