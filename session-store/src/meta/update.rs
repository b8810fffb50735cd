//! Changing metadata.

use super::merge::{copy_of, file_of, is_written};
use super::read::{Found, find};
use super::{MetaDamage, aside};
use crate::flock::{Deadline, names, try_exclusive};
use crate::small_file::Stamp;
use crate::{LockHolder, Result, SessionPaths, StoreError};
use session_core::{Limits, Meta, Timestamp};
use session_disk::{Durability, open_private, replace};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// How often a change starts over because the reference wrote in between.
const MAX_ROUNDS: u32 = 16;

/// Where and how metadata is changed.
pub(crate) struct Update<'a> {
    pub(crate) paths: &'a SessionPaths,
    /// The directory's name.
    pub(crate) name: &'a str,
    pub(crate) limits: Limits,
    pub(crate) durability: Durability,
    pub(crate) now: Timestamp,
    /// How long it waits for updates of others. Each holds the lock for a few syncs.
    pub(crate) wait: Duration,
}

/// Reads the metadata, lets `change` change it, and replaces both files; nothing is written when nothing changes. Where
/// the reference writes in between, `change` is applied to what it wrote.
///
/// On disk when it returns: both files, synced as the durability says, and a file that could not be read as
/// `meta.json.bad-<time>`. After an error each of the two is old or new, never a part of either.
///
/// # Errors
/// [`StoreError::Locked`] where another process stays in an update; the step that failed otherwise. What `change`
/// returns as an error, and then nothing is written.
pub(crate) fn update(at: &Update<'_>, mut change: impl FnMut(&mut Meta) -> Result<()>) -> Result<Meta> {
    let _lock = MetaLock::take(at)?;
    let mut wrote = Wrote::Nothing;
    for round in 1.. {
        let found = find(at.paths, at.name, at.limits)?;
        let mut meta = found.reading.meta.clone();
        if wrote == Wrote::Nothing {
            change(&mut meta)?;
        }
        // A reference that writes without a pause is not waited for for ever: what it writes next is merged next.
        wrote = wrote.max(at.write(&found, &meta, round >= MAX_ROUNDS)?);
        if wrote == Wrote::Both {
            return Ok(meta);
        }
    }
    unreachable!("the last round writes")
}

/// How far a round came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrote {
    /// The reference wrote first.
    Nothing,
    /// The reference wrote in the middle. The change is in our copy.
    Copy,
    /// All there was to write.
    Both,
}

impl Update<'_> {
    /// Writes both files, ours first: if only it is written, the other one's values are known to be old. Stops where
    /// `meta.json` is no longer what was read, unless `anyway`.
    fn write(&self, found: &Found, meta: &Meta, anyway: bool) -> Result<Wrote> {
        if is_written(found.file.as_ref(), found.copy.as_ref(), meta) {
            return Ok(Wrote::Both);
        }
        let path = self.paths.meta();
        let is_as_read =
            || Ok::<_, StoreError>(anyway || Stamp::at(&path).map_err(StoreError::read(&path))? == found.stamp);
        if !is_as_read()? {
            return Ok(Wrote::Nothing);
        }
        let sources = [found.copy.as_ref(), found.file.as_ref(), Some(&found.reading.meta)];
        let earlier: Vec<&Meta> = sources.into_iter().flatten().collect();
        let copy = copy_of(meta, found.copy.as_ref(), &earlier);
        if found.copy_is_bad {
            aside::keep(&self.paths.meta_copy(), self.now)?;
        }
        replace(&self.paths.meta_copy(), &copy.to_json(), self.durability)?;
        if !is_as_read()? {
            return Ok(Wrote::Copy);
        }
        match &found.reading.damage {
            Some(MetaDamage::Content(_) | MetaDamage::Unreadable { .. }) => aside::keep(&path, self.now)?,
            Some(MetaDamage::Empty) | None => {}
        }
        replace(&path, &file_of(meta).to_json(), self.durability)?;
        Ok(Wrote::Both)
    }
}

/// The lock of one session's metadata: `.meta.lock`. It is held for the time of one update and never removed by us.
///
/// The session's own lock is held for a turn; who only sets a title does not wait for that. The metadata files cannot
/// carry the lock themselves, since each update replaces them.
struct MetaLock {
    _file: File,
}

impl MetaLock {
    fn take(at: &Update<'_>) -> Result<Self> {
        let path = at.paths.meta_lock();
        let file = Deadline::after(at.wait).poll(|| try_take(&path))?;
        let busy = || StoreError::Locked { name: at.name.to_owned(), holder: LockHolder::default() };
        Ok(MetaLock { _file: file.ok_or_else(busy)? })
    }
}

fn try_take(path: &Path) -> Result<Option<File>> {
    let file = open_private(path)?;
    Ok((try_exclusive(&file, path)? && names(path, &file)?).then_some(file))
}
