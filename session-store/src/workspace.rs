//! Which directory a session works in, also after it was moved.
//!
//! Metadata names the workspace by its path. Beside that our metadata keeps which directory it was: device, inode, and
//! when it was made, for an inode is given again. The path counts wherever it leads to a directory; only where it leads
//! nowhere any more is a directory known by what it is.

use crate::stamp::born;
use session_core::Meta;
use session_disk::is_absent;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The member of the metadata's `x` that says which directory the workspace was.
const WORKSPACE_ID: &str = "workspace_id";

/// A directory, whatever path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DirId {
    device: u64,
    inode: u64,
    /// Nanoseconds since 1970; `None` where the file system does not say.
    made: Option<u128>,
}

impl DirId {
    fn of(dir: &Path) -> Option<Self> {
        let metadata = dir.metadata().ok().filter(std::fs::Metadata::is_dir)?;
        Some(DirId { device: metadata.dev(), inode: metadata.ino(), made: born(&metadata) })
    }
}

impl fmt::Display for DirId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:", self.device, self.inode)?;
        self.made.map_or(Ok(()), |made| made.fmt(f))
    }
}

/// Notes which directory the workspace is, if it is there. Of one that is gone it stays noted, unless it was `before`,
/// another one.
pub(crate) fn identify(meta: &mut Meta, before: &str) {
    if meta.workspace != before {
        meta.x.remove(WORKSPACE_ID);
    }
    let dir = Path::new(&meta.workspace);
    // A relative path means another directory to every process.
    let id = Some(dir).filter(|dir| dir.is_absolute()).and_then(DirId::of);
    if let Some(id) = id.map(|id| id.to_string()).filter(|id| id_of(meta).as_ref() != Some(id)) {
        set_id(meta, id);
    }
}

/// Which directory the workspace was when the session was last written to.
pub(crate) fn id_of(meta: &Meta) -> Option<String> {
    meta.x.value(WORKSPACE_ID)?.as_str().map(str::to_owned)
}

pub(crate) fn set_id(meta: &mut Meta, id: String) {
    meta.x.set(WORKSPACE_ID, &id.into());
}

/// Whether a workspace is this directory, whose links are resolved.
pub(crate) fn works_in(workspace: &str, id: Option<&str>, dir: &Path) -> bool {
    let path = Path::new(workspace);
    path == dir || path.canonicalize().is_ok_and(|real| real == dir) || was(workspace, id, dir)
}

/// Whether a workspace that is gone was this directory.
pub(crate) fn was(workspace: &str, id: Option<&str>, dir: &Path) -> bool {
    id.is_some() && is_gone(workspace) && DirId::of(dir).map(|dir| dir.to_string()).as_deref() == id
}

/// Whether nothing has the path of a workspace any more. One that cannot be looked at may be there.
pub(crate) fn is_gone(workspace: &str) -> bool {
    let path = Path::new(workspace);
    path.is_absolute() && matches!(path.metadata(), Err(error) if is_absent(&error))
}
