//! Where a snapshot's objects go: into a new pack, or, for a look that writes nothing, nowhere.

use crate::objects::{Objects, Trees};
use crate::oid::{Kind, hash};
use crate::options::Level;
use crate::pack::{Compression, Finished, PackSet, PackWriter};
use crate::tree_edit::TreeSink;
use crate::{Error, Oid};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Up to this much is stored uncompressed by [`Level::Auto`].
const STORED_MAX_BYTES: u64 = 1 << 30;

/// Length and CRC-32 of a content: a second opinion on equal ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opinion(u32, u32);

impl Opinion {
    pub(crate) fn of(content: &[u8]) -> Self {
        Opinion(u32::try_from(content.len() & 0xffff_ffff).expect("32 bits"), crc32fast::hash(content))
    }
}

/// Objects on their way into the store.
pub(crate) struct ObjectSink<'a> {
    objects: &'a Objects,
    packs: &'a PackSet,
    writer: Option<PackWriter>,
    /// While fewer bytes than this are written, objects are stored as they are.
    stored_upto: u64,
    /// What this snapshot has put.
    seen: Mutex<HashMap<Oid, Opinion>>,
    trees: Mutex<HashMap<Oid, Vec<u8>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> ObjectSink<'a> {
    /// A sink that writes into the store.
    pub(crate) fn new(objects: &'a Objects, packs: &'a PackSet, writer: PackWriter, level: Level, free: u64) -> Self {
        let stored_upto = match level {
            Level::Stored => u64::MAX,
            Level::Fast => 0,
            Level::Auto if packs.packs.is_empty() => STORED_MAX_BYTES.min(free / 4),
            Level::Auto => 0,
        };
        ObjectSink { stored_upto, ..Self::dry(objects, packs) }.with_writer(writer)
    }

    /// A sink that only computes: trees stay in memory, contents are dropped.
    pub(crate) fn dry(objects: &'a Objects, packs: &'a PackSet) -> Self {
        ObjectSink { objects, packs, writer: None, stored_upto: 0, seen: Mutex::default(), trees: Mutex::default() }
    }

    fn with_writer(self, writer: PackWriter) -> Self {
        ObjectSink { writer: Some(writer), ..self }
    }

    /// Whether new objects are stored without compression.
    pub(crate) fn stores_plain(&self) -> bool {
        self.stored_upto > 0
    }

    /// Takes a file's content, whose id was `known` when it was last looked at, and gives its id. `path` is for the
    /// error.
    pub(crate) fn blob(
        &self,
        content: &[u8],
        known: Option<Oid>,
        path: impl Fn() -> std::path::PathBuf,
    ) -> Result<Oid, Error> {
        let oid = hash(Kind::Blob, content);
        if known != Some(oid) && self.writer.is_some() && !self.put(Kind::Blob, oid, content)? {
            return Err(Error::Collision { path: path() });
        }
        Ok(oid)
    }

    /// Takes note of objects that were read from the store under this very lock: they are there and whole, and need not
    /// be read and compared once more.
    pub(crate) fn note_whole(&self, read: &HashMap<Oid, Opinion>) {
        locked(&self.seen).extend(read);
    }

    /// Adds an object that is not yet there; false where another content has its id.
    pub(crate) fn put(&self, kind: Kind, oid: Oid, content: &[u8]) -> Result<bool, Error> {
        let Some(writer) = &self.writer else { return Ok(true) };
        let opinion = Opinion::of(content);
        match locked(&self.seen).entry(oid) {
            Entry::Occupied(seen) => return Ok(*seen.get() == opinion),
            Entry::Vacant(free) => drop(free.insert(opinion)),
        }
        if self.packs.contains(oid) {
            // An object that is damaged there, or deleted meanwhile, is put again.
            match self.objects.read(oid) {
                Ok((found, stored)) => return Ok(found == kind && stored == content),
                Err(Error::MissingObject { .. } | Error::DamagedObject { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let plain = writer.written() < self.stored_upto;
        writer.add(kind, oid, content, if plain { Compression::Stored } else { Compression::Fast })?;
        Ok(true)
    }

    /// Whether nothing has been written.
    pub(crate) fn is_empty(&self) -> bool {
        self.writer.as_ref().is_none_or(|writer| writer.written() == 0)
    }

    /// Completes the packs. What was put is on the disk and in its place when this returns.
    pub(crate) fn finish(self) -> Result<Vec<Finished>, Error> {
        self.writer.map_or(Ok(Vec::new()), PackWriter::finish)
    }

    /// The store's object directory.
    pub(crate) fn dir(&self) -> &Path {
        self.objects.dir()
    }
}

impl Trees for ObjectSink<'_> {
    fn tree(&self, oid: Oid) -> Result<Vec<u8>, Error> {
        if let Some(bytes) = locked(&self.trees).get(&oid) {
            return Ok(bytes.clone());
        }
        self.objects.tree(oid)
    }

    fn broken_tree(&self, oid: Oid) -> Error {
        self.objects.damaged(oid)
    }
}

impl TreeSink for ObjectSink<'_> {
    fn keep(&self, bytes: &[u8]) -> Result<Oid, Error> {
        let oid = hash(Kind::Tree, bytes);
        if !self.put(Kind::Tree, oid, bytes)? {
            return Err(Error::Collision { path: self.dir().to_owned() });
        }
        locked(&self.trees).insert(oid, bytes.to_vec());
        Ok(oid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_content_that_has_the_id_of_another_one_is_not_stored() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let dir = scratch.path().join("objects");
        std::fs::create_dir_all(dir.join("pack")).expect("it is new");
        let objects = Objects::open(&dir).expect("it is empty");
        let packs = PackSet::read(&dir.join("pack")).expect("it is empty");
        let writer = PackWriter::new(&dir.join("pack"), 1 << 20, session_disk::Durability::Os);
        let sink = ObjectSink::new(&objects, &packs, writer, Level::Fast, 1 << 30);
        // As if another content had been read from the store under this id: nobody has two such texts to put into a test.
        let (blob, tree) = (hash(Kind::Blob, b"three oaks"), hash(Kind::Tree, b""));
        sink.note_whole(&HashMap::from([(blob, Opinion::of(b"two elms")), (tree, Opinion::of(b"other entries"))]));
        let path = || PathBuf::from("garden.txt");
        let refused = sink.blob(b"three oaks", None, path);
        assert!(matches!(&refused, Err(Error::Collision { path }) if path.ends_with("garden.txt")), "{refused:?}");
        assert!(matches!(sink.keep(b""), Err(Error::Collision { path }) if path == dir));
        sink.blob(b"two elms", None, path).expect("its id is its own");
    }
}
