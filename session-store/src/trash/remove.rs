//! Taking a session out of the store.

use super::entries::trash_dir;
use super::forms::{Part, look};
use super::record::Record;
use super::{TrashEntry, empty::remove_tree};
use crate::flock::Inode;
use crate::paths::staging_path;
use crate::{LockGuard, Options, Result, SessionPaths, StoreError, lock, processes};
use session_core::{SessionName, Timestamp, layout};
use session_disk::{create_dir, create_dir_all, remove_dir, remove_file, rename_new, replace};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Whether a session is deleted while its turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deletion {
    /// It is not: an error names the turn, or who holds the lock.
    #[default]
    Careful,
    /// It is. The process of the turn runs on.
    Forced,
}

/// Which session a name must still mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Whatever has the name. What it runs is stopped.
    Named,
    /// The directory, or the flat file, that was looked at, and nothing of it may run.
    Seen(Inode),
}

/// Moves a session into the trash.
pub(super) fn trash(
    base: &Path,
    name: &SessionName,
    why: &str,
    now: &Timestamp,
    (deletion, which): (Deletion, Which),
    options: &Options,
) -> Result<TrashEntry> {
    let doomed = Doomed::find(base, name, (deletion, which), options)?;
    let id = format!("{name}-{}-{:08x}", now.to_utc().format("%Y%m%dT%H%M%SZ"), rand::random::<u32>());
    let entry = trash_dir(base).join(&id);
    create_dir_all(&trash_dir(base))?;
    create_dir(&entry)?;
    let moved = replace(&entry.join(Record::FILE), &Record::new(name, now, why).to_json(), options.durability)
        .map_err(StoreError::from)
        .and_then(|()| doomed.move_into(&entry));
    if let Err(error) = moved {
        // Nothing of the session is in it, or removing the directory fails: what is there can be restored.
        if Part::ALL.iter().all(|part| matches!(look(&part.in_entry(&entry)), Ok(None))) {
            drop(remove_file(&entry.join(Record::FILE)));
            drop(remove_dir(&entry));
        }
        return Err(error);
    }
    sync(options, &[&entry, &trash_dir(base), base])?;
    Ok(TrashEntry { id, session: name.clone(), deleted: now.to_utc().fixed_offset(), why: why.to_owned(), path: entry })
}

/// Deletes a session for good.
pub(super) fn delete(base: &Path, name: &SessionName, deletion: Deletion, options: &Options) -> Result<()> {
    let doomed = Doomed::find(base, name, (deletion, Which::Named), options)?;
    let staging = staging_path(base);
    create_dir_all(&staging)?;
    let grave = staging.join(format!("{:032x}", rand::random::<u128>()));
    create_dir(&grave)?;
    if let Err(error) = doomed.move_into(&grave) {
        drop(remove_dir(&grave));
        return Err(error);
    }
    sync(options, &[&grave, base])?;
    // From here on the session is gone; what cannot be removed stays in staging.
    remove_tree(&grave)
}

fn sync(options: &Options, dirs: &[&Path]) -> Result<()> {
    Ok(dirs.iter().try_for_each(|dir| options.durability.sync_dir(dir))?)
}

/// A session that may be deleted: looked at, and locked.
struct Doomed<'a> {
    base: &'a Path,
    name: &'a SessionName,
    parts: Vec<(Part, Inode)>,
    /// Freed when the session has left its name.
    _lock: Option<LockGuard>,
}

impl<'a> Doomed<'a> {
    /// Looks at everything that has the session's name, and stops what it runs, if that is wanted.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotASession`], [`StoreError::LiveTurn`], [`StoreError::Locked`],
    /// [`StoreError::Survivors`], [`StoreError::LiveProcesses`]; [`StoreError::PruneChanged`], [`StoreError::Running`].
    fn find(
        base: &'a Path,
        name: &'a SessionName,
        (deletion, which): (Deletion, Which),
        options: &Options,
    ) -> Result<Self> {
        let mut parts = Vec::new();
        let mut held = None;
        for part in Part::ALL {
            let path = part.in_store(base, name);
            let Some(metadata) = look(&path)? else { continue };
            let right = match part {
                Part::Directory if metadata.is_dir() => {
                    held = guard(&path, name, &metadata, (deletion, which), options)?;
                    true
                }
                Part::Directory => metadata.is_symlink(),
                // A directory of that name is a session of its own.
                Part::Flat | Part::Migrated => !metadata.is_dir(),
            };
            if right {
                parts.push((part, Inode::of(&metadata)));
            }
        }
        if let Which::Seen(seen) = which
            && parts.iter().all(|(_, inode)| *inode != seen)
        {
            return Err(StoreError::PruneChanged { name: name.clone() });
        }
        // What is left of a session that was migrated is no session.
        if parts.iter().all(|(part, _)| *part == Part::Migrated) {
            return Err(StoreError::NotFound { name: name.to_string(), base: base.to_owned() });
        }
        Ok(Doomed { base, name, parts, _lock: held })
    }

    /// Moves every part into a directory, the session's own last, and makes sure that it was what had been looked at.
    /// After an error everything stands where it stood, as far as that is possible.
    fn move_into(&self, target: &Path) -> Result<()> {
        for (at, (part, inode)) in self.parts.iter().enumerate() {
            if let Err(error) = self.move_part(target, *part, *inode) {
                for (part, _) in self.parts[..at].iter().rev() {
                    // The first error is the one to tell; what does not go back is in the trash.
                    drop(rename_new(&part.in_entry(target), &part.in_store(self.base, self.name)));
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn move_part(&self, target: &Path, part: Part, inode: Inode) -> Result<()> {
        let (from, to) = (part.in_store(self.base, self.name), part.in_entry(target));
        rename_new(&from, &to)?;
        if look(&to)?.is_none_or(|moved| Inode::of(&moved) != inode) {
            // Another one has taken the name meanwhile: it goes back, and nobody has lost anything.
            rename_new(&to, &from)?;
            return Err(StoreError::Deleted { name: self.name.to_string(), path: from });
        }
        Ok(())
    }
}

/// Whether the directory may be deleted; its lock, unless that is forced open. On return nothing of it runs.
fn guard(
    dir: &Path,
    name: &SessionName,
    metadata: &Metadata,
    (deletion, which): (Deletion, Which),
    options: &Options,
) -> Result<Option<LockGuard>> {
    let paths = SessionPaths::new(dir);
    if let Which::Seen(seen) = which
        && Inode::of(metadata) != seen
    {
        return Err(StoreError::PruneChanged { name: name.clone() });
    }
    if !is_session(&paths)? {
        return Err(StoreError::NotASession { path: dir.to_owned() });
    }
    let acquire = || lock::acquire(&paths, name.as_str(), options.wait);
    let guard = match deletion {
        Deletion::Careful => Some(lock::unless(|| processes::refuse_turn(&paths, name.as_str()), acquire)?),
        Deletion::Forced => match acquire() {
            Err(StoreError::Locked { .. }) => None,
            guard => Some(guard?),
        },
    };
    match which {
        Which::Named => processes::stop_all(&paths, name.as_str())?,
        Which::Seen(_) => {
            let ids = processes::running(&paths)?;
            if !ids.is_empty() {
                return Err(StoreError::Running { name: name.to_string(), ids });
            }
        }
    }
    match look(dir)? {
        Some(now) if Inode::of(&now) == Inode::of(metadata) => Ok(guard),
        _ => Err(StoreError::Deleted { name: name.to_string(), path: dir.to_owned() }),
    }
}

/// Whether a directory has what makes a session: a history or metadata, or nothing but what stands in one.
fn is_session(paths: &SessionPaths) -> Result<bool> {
    let marks = [paths.history(), paths.meta(), paths.meta_copy()];
    if marks.iter().any(|path| path.symlink_metadata().is_ok()) {
        return Ok(true);
    }
    const PARTS: [&str; 4] = [layout::CHECKPOINTS, layout::PROC, layout::INBOX, layout::TMP];
    for entry in fs::read_dir(paths.dir()).map_err(StoreError::read(paths.dir()))? {
        let name: PathBuf = entry.map_err(StoreError::read(paths.dir()))?.file_name().into();
        let is_part = PARTS.iter().any(|part| name.as_os_str() == *part);
        if !is_part && !name.as_os_str().as_encoded_bytes().starts_with(b".") {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r02_a_directory_that_took_the_name_after_it_was_looked_at_is_not_the_one_to_be_deleted() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let base = dir.path();
        let name = SessionName::new("demo").expect("it is a name");
        let (place, elsewhere, target) = (base.join("demo"), base.join("elsewhere"), base.join("target"));
        for path in [&place, &elsewhere, &target] {
            fs::create_dir(path).expect("it is ours");
        }
        fs::write(place.join("history.jsonl"), "the one").expect("it is ours");
        fs::write(elsewhere.join("history.jsonl"), "its twin").expect("it is ours");

        let doomed = Doomed::find(base, &name, (Deletion::Careful, Which::Named), &Options::default())
            .expect("nothing forbids it");
        session_disk::exchange(&place, &elsewhere).expect("both exist");
        assert!(matches!(doomed.move_into(&target), Err(StoreError::Deleted { .. })));
        let twin = fs::read_to_string(place.join("history.jsonl")).expect("it is back");
        assert_eq!((twin.as_str(), fs::read_dir(&target).expect("it is ours").count()), ("its twin", 0));

        session_disk::exchange(&place, &elsewhere).expect("both exist");
        doomed.move_into(&target).expect("it is the one that was looked at");
        assert_eq!(fs::read_to_string(target.join("session/history.jsonl")).expect("it was moved"), "the one");
    }
}
