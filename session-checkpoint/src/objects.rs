//! Reading objects.
//!
//! The git library reads them, packed by us or repacked by stock git, and checks each one's hash while it does. It is
//! given the object directory alone: no repository is opened, so no configuration, environment, attribute or owner
//! check of anybody's can have a say.

use crate::error::reading;
use crate::oid::Kind;
use crate::pack::{Copies, PackSet};
use crate::{Error, Oid};
use git2::{ErrorCode, ObjectType, Odb};
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The objects of one repository.
pub(crate) struct Objects {
    dir: PathBuf,
    /// The directories as the library takes them.
    dirs: Vec<String>,
    /// Opened by the first read: a turn without changes needs none, and each pack costs some calls.
    odb: Mutex<Option<Odb<'static>>>,
    /// Looked at once an object is found damaged.
    packs: OnceLock<Vec<PackSet>>,
}

/// An error of the git library as one of the system's kind.
pub(crate) fn git_error(error: &git2::Error) -> io::Error {
    io::Error::other(error.message().to_owned())
}

impl Objects {
    /// The objects of a directory, for reading. It writes nothing.
    pub(crate) fn open(dir: &Path) -> Result<Self, Error> {
        Objects::open_with(dir, None)
    }

    /// The same with the objects of a second directory.
    pub(crate) fn open_with(dir: &Path, more: Option<&Path>) -> Result<Self, Error> {
        // The library takes a string. A path that is none cannot be given to it.
        let text = |dir: &Path| dir.to_str().map(str::to_owned);
        let dirs = iter::once(dir).chain(more).map(text).collect::<Option<_>>();
        let not_text = || reading(dir)(io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"));
        Ok(Objects {
            dir: dir.to_owned(),
            dirs: dirs.ok_or_else(not_text)?,
            odb: Mutex::default(),
            packs: OnceLock::new(),
        })
    }

    fn odb(&self) -> Result<Odb<'static>, git2::Error> {
        let odb = Odb::new()?;
        self.dirs.iter().try_for_each(|dir| odb.add_disk_alternate(dir))?;
        Ok(odb)
    }

    /// The directory that is read.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// An object's kind and content.
    pub(crate) fn read(&self, oid: Oid) -> Result<(Kind, Vec<u8>), Error> {
        let mut odb = self.odb.lock().unwrap_or_else(PoisonError::into_inner);
        let odb = match &mut *odb {
            Some(odb) => odb,
            none => none.insert(self.odb().map_err(|error| reading(&self.dir)(git_error(&error)))?),
        };
        let git_oid = git2::Oid::from_bytes(oid.as_bytes()).map_err(|_| self.damaged(oid))?;
        let object = odb.read(git_oid).map_err(|error| match error.code() {
            ErrorCode::NotFound => Error::MissingObject { oid, store: self.dir.clone() },
            _ => self.damaged(oid),
        });
        let object = match object {
            // The library looks at one copy. Another one may be good.
            Err(damaged @ Error::DamagedObject { .. }) => return self.good_copy(oid).ok_or(damaged),
            other => other?,
        };
        let kind = match object.kind() {
            ObjectType::Commit => Kind::Commit,
            ObjectType::Tree => Kind::Tree,
            ObjectType::Blob => Kind::Blob,
            ObjectType::Tag => Kind::Tag,
            ObjectType::Any => return Err(self.damaged(oid)),
        };
        Ok((kind, object.data().to_vec()))
    }

    fn good_copy(&self, oid: Oid) -> Option<(Kind, Vec<u8>)> {
        let packs = self.packs.get_or_init(|| {
            let dirs = self.dirs.iter().map(|dir| Path::new(dir).join("pack"));
            dirs.filter_map(|dir| PackSet::read(&dir).ok()).collect()
        });
        Copies::of(packs.iter().flat_map(|set| &set.packs)).read(oid)
    }

    /// The content of an object that must be of this kind.
    pub(crate) fn read_kind(&self, oid: Oid, kind: Kind) -> Result<Vec<u8>, Error> {
        match self.read(oid)? {
            (found, content) if found == kind => Ok(content),
            _ => Err(self.damaged(oid)),
        }
    }

    pub(crate) fn damaged(&self, oid: Oid) -> Error {
        Error::DamagedObject { oid, store: self.dir.clone() }
    }
}

/// Where trees come from: the store, or what a snapshot has just made.
pub(crate) trait Trees {
    /// The bytes of a tree.
    fn tree(&self, oid: Oid) -> Result<Vec<u8>, Error>;

    /// The error for a tree that does not parse.
    fn broken_tree(&self, oid: Oid) -> Error;
}

impl Trees for Objects {
    fn tree(&self, oid: Oid) -> Result<Vec<u8>, Error> {
        self.read_kind(oid, Kind::Tree)
    }

    fn broken_tree(&self, oid: Oid) -> Error {
        self.damaged(oid)
    }
}
