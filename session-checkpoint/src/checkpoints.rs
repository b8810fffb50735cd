//! The writer: one workspace, one store.

use crate::cache::Cache;
use crate::error::reading;
use crate::head::KnownHead;
use crate::layout::Layout;
use crate::lock::StoreLock;
use crate::meta::{AbsPath, Identity, Meta};
use crate::objects::Objects;
use crate::options::Options;
use crate::pack::PackSet;
use crate::reader::{Interrupted, Reader};
use crate::refs::Refs;
use crate::rules::{Rules, TopRules, facts};
use crate::walk::Closed;
use crate::{Error, external, init, journal, workspace};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The checkpoints of one workspace, for writing.
///
/// It holds no lock between calls: each call takes the store's, waits for it no longer than
/// [`Options::lock_timeout`], and gives it back. Other processes may work on the same store in between.
#[derive(Debug)]
pub struct Checkpoints {
    pub(crate) options: Options,
    pub(crate) layout: Layout,
    /// The workspace's real path.
    pub(crate) workspace: PathBuf,
    pub(crate) hot: Option<Hot>,
    /// The head as this process made it.
    pub(crate) head: Option<KnownHead>,
}

/// The stat cache in memory, and which file it is.
#[derive(Debug)]
pub(crate) struct Hot {
    pub(crate) cache: Cache,
    pub(crate) file: Option<FileId>,
}

/// Inode, modification time and length of a file: another one after each replacement.
pub(crate) type FileId = (u64, i64, i64, u64);

/// What opening a store found.
#[derive(Debug, Default)]
pub struct OpenReport {
    /// The store was made.
    pub created: bool,
    /// Temporary files of dead writers, removed.
    pub swept: Vec<PathBuf>,
    /// Packs that are damaged, moved into `damaged/` so that what they held can be stored anew.
    pub set_aside: Vec<PathBuf>,
    /// A restore that did not end. It must be resumed or undone before another one.
    pub interrupted: Option<Interrupted>,
    /// The directory at the workspace's path is not the one that the checkpoints were taken of: restoring is refused
    /// until [`Checkpoints::adopt_workspace`] says that it is meant.
    pub other_workspace: bool,
}

/// A store that is locked for one call, with what the call needs of it.
pub(crate) struct Locked {
    pub(crate) meta: Meta,
    /// Whether `meta` should be written at the next occasion.
    pub(crate) meta_changed: bool,
    pub(crate) packs: PackSet,
    pub(crate) objects: Objects,
    pub(crate) refs: Refs,
    pub(crate) set_aside: Vec<PathBuf>,
    /// `None` for calls that only look.
    pub(crate) _lock: Option<StoreLock>,
}

impl Checkpoints {
    /// Opens the checkpoints of a workspace, and makes the store where there is none. On disk when it returns: the
    /// store, without temporary files of dead writers.
    ///
    /// # Errors
    /// [`Error::RefusedWorkspace`] for `/`, a home directory, a directory above one, a directory for temporary files and
    /// the store itself; [`Error::ForeignStore`]; [`Error::NewerFormat`]; [`Error::Busy`]; and failed operations.
    pub fn open(options: Options) -> Result<(Self, OpenReport), Error> {
        let store = std::path::absolute(&options.store).map_err(reading(&options.store))?;
        let existing = store.canonicalize().unwrap_or_else(|_| store.clone());
        let workspace = workspace::checked(&options, &existing)?;
        Checkpoints::open_at(options, &store, workspace)
    }

    /// Opens the checkpoints of a store whose workspace need not be there any more: for pinning and housekeeping. On
    /// disk when it returns: the store, without temporary files of dead writers.
    ///
    /// # Errors
    /// [`Error::NoStore`] where there is none; otherwise as [`Checkpoints::open`].
    pub fn open_store(store: &Path) -> Result<(Self, OpenReport), Error> {
        let workspace = Reader::open(store)?.status()?.workspace;
        let store = std::path::absolute(store).map_err(reading(store))?;
        Checkpoints::open_at(Options::new(&workspace, &store), &store, workspace)
    }

    fn open_at(options: Options, store: &Path, workspace: PathBuf) -> Result<(Self, OpenReport), Error> {
        let created = !store.join(crate::layout::MARKER).exists();
        session_disk::create_dir_all(store)?;
        init::check_owner(store)?;
        let layout = Layout::new(&store.canonicalize().map_err(reading(store))?);
        let lock = StoreLock::take(&layout, options.lock_timeout)?;
        let meta = Meta::read(&layout);
        // An unreadable meta file says less than the repository does: it is kept aside and made anew.
        let meta = match meta {
            Err(Error::Damaged { path }) => {
                session_disk::rename(&path, &path.with_extension("json.bad"))?;
                None
            }
            other => other?,
        };
        init::repository(&layout)?;
        let meta = match meta {
            Some(meta) => meta,
            None => {
                let meta = Meta::new(Identity::of(&workspace)?);
                meta.write(&layout)?;
                meta
            }
        };
        let swept = init::sweep(&layout)?;
        init::mend_head(&Refs::of(&layout), &Objects::open(&layout.objects())?)?;
        drop(lock);
        let mut checkpoints = Checkpoints { options, layout, workspace, hot: None, head: None };
        let set_aside = checkpoints.begin()?.set_aside;
        let is_same = Identity::of(&checkpoints.workspace).is_ok_and(|identity| meta.workspace.is_same(&identity));
        let report = OpenReport {
            created,
            swept,
            set_aside,
            interrupted: checkpoints.find_interrupted()?,
            other_workspace: !is_same,
        };
        Ok((checkpoints, report))
    }

    /// The same checkpoints for reading.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn reader(&self) -> Result<Reader, Error> {
        Reader::open(&self.layout.store)
    }

    /// The options it was opened with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Says that the directory at the workspace's path is meant, although the checkpoints were taken of another one: a
    /// project that moved, a checkout made anew. On disk when it returns: its identity, synced.
    ///
    /// # Errors
    /// [`Error::Busy`] and failed operations.
    pub fn adopt_workspace(&mut self) -> Result<(), Error> {
        let mut locked = self.begin()?;
        locked.meta.workspace = Identity::of(&self.workspace)?;
        locked.meta.write(&self.layout)
    }

    /// Tracks a file outside the workspace from the next snapshot on. It need not exist yet. Gives the path as it is
    /// tracked, with the links in its directory resolved. On disk when it returns: the registration, synced.
    ///
    /// # Errors
    /// [`Error::NotExternal`] says why a path cannot be tracked; [`Error::Busy`] and failed operations.
    pub fn track_external(&mut self, path: &Path) -> Result<PathBuf, Error> {
        let real = external::checked(path, &self.workspace, &self.layout.store)?;
        let mut locked = self.begin()?;
        if locked.meta.externals.insert(AbsPath::new(&real)) {
            locked.meta.write(&self.layout)?;
        }
        Ok(real)
    }

    /// Tracks an external file no longer; false where it was not tracked. Turns that hold it keep it. On disk when it
    /// returns: the registration, synced.
    ///
    /// # Errors
    /// [`Error::Busy`] and failed operations.
    pub fn untrack_external(&mut self, path: &Path) -> Result<bool, Error> {
        let real = external::checked(path, &self.workspace, &self.layout.store).unwrap_or_else(|_| path.to_owned());
        let mut locked = self.begin()?;
        let was = locked.meta.externals.remove(&AbsPath::new(&real));
        if was {
            locked.meta.write(&self.layout)?;
        }
        Ok(was)
    }

    /// Protects a turn from being dropped. On disk when it returns: the mark, synced.
    ///
    /// # Errors
    /// [`Error::NoTurn`] where there is none of this number; [`Error::Busy`] and failed operations.
    pub fn pin(&mut self, turn: u32) -> Result<(), Error> {
        let mut locked = self.begin()?;
        if !locked.refs.list(crate::refs::Family::Turn)?.contains_key(&turn) {
            return Err(Error::NoTurn { turn: format!("turn-{turn}") });
        }
        locked.meta.pinned.insert(turn);
        locked.meta.write(&self.layout)
    }

    /// Takes the protection back; false where there was none. On disk when it returns: that, synced.
    ///
    /// # Errors
    /// [`Error::Busy`] and failed operations.
    pub fn unpin(&mut self, turn: u32) -> Result<bool, Error> {
        let mut locked = self.begin()?;
        let was = locked.meta.pinned.remove(&turn);
        locked.meta.write(&self.layout)?;
        Ok(was)
    }

    /// Takes the lock and sees what there is. A cache that does not fit what there is is dropped; packs that changed
    /// under us are checked, and damaged ones set aside.
    pub(crate) fn begin(&mut self) -> Result<Locked, Error> {
        let lock = StoreLock::take(&self.layout, self.options.lock_timeout)?;
        let meta = Meta::read(&self.layout)?.ok_or_else(|| Error::NoStore { path: self.layout.store.clone() })?;
        let mut packs = PackSet::read(&self.layout.packs())?;
        self.warm()?;
        let mut set_aside = Vec::new();
        if self.hot.as_ref().is_none_or(|hot| hot.cache.header().packs != packs.fingerprint) {
            self.hot = None;
            set_aside = self.set_aside_damaged(&packs)?;
            if !set_aside.is_empty() {
                packs = PackSet::read(&self.layout.packs())?;
            }
        }
        let objects = Objects::open(&self.layout.objects())?;
        let refs = Refs::of(&self.layout);
        Ok(Locked { meta, meta_changed: false, packs, objects, refs, set_aside, _lock: Some(lock) })
    }

    /// Sees to it that the cache in memory is the one in the file, if that one is to be believed.
    pub(crate) fn warm(&mut self) -> Result<(), Error> {
        let path = self.layout.stat_cache();
        let file = file_id(&path);
        if file.is_some() && self.hot.as_ref().is_some_and(|hot| hot.file == file) {
            return Ok(());
        }
        self.hot = None;
        let Ok(bytes) = fs::read(&path) else { return Ok(()) };
        // Without a workspace there is nothing that the cache could be of.
        let Ok(identity) = Identity::of(&self.workspace) else { return Ok(()) };
        let rules = self.rules().key();
        self.hot = Cache::parse(bytes)
            .filter(|cache| {
                let header = cache.header();
                (header.dev, header.ino) == (identity.dev, identity.ino)
                    && header.rules == rules
                    && (header.synced || header.boot == crate::clock::boot_id())
            })
            .map(|cache| Hot { cache, file });
        Ok(())
    }

    fn set_aside_damaged(&self, packs: &PackSet) -> Result<Vec<PathBuf>, Error> {
        let mut moved = Vec::new();
        for pack in packs.packs.iter().filter(|pack| pack.check().is_err()) {
            let dir = self.layout.damaged();
            session_disk::create_dir_all(&dir)?;
            for (path, ending) in [(pack.index_path(), "idx"), (pack.pack_path(), "pack")] {
                let to = dir.join(format!("{}.{ending}", pack.name));
                if path.exists() {
                    session_disk::rename(&path, &to)?;
                    moved.push(to);
                }
            }
        }
        Ok(moved)
    }

    /// The journal of a restore that did not end. One that does not read is kept aside: the safety snapshot that it
    /// would name is in the store.
    fn find_interrupted(&self) -> Result<Option<Interrupted>, Error> {
        match journal::read(&self.layout) {
            Err(Error::Damaged { path }) => {
                session_disk::rename(&path, &path.with_extension("journal.bad"))?;
                Ok(None)
            }
            other => Ok(other?.map(|journal| journal.told())),
        }
    }

    /// The rules at the top of the workspace.
    pub(crate) fn rules(&self) -> Arc<Rules> {
        Rules::top(TopRules::new(&facts(&self.options)))
    }

    /// The directories that a walk never enters.
    pub(crate) fn closed(&self) -> Vec<Closed> {
        closed(&self.options, &self.layout)
    }

    /// Every external file that is tracked now, and those of a checkpoint that is to be restored.
    pub(crate) fn externals(meta: &Meta, more: impl IntoIterator<Item = Vec<u8>>) -> BTreeSet<AbsPath> {
        meta.externals.iter().cloned().chain(more.into_iter().map(AbsPath)).collect()
    }
}

pub(crate) fn closed(options: &Options, layout: &Layout) -> Vec<Closed> {
    std::iter::once(&layout.store).chain(&options.exclude_dirs).filter_map(|path| Closed::at(path)).collect()
}

/// Which file stands at a path; `None` where there is none.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len()))
}
