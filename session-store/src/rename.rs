//! Giving a session another name.
//!
//! The directory is renamed, in one step; then whoever names the session as parent or successor is told, and last of all
//! its own metadata says the new name. So metadata that says the old name, of which there is no session, is a renaming
//! that was interrupted: repeating it does the rest.

use crate::chain::Member;
use crate::meta::Update;
use crate::paths::{flat_path, migrated_path};
use crate::processes::refuse_running;
use crate::{LockGuard, Result, SessionPaths, Store, StoreError, lock, meta};
use session_core::{Meta, SessionName};
use session_disk::rename_new;
use std::time::Duration;

/// How long an update of another session's metadata waits for those of other processes.
const UPDATE_WAIT: Duration = Duration::from_secs(10);

/// A renaming that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// The new name.
    pub name: SessionName,
    /// The sessions that named it, as their parent or successor, and name it anew.
    pub told: Vec<SessionName>,
    /// Whether an interrupted renaming was ended.
    pub resumed: bool,
}

/// A session that names the one that is renamed.
struct Relation {
    name: SessionName,
    paths: SessionPaths,
    is_parent: bool,
    /// Held while its successor is changed.
    lock: Option<LockGuard>,
}

impl Store {
    /// Gives a session another name. Sessions that name it as their parent or successor follow. It is refused while a turn
    /// or a background process of the session runs, since both know its directory by its name.
    ///
    /// Repeating one that was interrupted does the rest.
    ///
    /// On disk when it returns: the session under its new name, and the metadata of those that name it, synced as the
    /// durability says. After an error it stands under one of the two names, whole.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Exists`] where the new name is taken; [`StoreError::LiveTurn`],
    /// [`StoreError::Running`]; [`StoreError::Locked`] where the session, or one that it goes on with, is locked; the step
    /// that failed.
    pub fn rename(&self, old: &SessionName, new: &SessionName) -> Result<Renamed> {
        if self.is_half_renamed(old, new)? {
            let _own = lock::acquire(&self.existing(new)?, new.as_str(), self.options().wait)?;
            let relations = self.relations(old)?;
            return self.tell(old, new, relations, true);
        }
        let paths = self.ready(old)?;
        self.refuse_taken(new)?;
        let acquire = || lock::acquire(&paths, old.as_str(), self.options().wait);
        let own = lock::unless(|| refuse_running(&paths, old), acquire)?;
        self.refuse_flat(old)?;
        let relations = self.relations(old)?;
        own.check()?;
        let target = self.paths(new)?;
        rename_new(paths.dir(), target.dir()).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::Exists { name: new.clone() },
            _ => StoreError::Disk(error),
        })?;
        self.sync_base()?;
        self.tell(old, new, relations, false)
    }

    /// Whether only a part of this renaming was done.
    fn is_half_renamed(&self, old: &SessionName, new: &SessionName) -> Result<bool> {
        let stands = self.paths(old)?.dir().is_dir() || self.flat_path(old).symlink_metadata().is_ok();
        if stands || !self.paths(new)?.dir().is_dir() {
            return Ok(false);
        }
        Ok(self.read_meta(new)?.meta.name == old.as_str())
    }

    /// Refuses a name that something stands under, be it a flat file that was migrated.
    pub(crate) fn refuse_taken(&self, name: &SessionName) -> Result<()> {
        let (flat, migrated) = (self.flat_path(name), migrated_path(self.base_dir(), name.as_str().as_ref()));
        let taken = [self.paths(name)?.dir().to_owned(), flat, migrated];
        match taken.iter().any(|path| path.symlink_metadata().is_ok()) {
            true => Err(StoreError::Exists { name: name.clone() }),
            false => Ok(()),
        }
    }

    /// A flat file that still stands would be a session of the old name. Opening it again finishes its migration, as soon
    /// as nobody can be at work on it any more.
    fn refuse_flat(&self, name: &SessionName) -> Result<()> {
        self.ready(name)?;
        let path = flat_path(self.base_dir(), name.as_str().as_ref());
        if path.symlink_metadata().is_ok() { Err(StoreError::MigrationUnsettled { path }) } else { Ok(()) }
    }

    /// The sessions that name one, those whose link is a successor's locked.
    fn relations(&self, named: &SessionName) -> Result<Vec<Relation>> {
        let mut relations = Vec::new();
        for name in self.names()? {
            let Ok(paths) = self.existing(&name) else { continue };
            let meta = meta::read(&paths, name.as_str(), self.options().limits)?.meta;
            let (is_child, is_parent) = (meta.parent == named.as_str(), meta.succeeded_by == named.as_str());
            if is_child || is_parent {
                let lock = if is_parent && name != *named {
                    Some(lock::acquire(&paths, name.as_str(), self.options().wait)?)
                } else {
                    None
                };
                relations.push(Relation { name, paths, is_parent, lock });
            }
        }
        Ok(relations)
    }

    /// Tells everybody, the session itself last.
    fn tell(&self, old: &SessionName, new: &SessionName, relations: Vec<Relation>, resumed: bool) -> Result<Renamed> {
        let mut renamed = Renamed { name: new.clone(), told: Vec::new(), resumed };
        let follow = |link: &mut String| {
            if link == old.as_str() {
                new.as_str().clone_into(link);
            }
        };
        for relation in relations {
            // One that names itself has moved along.
            let (name, paths) = match relation.name == *old {
                true => (new.clone(), self.paths(new)?),
                false => (relation.name, relation.paths),
            };
            self.change_meta(&name, &paths, |meta| {
                follow(&mut meta.parent);
                follow(&mut meta.succeeded_by);
            })?;
            if relation.is_parent {
                let member = Member { name: name.clone(), paths, dangling: None };
                self.session(member)?.tell_successor(new)?;
            }
            if let Some(lock) = relation.lock {
                lock.release()?;
            }
            renamed.told.push(name);
        }
        let migrated = |name: &SessionName| migrated_path(self.base_dir(), name.as_str().as_ref());
        if migrated(old).symlink_metadata().is_ok() {
            rename_new(&migrated(old), &migrated(new))?;
        }
        self.change_meta(new, &self.existing(new)?, |meta| new.as_str().clone_into(&mut meta.name))?;
        self.sync_base()?;
        Ok(renamed)
    }

    fn change_meta(&self, name: &SessionName, paths: &SessionPaths, change: impl FnOnce(&mut Meta)) -> Result<()> {
        let update = Update {
            paths,
            name: name.as_str(),
            limits: self.options().limits,
            durability: self.options().durability,
            now: self.clock().utc(),
            wait: UPDATE_WAIT,
        };
        meta::update(&update, |meta| {
            change(meta);
            Ok(())
        })
        .map(drop)
    }

    fn sync_base(&self) -> Result<()> {
        Ok(self.options().durability.sync_dir(self.base_dir())?)
    }
}
