//! Carrying a plan out. Each path is looked at right before it is touched.

use super::dirs::{ensure, remove_if_empty};
use super::put::{Changed, TempNames, Wanted, is_as_seen, put};
use super::types::ConflictKind;
use super::way::place;
use super::work::{Put, Work};
use crate::cache::{Cache, Stamp};
use crate::cancel::Cancel;
use crate::external::outside;
use crate::layout::Layout;
use crate::objects::Objects;
use crate::observe::Taken;
use crate::oid::Kind;
use crate::options::ConflictPolicy;
use crate::rel_path::{parents, split};
use crate::root::{FileKind, Root, c_name};
use crate::sink::Opinion;
use crate::tree::Mode;
use crate::tree_diff::Leaf;
use crate::{Error, Oid};
use nix::errno::Errno;
use session_disk::{Durability, at};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// Everything that carrying out needs.
pub(super) struct Apply<'a> {
    pub(super) root: &'a Root,
    pub(super) outer: &'a Root,
    pub(super) work: &'a Work,
    pub(super) seen: &'a Taken,
    pub(super) cache: Option<&'a Cache>,
    pub(super) objects: &'a Objects,
    pub(super) layout: &'a Layout,
    pub(super) policy: ConflictPolicy,
    pub(super) token: u64,
    pub(super) durability: Durability,
    pub(super) cancel: &'a Cancel,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub(super) puts: BTreeMap<Vec<u8>, Leaf>,
    /// What was read from the store for them.
    pub(super) read: HashMap<Oid, Opinion>,
    pub(super) deletes: BTreeSet<Vec<u8>>,
    pub(super) failed: BTreeMap<Vec<u8>, String>,
    /// Left alone, because they changed under our hands or because the policy says so.
    pub(super) conflicts: BTreeMap<Vec<u8>, ConflictKind>,
    pub(super) rescued: Vec<PathBuf>,
}

/// Why one path was not done.
enum Miss {
    Changed,
    Failed(String),
}

impl From<Changed> for Miss {
    fn from(_: Changed) -> Self {
        Miss::Changed
    }
}

/// Whether an error is of the whole restore and not of one path: then it ends, and the journal stays.
fn is_fatal(error: &Error) -> bool {
    let code = match error {
        Error::Disk(error) => error.source.raw_os_error(),
        Error::Read { source, .. } => source.raw_os_error(),
        _ => None,
    };
    code.map(Errno::from_raw).is_some_and(|errno| {
        matches!(
            errno,
            Errno::ENOSPC
                | Errno::EDQUOT
                | Errno::EIO
                | Errno::EROFS
                | Errno::EMFILE
                | Errno::ENFILE
                | Errno::ENOMEM
                | Errno::EFBIG
        )
    })
}

impl Apply<'_> {
    /// Deletes, then directories, then files, then links: nothing is written through a link that is still to come.
    pub(super) fn run(&self) -> Result<Applied, Error> {
        let mut applied = Applied::default();
        if self.policy != ConflictPolicy::Force {
            applied.conflicts.clone_from(&self.work.conflicts);
        }
        for path in self.work.deletes.keys() {
            // A directory that stays where a file belongs stays as it is.
            if parents(path).any(|above| applied.conflicts.contains_key(above)) {
                continue;
            }
            self.each(path, &mut applied, |applied| self.delete(path, applied))?;
        }
        for dir in self.work.remove_dirs.iter().rev() {
            self.cancel.check()?;
            remove_if_empty(self.root, dir)?;
        }
        for dir in &self.work.make_dirs {
            self.each(dir, &mut applied, |applied| {
                if self.work.conflicts.get(dir) == Some(&ConflictKind::Blocked) {
                    self.rescue_above(dir, applied)?;
                }
                ensure(self.root, dir).map(|_| Ok(()))
            })?;
        }
        let mut names = TempNames::new(self.token);
        let is_link = |put: &Put| put.after.mode == Mode::Link;
        let files = self.work.puts.iter().filter(|(_, put)| !is_link(put));
        for (path, put) in files.chain(self.work.puts.iter().filter(|(_, put)| is_link(put))) {
            self.each(path, &mut applied, |applied| self.put(path, put, &mut names, applied))?;
        }
        Ok(applied)
    }

    fn each(
        &self,
        path: &[u8],
        applied: &mut Applied,
        act: impl FnOnce(&mut Applied) -> Result<Result<(), Miss>, Error>,
    ) -> Result<(), Error> {
        if applied.conflicts.contains_key(path) {
            return Ok(());
        }
        self.cancel.check()?;
        match act(applied) {
            Ok(Ok(())) => {}
            Ok(Err(Miss::Changed)) => drop(applied.conflicts.insert(path.to_vec(), ConflictKind::ChangedSincePlan)),
            Ok(Err(Miss::Failed(why))) => drop(applied.failed.insert(path.to_vec(), why)),
            Err(error) if is_fatal(&error) => return Err(error),
            Err(error) => drop(applied.failed.insert(path.to_vec(), crate::snapshot::failure("restore", &error).error)),
        }
        Ok(())
    }

    fn stamp(&self, path: &[u8]) -> Option<Stamp> {
        self.seen.stamp(self.cache, path)
    }

    fn delete(&self, path: &[u8], applied: &mut Applied) -> Result<Result<(), Miss>, Error> {
        let (root, rel) = place(self.root, self.outer, path);
        let (dir, name) = split(rel);
        let fd = match root.open_dir(dir) {
            Ok(fd) => fd,
            Err(errno) => return Ok(Err(Miss::Failed(errno.desc().to_owned()))),
        };
        let name = c_name(name);
        if let Err(changed) = is_as_seen(fd.as_fd(), &name, self.stamp(path)) {
            return Ok(Err(changed.into()));
        }
        at::remove_file(fd.as_fd(), &name, &root.full(rel))?;
        applied.deletes.insert(path.to_vec());
        Ok(Ok(()))
    }

    fn put(
        &self,
        path: &[u8],
        work: &Put,
        names: &mut TempNames,
        applied: &mut Applied,
    ) -> Result<Result<(), Miss>, Error> {
        let (root, rel) = place(self.root, self.outer, path);
        let bytes = match self.objects.read_kind(work.after.oid, Kind::Blob) {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(Miss::Failed(error.to_string()))),
        };
        applied.read.insert(work.after.oid, Opinion::of(&bytes));
        let mut seen = self.stamp(path).filter(|_| work.before.is_some());
        if let Some(kind) = self.work.conflicts.get(path)
            && matches!(kind, ConflictKind::NotStorable(_) | ConflictKind::DirectoryInTheWay)
        {
            self.rescue(root, rel, path, applied)?;
            seen = None;
        }
        if self.work.conflicts.get(path) == Some(&ConflictKind::Blocked) && outside(path).is_none() {
            self.rescue_above(path, applied)?;
        }
        let wanted = Wanted { mode: work.after.mode, bytes: &bytes, bits: work.mode };
        let done = put(root, rel, seen, &wanted, &names.next(), self.durability)?;
        if done.is_ok() {
            applied.puts.insert(path.to_vec(), work.after);
        }
        Ok(done.map_err(Miss::from))
    }

    /// Moves out of the way what stands where a directory must be.
    fn rescue_above(&self, path: &[u8], applied: &mut Applied) -> Result<(), Error> {
        let in_the_way = |above: &&[u8]| self.root.lstat(above).is_ok_and(|stat| FileKind::of(&stat) != FileKind::Dir);
        match parents(path).chain(std::iter::once(path)).find(in_the_way) {
            Some(above) => self.rescue(self.root, above, above, applied),
            None => Ok(()),
        }
    }

    /// Moves what no snapshot can hold out of the way, into the store. It is not deleted.
    fn rescue(&self, root: &Root, rel: &[u8], path: &[u8], applied: &mut Applied) -> Result<(), Error> {
        let (dir, name) = split(rel);
        let fd = ensure(root, dir)?;
        let into = self.layout.rescued().join(format!("{:016x}", self.token));
        session_disk::create_dir_all(&into)?;
        let flat: Vec<u8> = path.iter().map(|byte| if *byte == b'/' { b'%' } else { *byte }).collect();
        // A file name has at most 255 bytes; the number keeps long ones apart.
        let cut = &flat[flat.len().saturating_sub(200)..];
        let mut file_name = format!("{}-", applied.rescued.len()).into_bytes();
        file_name.extend_from_slice(cut);
        let to = into.join(std::ffi::OsStr::from_bytes(&file_name));
        at::rename_out(fd.as_fd(), &c_name(name), &to)?;
        applied.rescued.push(to);
        Ok(())
    }
}
