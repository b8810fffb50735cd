//! Changing metadata.

use super::merge::{copy_of, file_of, is_written};
use super::read::{Found, Look, MAX_BYTES, find, look_patiently};
use super::{MetaDamage, aside};
use crate::flock::{Deadline, names, try_exclusive};
use crate::{LockHolder, Result, SessionPaths, StoreError};
use session_core::{Limits, Meta, Timestamp};
use session_disk::{Durability, open_private, read_regular, remove_file, replace, replace_keeping};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// How often a change is written again because the reference wrote in between. What it writes later is merged next time.
const MAX_ROUNDS: u32 = 16;

/// How long a file that was replaced is given to become whole.
const UNFINISHED: Duration = Duration::from_secs(2);

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

/// Reads the metadata, lets `change` change it, and replaces both files; nothing is written when nothing changes. What
/// the reference writes in between is merged.
///
/// On disk when it returns: both files, synced as the durability says, and a file that could not be read as
/// `meta.json.bad-<time>`. After an error each of the two is old or new, never a part of either.
///
/// # Errors
/// [`StoreError::Locked`] where another process stays in an update; the step that failed otherwise. What `change`
/// returns as an error, and then nothing is written.
pub(crate) fn update(at: &Update<'_>, change: impl FnOnce(&mut Meta) -> Result<()>) -> Result<Meta> {
    let _lock = hold(at.paths, at.name, at.wait)?;
    let found = find(at.paths, at.name, at.limits, None)?;
    let mut meta = found.reading.meta.clone();
    change(&mut meta)?;
    let mut missed = at.write(&found, &meta)?;
    for _ in 0..MAX_ROUNDS {
        let Some(theirs) = missed else { break };
        let found = find(at.paths, at.name, at.limits, Some(&theirs))?;
        meta.clone_from(&found.reading.meta);
        missed = at.write(&found, &meta)?;
    }
    Ok(meta)
}

impl Update<'_> {
    /// Writes both files, ours first: if only it is written, the other one's values are known to be old. Gives what
    /// somebody wrote to `meta.json` since it was read.
    fn write(&self, found: &Found, meta: &Meta) -> Result<Option<Meta>> {
        if is_written(found.file.as_ref(), found.copy.as_ref(), meta) {
            return Ok(None);
        }
        let path = self.paths.meta();
        // What the reference wrote is remembered wherever it was seen: a value that it keeps saving must not be forgotten.
        let sources = [found.copy.as_ref(), found.missed.as_ref(), found.file.as_ref(), Some(&found.reading.meta)];
        let earlier: Vec<&Meta> = sources.into_iter().flatten().collect();
        let copy = copy_of(meta, found.copy.as_ref(), &earlier);
        if found.copy_is_bad {
            aside::keep(&self.paths.meta_copy(), self.now)?;
        }
        replace(&self.paths.meta_copy(), &copy.to_json(), self.durability)?;
        match &found.reading.damage {
            Some(MetaDamage::Content(_) | MetaDamage::Unreadable { .. }) => aside::keep(&path, self.now)?,
            Some(MetaDamage::Empty) | None => {}
        }
        let Some(replaced) = replace_keeping(&path, &file_of(meta).to_json(), self.durability)? else {
            return Ok(None);
        };
        let missed = missed(&replaced, found);
        // All is written. What stays is a temporary file that nobody reads.
        drop(remove_file(&replaced));
        missed
    }
}

/// What stands in a file that was replaced, unless it is what was found in it. A writer may still be filling it.
fn missed(replaced: &Path, found: &Found) -> Result<Option<Meta>> {
    let bytes = read_regular(replaced, MAX_BYTES).ok().map(|(bytes, _)| bytes);
    if bytes.is_some() && bytes == found.bytes {
        return Ok(None);
    }
    // Nobody can open it by its name any more: who has truncated it is about to write, however busy the machine is.
    Deadline::after(UNFINISHED).poll(|| match look_patiently(replaced)?.0 {
        Look::Whole(meta) => Ok(Some(*meta)),
        Look::Missing | Look::Bad(_) => Ok(None),
    })
}

/// The lock of one session's metadata: `.meta.lock`. It is held for the time of one update and never removed by us.
///
/// The session's own lock is held for a turn; who only sets a title does not wait for that. The metadata files cannot
/// carry the lock themselves, since each update replaces them.
pub(crate) struct MetaLock {
    _file: File,
}

/// Keeps every update of ours from the metadata until it is dropped.
pub(crate) fn hold(paths: &SessionPaths, name: &str, wait: Duration) -> Result<MetaLock> {
    let path = paths.meta_lock();
    let file = Deadline::after(wait).poll(|| try_take(&path))?;
    let busy = || StoreError::Locked { name: name.to_owned(), holder: LockHolder::default() };
    Ok(MetaLock { _file: file.ok_or_else(busy)? })
}

fn try_take(path: &Path) -> Result<Option<File>> {
    let file = open_private(path)?;
    Ok((try_exclusive(&file, path)? && names(path, &file)?).then_some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_only_seen_in_replaced_files_is_not_forgotten() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        let at = Update {
            paths: &paths,
            name: "demo",
            limits: Limits::default(),
            durability: Durability::Os,
            now: Timestamp::default(),
            wait: Duration::from_secs(60),
        };
        let remembered = Meta { name: "demo".into(), model: "old".into(), ..Meta::default() };
        replace(&paths.meta(), &remembered.to_json(), Durability::Os).expect("it can be written");
        // More changes than values are remembered, and each time the reference's save is met only after the swap.
        let find = |missed: Option<&Meta>| find(&paths, "demo", Limits::default(), missed).expect("it can be read");
        for round in 1..=100 {
            let found = find(None);
            let changed = Meta { model: round.to_string(), cost: f64::from(round), ..found.reading.meta.clone() };
            at.write(&found, &changed).expect("it can be written");
            let news = Meta { summary: format!("save {round}"), ..remembered.clone() };
            let found = find(Some(&news));
            assert_eq!(found.reading.meta.model, round.to_string(), "what the reference remembers is not news");
            at.write(&found, &found.reading.meta).expect("it can be written");
        }
    }
}
