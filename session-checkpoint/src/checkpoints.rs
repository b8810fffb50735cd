//! The writer: one workspace, one store.

use crate::error::reading;
use crate::journal::Interrupted;
use crate::layout::Layout;
use crate::lock::StoreLock;
use crate::meta::{AbsPath, Identity, Meta};
use crate::objects::Objects;
use crate::options::Options;
use crate::reader::Reader;
use crate::refs::Refs;
use crate::remembered::{Hot, KnownHead};
use crate::rules::{Rules, TopRules, facts};
use crate::walk::Closed;
use crate::{Error, external, init, journal, workspace};
use std::collections::BTreeSet;
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

/// What opening a store found.
#[derive(Debug, Default)]
#[non_exhaustive]
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
