//! One directory: first the question whether anything changed, and only then the work.

use super::listing::Listing;
use super::{MAX_DEPTH, Walk};
use crate::Error;
use crate::cache::{Dir, Entry, EntryKind, FLAG_RACY, FLAG_UNSTABLE, FLAG_WAS_DIR, Node, Stamp};
use crate::oid::{Kind, hash};
use crate::rel_path::joined;
use crate::root::{FileKind, is_unreadable, open_file};
use crate::rules::{RULE_FILE, RULE_FILE_MAX_BYTES, Rules};
use crate::skipped::SkipReason;
use nix::errno::Errno;
use nix::sys::stat::fstat;
use std::io::Read as _;
use std::sync::Arc;

/// What a directory turned out to be.
pub(super) enum Found {
    Node(Node),
    /// It vanished, or is no directory any more.
    Gone,
    Skip(SkipReason),
}

/// A directory while it is worked on.
pub(super) struct Here<'w> {
    pub(super) path: &'w [u8],
    pub(super) depth: usize,
    pub(super) listing: Listing,
    pub(super) rules: Arc<Rules>,
    pub(super) cached: Option<(u32, Dir)>,
}

impl Walk<'_> {
    pub(super) fn dir(
        &self,
        path: &[u8],
        depth: usize,
        cached: Option<u32>,
        rules: &Arc<Rules>,
    ) -> Result<Found, Error> {
        self.cancel.check()?;
        if depth > MAX_DEPTH {
            return Ok(Found::Skip(SkipReason::Unreadable));
        }
        let listing = match self
            .root
            .open_dir(path)
            .and_then(|fd| if self.is_closed(path, &fd)? { Ok(None) } else { Listing::read(fd).map(Some) })
        {
            Ok(Some(listing)) => listing,
            Ok(None) => return Ok(Found::Skip(SkipReason::CheckpointStore)),
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP) => return Ok(Found::Gone),
            Err(Errno::EXDEV) => return Ok(Found::Skip(SkipReason::OtherFs)),
            Err(errno) if is_unreadable(errno) => return Ok(Found::Skip(SkipReason::Unreadable)),
            Err(errno) => return Err(Error::Read { path: self.root.full(path), source: errno.into() }),
        };
        if depth > 0 && listing.is_store() {
            return Ok(Found::Skip(SkipReason::CheckpointStore));
        }
        let cached = cached.zip(self.cache).map(|(n, cache)| (n, cache.dir(n)));
        let rules = self.rules_here(&listing, path, cached, rules)?;
        let mut here = Here { path, depth, listing, rules, cached };
        let known = match here.cached {
            Some((n, dir)) if dir.rules == here.rules.key() && self.leaves_are_same(&here, &dir)? => {
                here.listing.close();
                let subs = self.look_into_subs(&here, &dir)?;
                if subs.iter().all(|(_, same, _)| *same) {
                    return Ok(Found::Node(Node::Same(n)));
                }
                Some(subs.into_iter().map(|(at, _, found)| (at, found)).collect())
            }
            _ => None,
        };
        match here.listing.reopen(|| self.root.open_dir(path)) {
            Ok(()) => self.rebuild(here, known).map(|dir| Found::Node(Node::New(Box::new(dir)))),
            // It was there a moment ago.
            Err(_) => Ok(Found::Gone),
        }
    }

    fn is_closed(&self, path: &[u8], fd: &impl std::os::fd::AsFd) -> Result<bool, Errno> {
        let name = crate::rel_path::split(path).1;
        if !self.closed.iter().any(|closed| closed.name == name) {
            return Ok(false);
        }
        let stat = fstat(fd)?;
        Ok(self.closed.iter().any(|closed| (closed.dev, closed.ino) == (stat.st_dev, stat.st_ino)))
    }

    /// The rules below this directory: those above it, and its own file's.
    fn rules_here(
        &self,
        listing: &Listing,
        path: &[u8],
        cached: Option<(u32, Dir)>,
        above: &Arc<Rules>,
    ) -> Result<Arc<Rules>, Error> {
        let Some(at) = listing.find(RULE_FILE).filter(|at| above.gitignore() && !listing.is_dir(*at)) else {
            return Ok(Arc::clone(above));
        };
        // A link of that name holds no rules, for git neither.
        let Some(stat) = listing.stat(at).ok().filter(|stat| FileKind::of(stat) == FileKind::File) else {
            return Ok(Arc::clone(above));
        };
        let known = self.cached_entry(cached, RULE_FILE).filter(|entry| {
            matches!(entry.kind, EntryKind::File | EntryKind::Exec) && is_clean(entry, &Stamp::of(&stat))
        });
        let oid = match known {
            Some(entry) => entry.oid,
            None => hash(Kind::Blob, &self.load_rules(&joined(path, RULE_FILE))),
        };
        Ok(above.below(path, oid))
    }

    pub(super) fn load_rules(&self, path: &[u8]) -> Vec<u8> {
        let (dir, name) = crate::rel_path::split(path);
        let mut bytes = Vec::new();
        let file =
            self.root.open_dir(dir).and_then(|fd| open_file(std::os::fd::AsFd::as_fd(&fd), &crate::root::c_name(name)));
        if let Ok(file) = file {
            // A file that cannot be read has no rules; it is reported as unreadable when its turn comes.
            drop(file.take(RULE_FILE_MAX_BYTES as u64).read_to_end(&mut bytes));
        }
        bytes
    }

    pub(super) fn cached_entry(&self, cached: Option<(u32, Dir)>, name: &[u8]) -> Option<Entry> {
        let (cache, (_, dir)) = (self.cache?, cached?);
        cache.find(&dir, name).map(|at| cache.entry(at))
    }

    /// Whether the names are the cached ones and each that is no directory has its stamp.
    fn leaves_are_same(&self, here: &Here<'_>, dir: &Dir) -> Result<bool, Error> {
        let Some(cache) = self.cache else { return Ok(false) };
        let listing = &here.listing;
        if listing.len() != dir.count as usize {
            return Ok(false);
        }
        let (mut files, mut bytes) = (0, 0);
        for (n, at) in dir.range().enumerate() {
            if listing.name(n) != cache.name(at) {
                return Ok(false);
            }
            let entry = cache.entry(at);
            let was_dir = entry.kind == EntryKind::Dir || entry.flags & FLAG_WAS_DIR != 0;
            let same = was_dir == listing.is_dir(n)
                && match entry.kind {
                    EntryKind::File | EntryKind::Exec | EntryKind::Link => {
                        files += 1;
                        bytes += entry.stamp.size;
                        listing.stat(n).is_ok_and(|stat| is_clean(&entry, &Stamp::of(&stat)))
                    }
                    EntryKind::Dir | EntryKind::Excluded | EntryKind::GitDir => true,
                    EntryKind::Skipped(_) if was_dir => true,
                    EntryKind::Skipped(reason) => self.skip_is_same(listing, n, &entry, reason),
                };
            if !same {
                return Ok(false);
            }
        }
        self.count(files, bytes)?;
        Ok(true)
    }

    fn skip_is_same(&self, listing: &Listing, n: usize, entry: &Entry, reason: SkipReason) -> bool {
        let stamp = || listing.stat(n).ok().map(|stat| (FileKind::of(&stat), Stamp::of(&stat)));
        match reason {
            SkipReason::Secret | SkipReason::ReservedName => true,
            SkipReason::TooBig => stamp().is_some_and(|(_, stamp)| stamp == entry.stamp),
            SkipReason::Special => stamp().is_some_and(|(kind, _)| kind == FileKind::Special),
            // Permission may come without a change of the file: by another user who asks.
            SkipReason::Unreadable => {
                stamp().is_some_and(|(kind, stamp)| kind == FileKind::File && stamp == entry.stamp)
                    && listing.fd().and_then(|fd| open_file(fd, listing.c_name(n))).is_err()
            }
            SkipReason::Unstable | SkipReason::OtherFs | SkipReason::CheckpointStore => false,
        }
    }

    /// Walks the cached subdirectories: place in the listing, whether it is the same, and what it is.
    fn look_into_subs(&self, here: &Here<'_>, dir: &Dir) -> Result<Vec<(usize, bool, Found)>, Error> {
        let Some(cache) = self.cache else { return Ok(Vec::new()) };
        let mut jobs = Vec::new();
        for (n, at) in dir.range().enumerate() {
            let entry = cache.entry(at);
            match entry.kind {
                EntryKind::Dir => jobs.push((n, entry)),
                EntryKind::Skipped(SkipReason::Secret | SkipReason::ReservedName) => {}
                EntryKind::Skipped(_) if entry.flags & FLAG_WAS_DIR != 0 => jobs.push((n, entry)),
                _ => {}
            }
        }
        self.map(jobs, |(n, entry)| {
            let cached = (entry.kind == EntryKind::Dir).then_some(entry.child);
            let found = self.dir(&joined(here.path, here.listing.name(n)), here.depth + 1, cached, &here.rules)?;
            let same = match (&found, entry.kind) {
                (Found::Node(Node::Same(n)), EntryKind::Dir) => *n == entry.child,
                (Found::Skip(now), EntryKind::Skipped(then)) => *now == then,
                _ => false,
            };
            Ok((n, same, found))
        })
    }
}

/// Whether a file is the one that was hashed.
pub(super) fn is_clean(entry: &Entry, now: &Stamp) -> bool {
    entry.flags & (FLAG_RACY | FLAG_UNSTABLE) == 0 && entry.stamp == *now
}
