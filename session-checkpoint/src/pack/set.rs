//! All packs of a store.

use super::index::Index;
use super::raw::{Damage, content_is_whole};
use crate::error::reading;
use crate::{Error, Oid, stored};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One pack: its files, and its index once somebody asks for it.
#[derive(Debug)]
pub(crate) struct PackState {
    /// `pack-<checksum>`.
    pub(crate) name: String,
    /// The pack's length in bytes.
    pub(crate) len: u64,
    dir: PathBuf,
    index: OnceLock<Option<Index>>,
}

impl PackState {
    pub(crate) fn pack_path(&self) -> PathBuf {
        self.dir.join(format!("{}.pack", self.name))
    }

    pub(crate) fn index_path(&self) -> PathBuf {
        self.dir.join(format!("{}.idx", self.name))
    }

    /// The index; `None` where it is missing or damaged.
    pub(crate) fn index(&self) -> Option<&Index> {
        self.index.get_or_init(|| stored::read(&self.index_path()).ok().flatten().and_then(Index::parse)).as_ref()
    }

    /// Reads all of it and compares it with its checksums.
    pub(crate) fn check(&self) -> Result<(), Damage> {
        content_is_whole(&self.pack_path(), self.index().ok_or(Damage::Index)?)
    }
}

/// So often packs are looked at anew that change all the time.
const LOOKS: usize = 10;

/// The packs of one directory, as they were when it was read.
#[derive(Debug, Default)]
pub(crate) struct PackSet {
    pub(crate) packs: Vec<PackState>,
    /// Changes whenever a pack or an index comes, goes, or is written to.
    pub(crate) fingerprint: u64,
}

impl PackSet {
    /// Reads the directory. A missing one has no packs.
    pub(crate) fn read(dir: &Path) -> Result<Self, Error> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PackSet::default()),
            Err(error) => return Err(reading(dir)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(reading(dir))?.file_name();
            if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".pack"))
                && name.starts_with("pack-")
            {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        let mut hasher = DefaultHasher::new();
        let mut packs = Vec::with_capacity(names.len());
        for name in names {
            let pack = PackState { len: 0, dir: dir.to_owned(), index: OnceLock::new(), name };
            // A pack without an index is none yet, or none any more; git does not look into it either.
            let Ok(index) = fs::metadata(pack.index_path()) else { continue };
            let mut len = 0;
            for meta in [Some(index), fs::metadata(pack.pack_path()).ok()] {
                len = meta.as_ref().map_or(0, fs::Metadata::len);
                (&pack.name, len, meta.map(|meta| (meta.mtime(), meta.mtime_nsec()))).hash(&mut hasher);
            }
            packs.push(PackState { len, ..pack });
        }
        Ok(PackSet { packs, fingerprint: hasher.finish() })
    }

    /// Looks at the packs of a directory, and once more where what was found is not fine and they changed meanwhile: who
    /// takes no lock may see a pack go whose objects are in a new one.
    pub(crate) fn look<T>(
        dir: &Path,
        mut look: impl FnMut(&PackSet) -> Result<T, Error>,
        is_fine: impl Fn(&T) -> bool,
    ) -> Result<T, Error> {
        let mut packs = PackSet::read(dir)?;
        for _ in 0..LOOKS {
            let found = look(&packs);
            if found.as_ref().is_ok_and(&is_fine) {
                return found;
            }
            let now = PackSet::read(dir)?;
            if now.fingerprint == packs.fingerprint {
                return found;
            }
            packs = now;
        }
        look(&packs)
    }

    /// Whether some pack holds this object.
    pub(crate) fn contains(&self, oid: Oid) -> bool {
        self.packs.iter().any(|pack| pack.index().is_some_and(|index| index.contains(oid)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oid::{Kind, hash};
    use crate::pack::{Compression, PackWriter};
    use session_disk::Durability;

    #[test]
    fn what_is_amiss_while_packs_come_and_go_is_looked_at_again() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let write = |content: &[u8]| {
            let writer = PackWriter::new(scratch.path(), 1 << 20, Durability::Os);
            let oid = hash(Kind::Blob, content);
            writer.add(Kind::Blob, oid, content, Compression::Fast).expect("there is room");
            writer.finish().expect("there is room");
            oid
        };
        let oak = write(b"oak");
        let mut looks = 0;
        let found = PackSet::look(
            scratch.path(),
            |packs| {
                looks += 1;
                let pack = &packs.packs[0];
                if looks == 1 {
                    // Another process makes one of all.
                    write(b"ash");
                    fs::remove_file(pack.index_path()).expect("it is there");
                }
                Ok(pack.index().is_some_and(|index| index.contains(oak)))
            },
            |found| *found,
        );
        assert_eq!((found.expect("readable"), looks), (false, 2), "it is looked at until it is fine or stays as it is");
    }
}
