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

    /// Whether some pack holds this object.
    pub(crate) fn contains(&self, oid: Oid) -> bool {
        self.packs.iter().any(|pack| pack.index().is_some_and(|index| index.contains(oid)))
    }
}
