//! Making the next cache from what a walk found.

use super::entry::ENTRY_LEN;
use super::{Cache, Entry, EntryKind, Header, NewDir, Node, header};

#[derive(Default)]
struct Builder {
    dirs: Vec<u8>,
    entries: Vec<u8>,
    names: Vec<u8>,
}

/// The cache of a tree whose unchanged parts are taken from the old one.
pub(crate) fn build(old: Option<&Cache>, root: &NewDir, mut header: Header) -> Cache {
    let mut builder = Builder::default();
    if let Some(old) = old {
        // Most of it will be copied; growing step by step would copy it again and again.
        builder.dirs.reserve(old.entries - old.dirs);
        builder.entries.reserve(old.names - old.entries);
        builder.names.reserve(old.bytes.len() - old.names);
    }
    builder.new_dir(old, root);
    header.dir_count = count(builder.dirs.len() / super::DIR_LEN);
    header.entry_count = count(builder.entries.len() / ENTRY_LEN);
    header.name_bytes = count(builder.names.len());
    let mut bytes = vec![0; header::LEN];
    bytes.reserve_exact(builder.dirs.len() + builder.entries.len() + builder.names.len());
    for part in [&builder.dirs, &builder.entries, &builder.names] {
        bytes.extend_from_slice(part);
    }
    header.write(&mut bytes);
    Cache::parse(bytes).expect("a cache that was just built is whole")
}

fn count(n: usize) -> u32 {
    u32::try_from(n).expect("the limit on files keeps a cache below 4 GiB")
}

impl Builder {
    fn new_dir(&mut self, old: Option<&Cache>, dir: &NewDir) -> u32 {
        let children: Vec<u32> = dir
            .entries
            .iter()
            .map(|entry| match (&entry.child, old) {
                (Some(Node::New(child)), _) => self.new_dir(old, child),
                (Some(Node::Same(n)), Some(old)) => self.same_dir(old, *n),
                _ => 0,
            })
            .collect();
        let first = count(self.entries.len() / ENTRY_LEN);
        for (entry, child) in dir.entries.iter().zip(children) {
            let name = dir.name(entry);
            self.entry(&Entry { child, ..entry.entry }, name);
        }
        self.dir(first, count(dir.entries.len()), dir.flags, dir.rules, dir.tree)
    }

    fn same_dir(&mut self, old: &Cache, n: u32) -> u32 {
        let dir = old.dir(n);
        let children: Vec<u32> = dir
            .range()
            .filter_map(|at| Some(old.entry(at)).filter(|entry| entry.kind == EntryKind::Dir))
            .map(|entry| self.same_dir(old, entry.child))
            .collect();
        let first = count(self.entries.len() / ENTRY_LEN);
        let mut children = children.into_iter();
        for at in dir.range() {
            let mut entry = old.entry(at);
            if entry.kind == EntryKind::Dir {
                entry.child = children.next().expect("one for each directory, from above");
            }
            self.entry(&entry, old.name(at));
        }
        self.dir(first, dir.count, dir.flags, dir.rules, dir.tree)
    }

    fn entry(&mut self, entry: &Entry, name: &[u8]) {
        let at = count(self.names.len());
        let len = u16::try_from(name.len()).expect("a file name has at most 255 bytes");
        entry.write(at, len, &mut self.entries);
        self.names.extend_from_slice(name);
    }

    fn dir(&mut self, first: u32, entries: u32, flags: u8, rules: u64, tree: Option<crate::Oid>) -> u32 {
        let n = count(self.dirs.len() / super::DIR_LEN);
        self.dirs.extend_from_slice(&first.to_le_bytes());
        self.dirs.extend_from_slice(&entries.to_le_bytes());
        self.dirs.extend_from_slice(&[flags, 0, 0, 0]);
        self.dirs.extend_from_slice(&rules.to_le_bytes());
        self.dirs.extend_from_slice(tree.unwrap_or(crate::Oid::ZERO).as_bytes());
        n
    }
}
