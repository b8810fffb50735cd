//! Migrating a flat file, beside others that may be doing the same.
//!
//! Ours exclude each other by a lock on the flat file. The reference knows no lock: it may have looked before we made
//! the history, and then truncates it and writes it again, or leaves it empty where the flat file has vanished
//! meanwhile. So the history is complete from the moment it has its name (it is built elsewhere and linked in), the flat
//! file stays, and nobody appends before a pause has passed and both still say the same. The flat file is renamed when
//! the session is opened again.

use super::place::{exchange, is_prefix, link, rename_away, stage, unstage};
use super::{Relation, compare, convert};
use crate::flock::{Deadline, Inode, names, try_exclusive};
use crate::paths::{flat_path, migrated_path};
use crate::{History, HistoryView, LockHolder, LongLines, Options, Result, SessionPaths, StoreError};
use session_core::SessionName;
use std::fs::{File, Metadata};
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
pub(crate) const RENAME_AGE: Duration = Duration::from_secs(2);

/// Does what opening a session has to do about its flat file. Repeating it changes nothing more.
///
/// On disk when it returns: the history, whole and synced as the options say, if the flat file was the session. It was
/// renamed where it had been migrated before. After an error it stands and holds everything.
///
/// # Errors
/// [`StoreError::Locked`] where another process of ours is migrating the file and does not come to an end,
/// [`StoreError::MigrationUnsettled`] where somebody keeps rewriting the history, or what the disk says.
pub(crate) fn migrate(base: &Path, name: &SessionName, options: &Options) -> Result<()> {
    let paths = SessionPaths::new(base.join(name));
    let migrating = Migrating { base, name, options, history: paths.history(), paths };
    if migrating.may_have_work() { migrating.run() } else { Ok(()) }
}

struct Migrating<'a> {
    base: &'a Path,
    name: &'a SessionName,
    options: &'a Options,
    paths: SessionPaths,
    history: PathBuf,
}

impl Migrating<'_> {
    /// Two looks that spare nearly every opening all the rest.
    fn may_have_work(&self) -> bool {
        self.flat_path().symlink_metadata().is_ok() || self.history_len() == Some(0)
    }

    /// The size of the history, if there is one.
    fn history_len(&self) -> Option<u64> {
        self.history.symlink_metadata().ok().map(|metadata| metadata.len())
    }

    fn flat_path(&self) -> PathBuf {
        flat_path(self.base, self.name.as_str().as_ref())
    }

    fn run(&self) -> Result<()> {
        let mut changed = false;
        let mut seen = None;
        for _ in 0..LOOKS {
            let flat = match self.source(changed) {
                // A link, or a file of somebody else's, beside a session that does not need it.
                Err(_) if self.history_len().is_some() => None,
                flat => flat?,
            };
            let Some(flat) = flat else { return Ok(()) };
            // Held until the end of this look; the next one asks anew. What was seen before it counts for nothing.
            if !self.lock(&flat)? {
                continue;
            }
            let Some(history) = HistoryView::at(&self.history, self.options.limits)? else {
                self.make(&flat)?;
                changed = true;
                thread::sleep(PAUSE);
                continue;
            };
            match compare(&history, &flat)? {
                Relation::Different => return Ok(()),
                Relation::Complete if changed => return Ok(()),
                // Who made it may have died before the pause was over.
                Relation::Complete if is_young(&history)? => {
                    changed = true;
                    thread::sleep(PAUSE);
                }
                Relation::Complete => return self.finish(&flat, &history),
                Relation::Interrupted { held } => {
                    let shape = Some((Inode::of(&metadata(&history)?), history.len_bytes()));
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

    /// The flat file. Where it is gone in the middle of our own migration, or the history is empty, the reference has
    /// renamed it, and what it renamed is as good.
    fn source(&self, changed: bool) -> Result<Option<HistoryView>> {
        match HistoryView::at(&self.flat_path(), self.options.limits)? {
            None if changed || self.history_len() == Some(0) => {
                HistoryView::at(&migrated_path(self.base, self.name.as_str().as_ref()), self.options.limits)
            }
            flat => Ok(flat),
        }
    }

    /// Excludes other processes of ours for as long as `flat` is open. False where the file has another name now.
    fn lock(&self, flat: &HistoryView) -> Result<bool> {
        let file = file(flat);
        let locked = Deadline::after(LOCK_WAIT).poll(|| Ok(try_exclusive(file, flat.path())?.then_some(())))?;
        if locked.is_none() {
            return Err(StoreError::Locked { name: self.name.to_string(), holder: LockHolder::default() });
        }
        names(flat.path(), file)
    }

    /// Makes the history under its name, unless somebody else does at the same moment.
    fn make(&self, flat: &HistoryView) -> Result<()> {
        let lines = convert::lines(&convert::events(flat)?);
        let staged = stage(self.base, self.name, &lines, self.options.durability)?;
        let linked = link(&staged, self.base, &self.paths, self.options.durability);
        unstage(&staged);
        linked
    }

    /// Adds what the history lacks. Nobody has written to it for a pause.
    fn complete(&self, flat: &HistoryView, history: &HistoryView, held: usize) -> Result<()> {
        let events = convert::events(flat)?;
        let lines = convert::lines(&events);
        let Some(is_prefix) = is_prefix(history, file(history), &lines)? else { return Ok(()) };
        if !is_prefix {
            // It says more than the flat file does: notices, or messages that another program wrote in its own way.
            let options = Options { long_lines: LongLines::Write, ..*self.options };
            let mut history = History::new(self.paths.clone(), self.name.as_str(), options);
            let rest = events.get(held..).unwrap_or_default();
            return history.append(rest, Vec::new).map(drop);
        }
        let staged = stage(self.base, self.name, &lines, self.options.durability)?;
        let put = exchange(&staged, history, file(history), &self.paths, self.options.durability);
        unstage(&staged);
        put
    }

    /// Renames the flat file of a migration that is complete.
    fn finish(&self, flat: &HistoryView, history: &HistoryView) -> Result<()> {
        if flat.path() != self.flat_path() {
            return Ok(());
        }
        let target = migrated_path(self.base, self.name.as_str().as_ref());
        rename_away(flat.path(), &target, &self.paths, file(history), self.options.durability)
    }
}

/// Whether somebody may still be at work on the history. A file system that does not keep the time of creation gives no
/// reason to think so.
fn is_young(history: &HistoryView) -> Result<bool> {
    let made = metadata(history)?.created().ok();
    let age = made.and_then(|made| SystemTime::now().duration_since(made).ok());
    Ok(age.is_some_and(|age| age < RENAME_AGE))
}

fn file(view: &HistoryView) -> &File {
    view.file().expect("a view that was opened at a path has a file")
}

fn metadata(view: &HistoryView) -> Result<Metadata> {
    view.told(file(view).metadata())
}
