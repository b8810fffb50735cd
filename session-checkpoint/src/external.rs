//! Files outside the workspace that are captured with it because somebody named them.
//!
//! In a tree they stand below `.session-external/` under their absolute path. The commit lists all of them, so that one
//! that was not there is known to have been absent.

use crate::cache::{EntryKind, Stamp};
use crate::commit::{ExternalKind, ExternalState};
use crate::error::{NotExternal, reading};
use crate::layout::EXTERNAL;
use crate::meta::AbsPath;
use crate::rel_path::{RelPath, joined, split};
use crate::root::{Mounts, Root, c_name, is_unreadable};
use crate::sink::ObjectSink;
use crate::skipped::{SkipReason, Skipped};
use crate::tree::Mode;
use crate::tree_diff::Leaf;
use crate::tree_edit::Edit;
use crate::walk::store_leaf;
use crate::{Error, names};
use nix::errno::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What a look at the external files found.
#[derive(Debug, Default)]
pub(crate) struct Externals {
    pub(crate) states: Vec<ExternalState>,
    pub(crate) edits: BTreeMap<Vec<u8>, Edit>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) stamps: BTreeMap<Vec<u8>, Stamp>,
}

/// The path in a tree of an absolute path.
pub(crate) fn tree_path(absolute: &[u8]) -> Vec<u8> {
    joined(EXTERNAL, absolute.strip_prefix(b"/").unwrap_or(absolute))
}

/// The path relative to `/` of a path in a tree, where it is an external file's.
pub(crate) fn outside(tree_path: &[u8]) -> Option<&[u8]> {
    tree_path.strip_prefix(EXTERNAL)?.strip_prefix(b"/")
}

/// Checks a path that is to be tracked, and gives the real one: its directory without links, its last component as it
/// is.
pub(crate) fn checked(path: &Path, workspace: &Path, store: &Path) -> Result<PathBuf, Error> {
    let refuse = |reason| Err(Error::NotExternal { path: path.to_owned(), reason });
    let (true, Some(name), Some(parent)) = (path.is_absolute(), path.file_name(), path.parent()) else {
        return refuse(NotExternal::NotAbsolute);
    };
    let real = real_parent(parent)?.join(name);
    let in_git =
        real.components().any(|part| names::classify(part.as_os_str().as_bytes(), false) != names::NameClass::Plain);
    let is_dir = real.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    match () {
        () if real.starts_with(workspace) => refuse(NotExternal::InWorkspace),
        () if real.starts_with(store) => refuse(NotExternal::InStore),
        () if in_git => refuse(NotExternal::InGit),
        () if is_dir => refuse(NotExternal::Directory),
        () => Ok(real),
    }
}

/// The real path of a directory of which the last parts may not exist yet.
fn real_parent(parent: &Path) -> Result<PathBuf, Error> {
    match parent.canonicalize() {
        Ok(real) => Ok(real),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match (parent.parent(), parent.file_name()) {
            (Some(above), Some(name)) => Ok(real_parent(above)?.join(name)),
            _ => Err(reading(parent)(error)),
        },
        Err(error) => Err(reading(parent)(error)),
    }
}

/// Looks at every external file and stores those that are there.
pub(crate) fn capture(
    sink: &ObjectSink<'_>,
    max_bytes: u64,
    start_ns: i64,
    paths: &BTreeSet<AbsPath>,
) -> Result<Externals, Error> {
    let mut found = Externals::default();
    if paths.is_empty() {
        return Ok(found);
    }
    let root = Root::open(Path::new("/"), Mounts::Enter).map_err(reading(Path::new("/")))?;
    for path in paths {
        one(&root, sink, max_bytes, start_ns, path, &mut found)?;
    }
    Ok(found)
}

fn one(
    root: &Root,
    sink: &ObjectSink<'_>,
    max_bytes: u64,
    start_ns: i64,
    path: &AbsPath,
    found: &mut Externals,
) -> Result<(), Error> {
    let rel = path.0.strip_prefix(b"/").unwrap_or(&path.0);
    let (dir, name) = split(rel);
    let entry = match root.open_dir(dir) {
        Ok(fd) => store_leaf(sink, max_bytes, start_ns, fd.as_fd(), &c_name(name), None, &|| path.path())?,
        Err(Errno::ENOENT) => None,
        Err(errno) if is_unreadable(errno) || matches!(errno, Errno::ELOOP | Errno::ENOTDIR) => {
            Some(crate::cache::Entry::bare(EntryKind::Skipped(SkipReason::Unreadable), 0))
        }
        Err(errno) => return Err(Error::Read { path: path.path(), source: errno.into() }),
    };
    let key = tree_path(&path.0);
    let state = |state, mode| ExternalState { path: path.0.clone(), state, mode };
    let Some(entry) = entry else {
        found.states.push(state(ExternalKind::Absent, 0));
        return Ok(());
    };
    let (kind, mode) = match entry.kind {
        EntryKind::File => (ExternalKind::File, Mode::File),
        EntryKind::Exec => (ExternalKind::File, Mode::Exec),
        EntryKind::Link => (ExternalKind::Link, Mode::Link),
        EntryKind::Skipped(reason) => {
            found.states.push(state(ExternalKind::Skipped, 0));
            found.skipped.extend(RelPath::new(key).map(|path| Skipped { path, reason, size: entry.stamp.size }));
            return Ok(());
        }
        EntryKind::Dir | EntryKind::Excluded | EntryKind::GitDir => unreachable!("a leaf is none of these"),
    };
    found.states.push(state(kind, entry.stamp.mode & 0o7777));
    found.edits.insert(key.clone(), Edit::Put(Leaf { mode, oid: entry.oid }));
    found.stamps.insert(key, entry.stamp);
    Ok(())
}
