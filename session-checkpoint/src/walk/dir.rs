//! One directory: first the question whether anything changed, and only then the work.

use super::listing::Listing;
use super::{MAX_DEPTH, NewDir, NewEntry, Node, Walk, inherited};
use crate::cache::{
    DIR_BARE, DIR_EMPTY, DIR_NOTES, Dir, Entry, EntryKind, FLAG_RACY, FLAG_UNSTABLE, FLAG_WAS_DIR, Stamp,
};
use crate::names::{NameClass, classify};
use crate::oid::{Kind, hash};
use crate::rel_path::joined;
use crate::root::{FileKind, is_unreadable, open_file};
use crate::rules::{RULE_FILE, Rules, Verdict};
use crate::skipped::SkipReason;
use crate::tree::{Mode, TreeEntry, order, push};
use crate::tree_edit::TreeSink as _;
use crate::{Error, Oid};
use nix::errno::Errno;
use nix::sys::stat::fstat;
use std::io::Read as _;
use std::sync::Arc;

/// A larger file of rules is read only so far.
const RULE_FILE_MAX_BYTES: u64 = 4 << 20;

/// What a directory turned out to be.
pub(super) enum Found {
    Node(Node),
    /// It vanished, or is no directory any more.
    Gone,
    Skip(SkipReason),
}

/// A directory while it is worked on.
struct Here<'w> {
    path: &'w [u8],
    depth: usize,
    listing: Listing,
    rules: Arc<Rules>,
    cached: Option<(u32, Dir)>,
}

/// What one name needs.
enum Job {
    Done(Entry),
    Leaf(Option<Entry>),
    Sub(Option<u32>),
}

/// What one name has become; nothing where it is gone.
type Outcome = Option<(Entry, Option<Node>)>;

/// Fewer files than this are looked at one after the other: a thread that waits for others holds its directory open.
const MANY_LEAVES: usize = 64;

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

    fn load_rules(&self, path: &[u8]) -> Vec<u8> {
        let (dir, name) = crate::rel_path::split(path);
        let mut bytes = Vec::new();
        let file =
            self.root.open_dir(dir).and_then(|fd| open_file(std::os::fd::AsFd::as_fd(&fd), &crate::root::c_name(name)));
        if let Ok(file) = file {
            // A file that cannot be read has no rules; it is reported as unreadable when its turn comes.
            drop(file.take(RULE_FILE_MAX_BYTES).read_to_end(&mut bytes));
        }
        bytes
    }

    fn cached_entry(&self, cached: Option<(u32, Dir)>, name: &[u8]) -> Option<Entry> {
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

    /// Looks at every name, but for the subdirectories that are known by now.
    fn rebuild(&self, mut here: Here<'_>, known: Option<Vec<(usize, Found)>>) -> Result<NewDir, Error> {
        let counted = known.is_some();
        let mut outcomes: Vec<Outcome> = (0..here.listing.len()).map(|_| None).collect();
        let mut subs = Vec::new();
        let mut leaves = Vec::new();
        let mut known = known.unwrap_or_default().into_iter().peekable();
        for (n, outcome) in outcomes.iter_mut().enumerate() {
            if let Some((_, found)) = known.next_if(|(at, _)| *at == n) {
                *outcome = settled(found);
                continue;
            }
            match self.job(&here, n) {
                Job::Done(entry) => *outcome = Some((entry, None)),
                Job::Leaf(cached) => leaves.push((n, cached)),
                Job::Sub(cached) => subs.push((n, cached)),
            }
        }
        let look = |(n, cached)| Ok((n, self.look_at_leaf(&here, n, cached, counted)?));
        let leaves: Vec<(usize, Option<Entry>)> = if leaves.len() < MANY_LEAVES {
            leaves.into_iter().map(look).collect::<Result<_, Error>>()?
        } else {
            self.map(leaves, look)?
        };
        for (n, entry) in leaves {
            outcomes[n] = entry.map(|entry| (entry, None));
        }
        here.listing.close();
        let below = |(n, cached)| {
            let path = joined(here.path, here.listing.name(n));
            Ok((n, self.dir(&path, here.depth + 1, cached, &here.rules)?))
        };
        for (n, found) in self.map(subs, below)? {
            outcomes[n] = settled(found);
        }
        self.assemble(&here, outcomes)
    }

    fn look_at_leaf(&self, here: &Here<'_>, n: usize, cached: Option<Entry>, counted: bool) -> Result<Option<Entry>, Error> {
        let path = || self.root.full(&joined(here.path, here.listing.name(n)));
        let fd = here.listing.fd().map_err(|errno| Error::Read { path: path(), source: errno.into() })?;
        let entry = self.leaf(fd, here.listing.c_name(n), cached, &path)?;
        match entry {
            Some(Entry { kind: EntryKind::File | EntryKind::Exec | EntryKind::Link, stamp, .. }) if !counted => {
                self.count(1, stamp.size)?;
            }
            _ => {}
        }
        Ok(entry)
    }

    fn assemble(&self, here: &Here<'_>, outcomes: Vec<Outcome>) -> Result<NewDir, Error> {
        let mut dir = NewDir { rules: here.rules.key(), ..NewDir::default() };
        for (n, outcome) in outcomes.into_iter().enumerate() {
            let Some((entry, child)) = outcome else { continue };
            let name = here.listing.name(n);
            let (name_at, name_len) = (u32::try_from(dir.names.len()), u16::try_from(name.len()));
            dir.names.extend_from_slice(name);
            dir.entries.push(NewEntry {
                name_at: name_at.expect("a directory's names stay below 4 GiB"),
                name_len: name_len.expect("a file name has at most 255 bytes"),
                entry,
                child,
            });
        }
        dir.flags = self.flags(&dir);
        dir.tree = self.tree(&dir, here.cached.and_then(|(_, cached)| cached.tree))?;
        Ok(dir)
    }

    /// What a name needs, decided without looking at the file.
    fn job(&self, here: &Here<'_>, n: usize) -> Job {
        let (name, is_dir) = (here.listing.name(n), here.listing.is_dir(n));
        let flags = if is_dir { FLAG_WAS_DIR } else { 0 };
        let done = |kind| Job::Done(Entry::bare(kind, flags));
        match classify(name, here.depth == 0) {
            NameClass::Plain => {}
            NameClass::GitDir => return done(EntryKind::GitDir),
            NameClass::Reserved => return done(EntryKind::Skipped(SkipReason::ReservedName)),
        }
        let same_rules = here.cached.filter(|(_, dir)| dir.rules == here.rules.key());
        let cached = self.cached_entry(here.cached, name);
        let was_dir = |entry: &Entry| entry.kind == EntryKind::Dir || entry.flags & FLAG_WAS_DIR != 0;
        let verdict = match cached.filter(|entry| same_rules.is_some() && was_dir(entry) == is_dir) {
            Some(Entry { kind: EntryKind::Excluded, .. }) => Verdict::Exclude,
            Some(Entry { kind: EntryKind::Skipped(SkipReason::Secret), .. }) => Verdict::Secret,
            Some(_) => Verdict::Capture,
            None => here.rules.verdict(&joined(here.path, name), is_dir, &|path| self.load_rules(path)),
        };
        match verdict {
            Verdict::Exclude => done(EntryKind::Excluded),
            Verdict::Secret => done(EntryKind::Skipped(SkipReason::Secret)),
            Verdict::Capture if is_dir => {
                Job::Sub(cached.filter(|entry| entry.kind == EntryKind::Dir).map(|entry| entry.child))
            }
            Verdict::Capture => Job::Leaf(cached),
        }
    }

    fn flags(&self, dir: &NewDir) -> u8 {
        let mut flags = DIR_BARE;
        for NewEntry { entry, child, .. } in &dir.entries {
            let child = child.as_ref().map(|node| self.flags_of(node));
            flags |= child.map_or(0, inherited);
            if child.is_none_or(|child| child & DIR_BARE == 0) {
                flags &= !DIR_BARE;
            }
            let noted = matches!(entry.kind, EntryKind::Skipped(_) | EntryKind::GitDir);
            if noted || entry.flags & FLAG_UNSTABLE != 0 {
                flags |= DIR_NOTES;
            }
        }
        if dir.entries.is_empty() { flags | DIR_EMPTY } else { flags }
    }

    fn tree(&self, dir: &NewDir, known: Option<Oid>) -> Result<Option<Oid>, Error> {
        let mut entries: Vec<TreeEntry<'_>> = Vec::with_capacity(dir.entries.len());
        for entry in &dir.entries {
            let name = dir.name(entry);
            let mode = match entry.entry.kind {
                EntryKind::File => Mode::File,
                EntryKind::Exec => Mode::Exec,
                EntryKind::Link => Mode::Link,
                EntryKind::Dir => {
                    let tree = entry.child.as_ref().and_then(|node| self.tree_of(node));
                    entries.extend(tree.map(|oid| TreeEntry { name, mode: Mode::Dir, oid }));
                    continue;
                }
                EntryKind::Excluded | EntryKind::Skipped(_) | EntryKind::GitDir => continue,
            };
            entries.push(TreeEntry { name, mode, oid: entry.entry.oid });
        }
        if entries.is_empty() {
            return Ok(None);
        }
        entries.sort_unstable_by(|a, b| order(a.name, a.mode == Mode::Dir, b.name, b.mode == Mode::Dir));
        let mut bytes = Vec::new();
        entries.iter().for_each(|entry| push(&mut bytes, *entry));
        let oid = hash(Kind::Tree, &bytes);
        if known == Some(oid) { Ok(known) } else { self.sink.keep(&bytes).map(Some) }
    }
}

/// What a subdirectory is in its parent.
fn settled(found: Found) -> Outcome {
    match found {
        Found::Gone => None,
        Found::Skip(reason) => Some((Entry::bare(EntryKind::Skipped(reason), FLAG_WAS_DIR), None)),
        Found::Node(node) => Some((Entry::bare(EntryKind::Dir, 0), Some(node))),
    }
}

/// Whether a file is the one that was hashed.
pub(super) fn is_clean(entry: &Entry, now: &Stamp) -> bool {
    entry.flags & (FLAG_RACY | FLAG_UNSTABLE) == 0 && entry.stamp == *now
}
