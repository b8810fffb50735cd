//! Looking on the disk for the paths of a checkpoint that is to be restored, whatever a rule says about them now.
//!
//! What is ignored today may have been captured then, and will be overwritten by a restore: so it must be in the safety
//! snapshot, and what is not found here is known to be absent.

use crate::cache::{EntryKind, Stamp};
use crate::commit::ExternalState;
use crate::external::outside;
use crate::rel_path::split;
use crate::root::{FileKind, Root, c_name, is_unreadable};
use crate::sink::ObjectSink;
use crate::skipped::SkipReason;
use crate::tree::Mode;
use crate::tree_diff::{Leaf, diff};
use crate::walk::store_leaf;
use crate::{Error, Oid};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::fstatat;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

/// What was found beside the walk.
#[derive(Debug, Default)]
pub(crate) struct Look {
    /// Files and links that the walk left out.
    pub(crate) found: BTreeMap<Vec<u8>, Leaf>,
    pub(crate) stamps: BTreeMap<Vec<u8>, Stamp>,
    /// Paths where something stands that cannot be stored.
    pub(crate) blocked: BTreeMap<Vec<u8>, SkipReason>,
    /// External files, by their path in the tree.
    pub(crate) externals: BTreeMap<Vec<u8>, ExternalState>,
}

/// Looks for the paths of `target` that are not in `tree`.
pub(crate) fn look_for(
    sink: &ObjectSink<'_>,
    root: &Root,
    max_bytes: u64,
    start_ns: i64,
    tree: Option<Oid>,
    target: Oid,
) -> Result<Look, Error> {
    let mut look = Look::default();
    for delta in diff(sink, tree, Some(target))? {
        if delta.old.is_some() || outside(&delta.path).is_some() {
            continue;
        }
        match look_at(sink, root, max_bytes, start_ns, &delta.path)? {
            Seen::Absent => {}
            Seen::Blocked(reason) => drop(look.blocked.insert(delta.path, reason)),
            Seen::Leaf(leaf, stamp) => {
                look.stamps.insert(delta.path.clone(), stamp);
                look.found.insert(delta.path, leaf);
            }
        }
    }
    Ok(look)
}

/// What stands at a path.
pub(crate) enum Seen {
    /// Nothing, or a directory, whose content is looked at on its own.
    Absent,
    /// A file or link, stored by now.
    Leaf(Leaf, Stamp),
    /// Something that cannot be stored.
    Blocked(SkipReason),
}

/// Looks at one path and stores what is there.
pub(crate) fn look_at(
    sink: &ObjectSink<'_>,
    root: &Root,
    max_bytes: u64,
    start_ns: i64,
    path: &[u8],
) -> Result<Seen, Error> {
    let (dir, name) = split(path);
    let full = || root.full(path);
    let fd = match root.open_dir(dir) {
        Ok(fd) => fd,
        // A link or a file stands where a directory was: the path itself is absent.
        Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP) => return Ok(Seen::Absent),
        Err(Errno::EXDEV) => return Ok(Seen::Blocked(SkipReason::OtherFs)),
        Err(errno) if is_unreadable(errno) => return Ok(Seen::Blocked(SkipReason::Unreadable)),
        Err(errno) => return Err(Error::Read { path: full(), source: errno.into() }),
    };
    let stat = fstatat(&fd, name, AtFlags::AT_SYMLINK_NOFOLLOW);
    if stat.is_ok_and(|stat| FileKind::of(&stat) == FileKind::Dir) {
        return Ok(Seen::Absent);
    }
    let Some(entry) = store_leaf(sink, max_bytes, start_ns, fd.as_fd(), &c_name(name), None, &full)? else {
        return Ok(Seen::Absent);
    };
    let leaf = |mode| Seen::Leaf(Leaf { mode, oid: entry.oid }, entry.stamp);
    Ok(match entry.kind {
        EntryKind::File => leaf(Mode::File),
        EntryKind::Exec => leaf(Mode::Exec),
        EntryKind::Link => leaf(Mode::Link),
        EntryKind::Skipped(reason) => Seen::Blocked(reason),
        EntryKind::Dir | EntryKind::Excluded | EntryKind::GitDir => Seen::Absent,
    })
}
