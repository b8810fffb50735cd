//! Migrating a flat file, beside others that may be doing the same.
//!
//! Ours exclude each other by a lock on the flat file. The reference knows no lock: it may have looked before we made
//! the history, and then truncates it and writes it again, or leaves it empty where the flat file has vanished
//! meanwhile. So the history is complete from the moment it has its name (it is built elsewhere and linked in), the flat
//! file stays, and nobody appends before a pause has passed and both still say the same. The flat file is renamed when
//! the session is opened again.

use super::{Relation, compare, convert, flat_path, migrated_path, with_suffix};
use crate::flock::{Deadline, Inode, names, try_exclusive};
use crate::transcript::Transcript;
use crate::{LockHolder, Options, Result, SessionPaths, StoreError};
use session_core::{SessionName, layout};
use session_disk::{
    DiskError, Durability, create_dir, create_dir_all, create_new, hard_link, open_append, remove_file, rename,
    rename_new, sync_data, sync_dir, temp_name, write,
};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// How long the reference is given to finish what it may have begun before us.
const PAUSE: Duration = Duration::from_millis(50);
/// How often a history that somebody is still writing is looked at: four seconds.
const LOOKS: usize = 80;
/// How long one of ours is waited for that migrates the same file.
const LOCK_WAIT: Duration = Duration::from_secs(5);
/// A flat file is renamed when its history is at least so old: who began to migrate it before us is done by then.
const RENAME_AGE: Duration = Duration::from_secs(2);
/// Names to try for a migrated file.
const MIGRATED_NAMES: usize = 100;

/// What opening a session did about its flat file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Migration {
    /// There was nothing to do.
    None,
    /// The session's history was made from the flat file, or completed. The flat file still stands.
    Migrated,
    /// The flat file of an earlier migration was renamed to this.
    Renamed(PathBuf),
    /// The directory holds another conversation; the flat file was left alone.
    Shadowed,
}

/// Does what opening a session has to do about its flat file. Repeating it changes nothing more.
///
/// On disk when it returns: the history, whole and synced as the options say, unless [`Migration::Shadowed`] or
/// [`Migration::None`]. After an error the flat file stands and holds everything.
///
/// # Errors
/// [`StoreError::Locked`] where another process of ours is migrating the file and does not come to an end,
/// [`StoreError::MigrationUnsettled`] where somebody keeps rewriting the history, or what the disk says.
pub(crate) fn migrate(base: &Path, name: &SessionName, options: &Options) -> Result<Migration> {
    Migrating { base, name, options, history: SessionPaths::new(base.join(name)).history() }.run()
}

struct Migrating<'a> {
    base: &'a Path,
    name: &'a SessionName,
    options: &'a Options,
    history: PathBuf,
}

/// A history that has been seen incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    inode: Inode,
    len: u64,
}

impl Migrating<'_> {
    fn run(&self) -> Result<Migration> {
        let mut changed = false;
        let mut seen = None;
        if !self.may_have_work() {
            return Ok(Migration::None);
        }
        for _ in 0..LOOKS {
            let history = Transcript::open(&self.history)?;
            let flat = match self.source(history.as_ref(), changed) {
                // A link, or a file of somebody else's, beside a session that does not need it.
                Err(_) if history.is_some() => None,
                flat => flat?,
            };
            let Some(flat) = flat else {
                return Ok(if changed { Migration::Migrated } else { Migration::None });
            };
            // Held until the end of this look; the next one asks anew.
            if !self.lock(&flat)? {
                continue;
            }
            let Some(history) = history else {
                self.make(&flat)?;
                changed = true;
                thread::sleep(PAUSE);
                continue;
            };
            match compare(&history, &flat, self.options.limits)? {
                Relation::Different => return Ok(Migration::Shadowed),
                Relation::Complete if changed => return Ok(Migration::Migrated),
                Relation::Complete => return self.finish(&flat, &history),
                Relation::Interrupted { held } => {
                    let shape = Some(Shape { inode: Inode::of(history.opened()), len: history.len() });
                    // Twice the same: nobody is writing it.
                    if seen == shape {
                        self.complete(&flat, &history, held)?;
                        changed = true;
                    }
                    seen = shape;
                    thread::sleep(PAUSE);
                }
            }
        }
        Err(StoreError::MigrationUnsettled { path: self.history.clone() })
    }

    /// Two looks that spare nearly every opening all the rest.
    fn may_have_work(&self) -> bool {
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        is_there(&flat_path(self.base, self.name.as_str().as_ref()))
            || self.history.symlink_metadata().is_ok_and(|history| history.len() == 0)
    }

    /// The flat file. Where it is gone in the middle of our own migration, or the history is empty, the reference has
    /// renamed it, and what it renamed is as good.
    fn source(&self, history: Option<&Transcript>, changed: bool) -> Result<Option<Transcript>> {
        let name = self.name.as_str().as_ref();
        match Transcript::open(&flat_path(self.base, name))? {
            None if changed || history.is_some_and(|history| history.len() == 0) => {
                Transcript::open(&migrated_path(self.base, name))
            }
            flat => Ok(flat),
        }
    }

    /// Excludes other processes of ours for as long as `flat` is open. False where the file has another name now.
    fn lock(&self, flat: &Transcript) -> Result<bool> {
        let locked = Deadline::after(LOCK_WAIT).poll(|| Ok(try_exclusive(flat.file(), flat.path())?.then_some(())))?;
        if locked.is_none() {
            return Err(StoreError::Locked { name: self.name.to_string(), holder: LockHolder::default() });
        }
        names(flat.path(), flat.file())
    }

    /// Makes the history under its name, unless somebody else does at the same moment.
    fn make(&self, flat: &Transcript) -> Result<()> {
        let lines = convert::lines(flat, self.options.limits)?;
        let staged = self.stage(&lines.concat())?;
        let linked = self.link(&staged);
        remove_staged(&staged, linked)
    }

    fn link(&self, staged: &Path) -> Result<()> {
        let dir = self.base.join(self.name);
        match create_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !dir.symlink_metadata().map_err(StoreError::read(&dir))?.is_dir() {
                    return Err(StoreError::NotADirectory { path: dir });
                }
            }
            made => made?,
        }
        match hard_link(staged, &self.history) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            // A file system without hard links.
            Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
                rename_new(staged, &self.history)?;
            }
            linked => linked?,
        }
        self.sync(&dir)?;
        self.sync(self.base)
    }

    /// Adds what the history lacks. Nobody has written to it for a pause.
    fn complete(&self, flat: &Transcript, history: &Transcript, held: usize) -> Result<()> {
        let lines = convert::lines(flat, self.options.limits)?;
        let whole = lines.concat();
        let Some(is_prefix) = is_prefix(history, &whole)? else { return Ok(()) };
        if !is_prefix {
            // It says more than the flat file does: notices, or messages that another program wrote in its own way.
            let rest = lines.get(held..).unwrap_or_default().concat();
            return self.append(rest);
        }
        let staged = self.stage(&whole)?;
        let put = self.exchange(&staged, history);
        remove_staged(&staged, put)
    }

    fn append(&self, lines: Vec<u8>) -> Result<()> {
        let file = open_append(&self.history)?;
        if !try_exclusive(&file, &self.history)? || !names(&self.history, &file)? {
            return Ok(());
        }
        // What has no newline at its end is torn, and stays a line of its own.
        let mut bytes = Vec::from(*b"\n");
        bytes.extend(lines);
        write(&file, &self.history, &bytes).map_err(DiskError::from)?;
        match self.options.durability {
            Durability::Os => Ok(()),
            Durability::Data => Ok(sync_data(&file, &self.history)?),
        }
    }

    /// Puts the whole history where the incomplete one is, if that still is what was looked at.
    fn exchange(&self, staged: &Path, history: &Transcript) -> Result<()> {
        // Our own writers hold this lock, and look at the inode once they have it.
        if !try_exclusive(history.file(), &self.history)? || !names(&self.history, history.file())? {
            return Ok(());
        }
        let now = history.file().metadata().map_err(history.failed())?;
        if now.len() != history.opened().len() {
            return Ok(());
        }
        rename(staged, &self.history)?;
        self.sync(&self.base.join(self.name))
    }

    /// Renames the flat file of a migration that is complete. Whoever migrated it, its history is on the disk first.
    fn finish(&self, flat: &Transcript, history: &Transcript) -> Result<Migration> {
        // A file system that does not keep the time of creation gives no reason to wait.
        let age = history.opened().created().ok().and_then(|made| SystemTime::now().duration_since(made).ok());
        if age.is_some_and(|age| age < RENAME_AGE) || flat.path() != flat_path(self.base, self.name.as_str().as_ref()) {
            return Ok(Migration::None);
        }
        if self.options.durability == Durability::Data {
            sync_data(history.file(), &self.history)?;
        }
        self.sync(&self.base.join(self.name))?;
        let first = migrated_path(self.base, self.name.as_str().as_ref());
        for number in 1..=MIGRATED_NAMES {
            let target = match number {
                1 => first.clone(),
                n => PathBuf::from(with_suffix(first.as_os_str(), &format!(".{n}"))),
            };
            match rename_new(flat.path(), &target) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The reference, or another of ours, was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Migration::None),
                renamed => {
                    renamed?;
                    self.sync(self.base)?;
                    return Ok(Migration::Renamed(target));
                }
            }
        }
        // The flat file may stay for ever: nothing depends on its being renamed.
        Ok(Migration::None)
    }

    fn stage(&self, bytes: &[u8]) -> Result<PathBuf> {
        let staging = self.base.join(layout::STORE).join(layout::STAGING);
        create_dir_all(&staging)?;
        let staged = temp_name(&staging.join(self.name));
        let file = create_new(&staged)?;
        let filled =
            write(&file, &staged, bytes).map_err(DiskError::from).and_then(|()| match self.options.durability {
                Durability::Os => Ok(()),
                Durability::Data => sync_data(&file, &staged),
            });
        match filled {
            Ok(()) => Ok(staged),
            Err(error) => {
                // The first error is the one to tell; what is left in staging may be removed at any time.
                drop(remove_file(&staged));
                Err(error.into())
            }
        }
    }

    fn sync(&self, dir: &Path) -> Result<()> {
        match self.options.durability {
            Durability::Os => Ok(()),
            Durability::Data => Ok(sync_dir(dir)?),
        }
    }
}

/// Removes the name in staging. Where that is all that fails, the work is done.
fn remove_staged(staged: &Path, done: Result<()>) -> Result<()> {
    // It may be gone: a rename took it. What is left in staging may be removed at any time.
    drop(remove_file(staged));
    done
}

/// Whether the history is nothing but the beginning of `whole`. `None` where it was cut meanwhile: the next look sees what
/// it is now.
fn is_prefix(history: &Transcript, whole: &[u8]) -> Result<Option<bool>> {
    let len = usize::try_from(history.opened().len()).unwrap_or(usize::MAX);
    let Some(start) = whole.get(..len) else { return Ok(Some(false)) };
    let mut bytes = vec![0; len];
    match history.file().read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Some(bytes == start)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(history.failed()(error)),
    }
}
