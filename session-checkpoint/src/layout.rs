//! Where things stand inside a checkpoint store.

use std::path::{Path, PathBuf};

/// The format of a store that this version writes.
pub(crate) const FORMAT: u32 = 1;
/// The name of the file whose presence says that a directory is a checkpoint store.
pub(crate) const MARKER: &str = "meta.json";
/// The subtree of a root tree that holds the external files.
pub(crate) const EXTERNAL: &[u8] = b".session-external";

/// What the reference keeps of files outside the workspace, beside its repository and in each of its trees: the paths
/// by keys, and a directory with a copy under each key.
pub(crate) const REFERENCE_EXTERNALS: &str = "external-files.json";
pub(crate) const REFERENCE_COPIES: &str = "external-files";

/// The paths of one store.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The store itself.
    pub(crate) store: PathBuf,
    /// The bare repository.
    pub(crate) repo: PathBuf,
}

impl Layout {
    pub(crate) fn new(store: &Path) -> Self {
        Layout { store: store.to_owned(), repo: store.join("repo.git") }
    }

    pub(crate) fn meta(&self) -> PathBuf {
        self.store.join(MARKER)
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.store.join("lock")
    }

    pub(crate) fn stat_cache(&self) -> PathBuf {
        self.store.join("statcache")
    }

    pub(crate) fn turns(&self) -> PathBuf {
        self.store.join("turns.jsonl")
    }

    /// What the reference keeps in the same directory.
    pub(crate) fn reference(&self) -> [PathBuf; 3] {
        [".git", REFERENCE_EXTERNALS, REFERENCE_COPIES].map(|name| self.store.join(name))
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.store.join("restore.journal")
    }

    pub(crate) fn rescued(&self) -> PathBuf {
        self.store.join("rescued")
    }

    /// Packs that were found damaged, set aside and never deleted by themselves.
    pub(crate) fn damaged(&self) -> PathBuf {
        self.store.join("damaged")
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.repo.join("objects")
    }

    pub(crate) fn packs(&self) -> PathBuf {
        self.repo.join("objects/pack")
    }

    pub(crate) fn shallow(&self) -> PathBuf {
        self.repo.join("shallow")
    }
}
