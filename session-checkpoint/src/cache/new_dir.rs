//! What a walk found, for the next cache.

use super::Entry;
use crate::Oid;

/// What became of a directory since the cache was made.
#[derive(Debug)]
pub(crate) enum Node {
    /// Nothing: it is this one in the cache, with everything below it.
    Same(u32),
    /// Something, be it only a stamp.
    New(Box<NewDir>),
}

/// A directory as the walk found it.
#[derive(Debug, Default)]
pub(crate) struct NewDir {
    /// Its tree; `None` where nothing in it is stored.
    pub(crate) tree: Option<Oid>,
    pub(crate) flags: u8,
    pub(crate) rules: u64,
    /// Sorted by name.
    pub(crate) entries: Vec<NewEntry>,
    names: Vec<u8>,
}

/// A name in it.
#[derive(Debug)]
pub(crate) struct NewEntry {
    name_at: u32,
    name_len: u16,
    pub(crate) entry: Entry,
    pub(crate) child: Option<Node>,
}

impl NewDir {
    /// Adds a name, the greatest so far.
    pub(crate) fn push(&mut self, name: &[u8], entry: Entry, child: Option<Node>) {
        let (name_at, name_len) = (u32::try_from(self.names.len()), u16::try_from(name.len()));
        self.names.extend_from_slice(name);
        self.entries.push(NewEntry {
            name_at: name_at.expect("a directory's names stay below 4 GiB"),
            name_len: name_len.expect("a file name has at most 255 bytes"),
            entry,
            child,
        });
    }

    pub(crate) fn name(&self, entry: &NewEntry) -> &[u8] {
        &self.names[entry.name_at as usize..][..usize::from(entry.name_len)]
    }
}
