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
use nix::sys::resource::{Resource, getrlimit};
use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The objects of one repository.
pub(crate) struct Objects {
    dir: PathBuf,
    most_reads: usize,
    /// The directories as the library takes them.
    dirs: Vec<String>,
    /// Opened by the first read: a turn without changes needs none, and each pack costs some calls.
    odb: Mutex<Option<Opened>>,
    /// Looked at once an object is found damaged.
    packs: OnceLock<Vec<PackSet>>,
}

/// An open database. It keeps each pack open that it has read from, as long as it stands.
struct Opened {
    odb: Odb<'static>,
    reads: usize,
}

/// After so many reads a database is opened anew, so that no more packs are open than this: a quarter of what this process
/// may open, within bounds. The library could close packs by itself, and may then close one that another thread is just
/// giving up.
fn most_reads() -> usize {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
    usize::try_from(limit / 4).unwrap_or(usize::MAX).clamp(8, 256)
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
            most_reads: most_reads(),
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
        let mut slot = self.odb.lock().unwrap_or_else(PoisonError::into_inner);
        // The old one goes before the new one comes.
        *slot = slot.take().filter(|opened| opened.reads < self.most_reads);
        let opened = match &mut *slot {
            Some(opened) => opened,
            none => {
                let odb = self.odb().map_err(|error| reading(&self.dir)(git_error(&error)))?;
                none.insert(Opened { odb, reads: 0 })
            }
        };
        opened.reads += 1;
        let git_oid = git2::Oid::from_bytes(oid.as_bytes()).map_err(|_| self.damaged(oid))?;
        let object = opened.odb.read(git_oid).map_err(|error| match error.code() {
            ErrorCode::NotFound => self.missing(oid),
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

    /// The library takes a pack that it cannot open for one that does not hold the object. Where nothing can be opened,
    /// nobody knows what is missing.
    fn missing(&self, oid: Oid) -> Error {
        match fs::File::open(&self.dir) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => reading(&self.dir)(source),
            _ => Error::MissingObject { oid, store: self.dir.clone() },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oid::hash;
    use crate::pack::{Compression, PackWriter};
    use nix::errno::Errno;
    use session_testing::{Call, refusing};

    #[test]
    fn an_object_is_not_called_missing_where_nobody_can_look_for_it() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let packs = scratch.path().join("pack");
        fs::create_dir(&packs).expect("it is new");
        let writer = PackWriter::new(&packs, 1 << 20, session_disk::Durability::Os);
        let [oak, ash] = [&b"oak"[..], b"ash"].map(|content| (hash(Kind::Blob, content), content));
        writer.add(Kind::Blob, oak.0, oak.1, Compression::Fast).expect("there is room");
        writer.finish().expect("there is room");
        let objects = Objects::open(scratch.path()).expect("it is there");
        assert!(matches!(objects.read(ash.0), Err(Error::MissingObject { oid, .. }) if oid == ash.0));
        let refused = refusing(Call::Open, Errno::EMFILE, || objects.read(oak.0));
        let Err(Error::Read { source, .. }) = &refused else { panic!("{refused:?}") };
        assert_eq!(source.raw_os_error(), Some(Errno::EMFILE as i32));
        assert_eq!(objects.read(oak.0).expect("now it can").1, oak.1);
    }
}
