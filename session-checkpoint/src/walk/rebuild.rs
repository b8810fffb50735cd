//! A directory in which something changed: every name anew, then its tree.

use super::dir::{Found, Here};
use super::{Walk, inherited};
use crate::cache::{
    DIR_BARE, DIR_EMPTY, DIR_NOTES, Entry, EntryKind, FLAG_UNSTABLE, FLAG_WAS_DIR, NewDir, NewEntry, Node,
};
use crate::names::{NameClass, classify};
use crate::oid::{Kind, hash};
use crate::rel_path::joined;
use crate::rules::Verdict;
use crate::skipped::SkipReason;
use crate::tree::{Mode, TreeEntry, order, push};
use crate::tree_edit::TreeSink as _;
use crate::{Error, Oid};

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
    /// Looks at every name, but for the subdirectories that are known by now.
    pub(super) fn rebuild(&self, mut here: Here<'_>, known: Option<Vec<(usize, Found)>>) -> Result<NewDir, Error> {
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

    fn look_at_leaf(
        &self,
        here: &Here<'_>,
        n: usize,
        cached: Option<Entry>,
        counted: bool,
    ) -> Result<Option<Entry>, Error> {
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
        let mut dir = NewDir::default();
        dir.rules = here.rules.key();
        for (n, outcome) in outcomes.into_iter().enumerate() {
            let Some((entry, child)) = outcome else { continue };
            dir.push(here.listing.name(n), entry, child);
        }
        dir.flags = self.flags(&dir);
        dir.tree = self.tree(&dir, here.cached.and_then(|(_, cached)| cached.tree))?;
        if dir.tree.is_none() {
            dir.flags |= DIR_NOTES;
        }
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
