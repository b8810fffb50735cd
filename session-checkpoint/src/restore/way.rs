//! Seeing before the first change what would stand in a restore's way.

use super::types::ConflictKind;
use super::work::Work;
use crate::external::outside;
use crate::rel_path::{joined, parents, split};
use crate::root::{FileKind, Root};
use crate::{Error, SkipReason};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::unistd::{AccessFlags, faccessat};
use std::collections::BTreeMap;

/// The workspace, the world around it, and what is to be done there.
pub(super) struct Way<'a> {
    pub(super) root: &'a Root,
    pub(super) outer: &'a Root,
    pub(super) work: &'a Work,
}

/// What was found there.
pub(super) struct Obstacles {
    /// The paths in conflict.
    pub(super) conflicts: Vec<(Vec<u8>, ConflictKind)>,
    /// Directories without anything to keep that stand where files belong: those go, whatever a rule says about their
    /// names.
    pub(super) clear: Vec<Vec<u8>>,
}

/// The directory tree that a path of a checkpoint lies in, and its path there.
pub(super) fn place<'r, 'p>(root: &'r Root, outer: &'r Root, path: &'p [u8]) -> (&'r Root, &'p [u8]) {
    match outside(path) {
        Some(rel) => (outer, rel),
        None => (root, path),
    }
}

impl Way<'_> {
    /// Looks at every place that the work will change.
    pub(super) fn look(&self) -> Result<Obstacles, Error> {
        let mut found = Vec::new();
        let mut clear = Vec::new();
        let mut dirs: BTreeMap<Vec<u8>, Option<ConflictKind>> = BTreeMap::new();
        for path in self.work.puts.keys().chain(self.work.deletes.keys()) {
            let dir = split(path).0;
            let known = match dirs.get(dir) {
                Some(known) => *known,
                None => {
                    let kind = self.dir(dir)?;
                    dirs.insert(dir.to_vec(), kind);
                    kind
                }
            };
            found.extend(known.map(|kind| (path.clone(), kind)));
        }
        for dir in &self.work.make_dirs {
            found.extend(self.dir(dir)?.map(|kind| (dir.clone(), kind)));
        }
        for (path, put) in &self.work.puts {
            if put.before.is_none() {
                found.extend(self.at(path, &mut clear)?.map(|kind| (path.clone(), kind)));
            }
        }
        Ok(Obstacles { conflicts: found, clear })
    }

    /// What stands against writing into a directory, which may not exist yet.
    fn dir(&self, dir: &[u8]) -> Result<Option<ConflictKind>, Error> {
        let (root, rel) = place(self.root, self.outer, dir);
        let prefix = &dir[..dir.len() - rel.len()];
        for above in parents(rel).chain(std::iter::once(rel).filter(|rel| !rel.is_empty())) {
            match root.lstat(above) {
                Ok(stat) if FileKind::of(&stat) == FileKind::Dir => {}
                Ok(_) => {
                    let full = [prefix, above].concat();
                    let goes = self.work.deletes.contains_key(&full);
                    return Ok((!goes).then_some(ConflictKind::Blocked));
                }
                Err(Errno::ENOENT) => return Ok(self.writable(root, split(above).0)),
                // A link above: it was answered for when its own name was looked at.
                Err(Errno::ENOTDIR | Errno::ELOOP) => return Ok(Some(ConflictKind::Blocked)),
                Err(Errno::EXDEV) => return Ok(Some(ConflictKind::NotStorable(SkipReason::OtherFs))),
                Err(Errno::EACCES | Errno::EPERM) => return Ok(Some(ConflictKind::NotWritable)),
                Err(errno) => return Err(Error::Read { path: root.full(above), source: errno.into() }),
            }
        }
        Ok(self.writable(root, rel))
    }

    fn writable(&self, root: &Root, dir: &[u8]) -> Option<ConflictKind> {
        let asked = AccessFlags::W_OK | AccessFlags::X_OK;
        let granted = root.open_dir(dir).and_then(|fd| faccessat(fd, c".", asked, AtFlags::AT_EACCESS));
        granted.is_err().then_some(ConflictKind::NotWritable)
    }

    /// What stands in a place that the safety snapshot says is free.
    fn at(&self, path: &[u8], clear: &mut Vec<Vec<u8>>) -> Result<Option<ConflictKind>, Error> {
        let mut dirs = Vec::new();
        let (root, rel) = place(self.root, self.outer, path);
        match root.lstat(rel) {
            Ok(stat) => match FileKind::of(&stat) {
                FileKind::Dir if outside(path).is_none() && self.only_deleted(path, &mut dirs)? => {
                    clear.append(&mut dirs);
                    Ok(None)
                }
                FileKind::Dir => Ok(Some(ConflictKind::DirectoryInTheWay)),
                FileKind::Special => Ok(Some(ConflictKind::NotStorable(SkipReason::Special))),
                // It came since the look; the check before the write will say so.
                FileKind::File | FileKind::Link => Ok(None),
            },
            Err(_) => Ok(None),
        }
    }

    /// Whether a directory holds nothing but what will be deleted, and directories of which the same is true.
    fn only_deleted(&self, dir: &[u8], dirs: &mut Vec<Vec<u8>>) -> Result<bool, Error> {
        dirs.push(dir.to_vec());
        let failed = |errno: Errno| Error::Read { path: self.root.full(dir), source: errno.into() };
        let Ok(fd) = self.root.open_dir(dir) else { return Ok(false) };
        let mut open = Dir::from_fd(fd).map_err(failed)?;
        let mut names = Vec::new();
        for entry in open.iter() {
            names.push(entry.map_err(failed)?.file_name().to_bytes().to_vec());
        }
        for name in names.iter().filter(|name| !matches!(name.as_slice(), b"." | b"..")) {
            let path = joined(dir, name);
            if self.work.deletes.contains_key(&path) {
                continue;
            }
            let is_dir = self.root.lstat(&path).is_ok_and(|stat| FileKind::of(&stat) == FileKind::Dir);
            if !is_dir || !self.only_deleted(&path, dirs)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
