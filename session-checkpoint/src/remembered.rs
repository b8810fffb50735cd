//! What a writer remembers from one call to the next, and by what it knows that it still is so.

use crate::Oid;
use crate::cache::Cache;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The stat cache in memory, and which file it is.
#[derive(Debug)]
pub(crate) struct Hot {
    pub(crate) cache: Cache,
    pub(crate) file: Option<FileId>,
}

/// Inode, modification time and length of a file: another one after each replacement.
pub(crate) type FileId = (u64, i64, i64, u64);

/// A head that this process wrote, so that it need not be read as long as it stands: to read it, the index of every pack
/// must be opened.
#[derive(Debug)]
pub(crate) struct KnownHead {
    pub(crate) commit: Oid,
    pub(crate) tree: Oid,
    /// The packs when it was written; and, where it is in none of them, its own file.
    pub(crate) packs: u64,
    pub(crate) file: Option<FileId>,
}

/// Which file stands at a path; `None` where there is none.
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    let meta = fs::metadata(path).ok()?;
    Some((meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.len()))
}
