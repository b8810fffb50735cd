//! Copying one turn of the reference: its tree, and its copies of external files.

use super::externals::{External, externals, is_own};
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::commit::{ExternalKind, ExternalState};
use crate::external::{checked, tree_path};
use crate::names::{NameClass, classify};
use crate::objects::Objects;
use crate::oid::Kind;
use crate::rel_path::{RelPath, joined};
use crate::sink::ObjectSink;
use crate::skipped::{SkipReason, Skipped};
use crate::tree::{Mode, TreeEntry, parse, push};
use crate::tree_diff::Leaf;
use crate::tree_edit::{Edit, TreeSink as _, edit};
use crate::{Error, Oid};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;

/// A turn that was copied.
pub(super) struct Copied {
    pub(super) tree: Oid,
    pub(super) files: u64,
    pub(super) skipped: Vec<Skipped>,
    pub(super) external: Vec<ExternalState>,
}

impl Copied {
    /// A tree of which there is nothing more to say.
    pub(super) fn of(tree: Oid) -> Self {
        Copied { tree, files: 0, skipped: Vec::new(), external: Vec::new() }
    }
}

pub(super) struct Copy<'a> {
    from: &'a Objects,
    sink: &'a ObjectSink<'a>,
    cancel: &'a Cancel,
    /// Whether the reference's own names at the top are left out.
    leaves_out_own: bool,
    copied: Copied,
}

impl<'a> Copy<'a> {
    pub(super) fn new(from: &'a Objects, sink: &'a ObjectSink<'a>, cancel: &'a Cancel) -> Self {
        Copy { from, sink, cancel, leaves_out_own: false, copied: Copied::of(Oid::ZERO) }
    }

    /// Copies the tree of a turn.
    pub(super) fn turn(mut self, into: &Checkpoints, tree: Oid) -> Result<Copied, Error> {
        let external = externals(self.from, tree)?;
        self.leaves_out_own = external.is_some();
        let copied = self.tree(tree, b"")?;
        let mut edits = BTreeMap::new();
        for external in external.unwrap_or_default() {
            self.external(into, &external, &mut edits)?;
        }
        let tree = edit(self.sink, copied, &edits)?;
        self.copied.tree = tree.map_or_else(|| self.sink.keep(b""), Ok)?;
        Ok(self.copied)
    }

    fn tree(&mut self, oid: Oid, path: &[u8]) -> Result<Option<Oid>, Error> {
        self.cancel.check()?;
        let bytes = self.from.read_kind(oid, Kind::Tree)?;
        let mut copied = Vec::new();
        for entry in parse(&bytes).ok_or_else(|| self.from.damaged(oid))? {
            let path = joined(path, entry.name);
            let is_plain = classify(entry.name, !path.contains(&b'/')) == NameClass::Plain;
            if !is_plain || entry.mode == Mode::Gitlink || self.leaves_out_own && is_own(&path) {
                self.skip(path);
                continue;
            }
            if entry.mode == Mode::Dir {
                if let Some(oid) = self.tree(entry.oid, &path)? {
                    push(&mut copied, TreeEntry { oid, ..entry });
                }
                continue;
            }
            let content = self.from.read_kind(entry.oid, Kind::Blob)?;
            self.sink.blob(&content, None, || self.from.dir().to_owned())?;
            self.copied.files += 1;
            push(&mut copied, entry);
        }
        if copied.is_empty() { Ok(None) } else { self.sink.keep(&copied).map(Some) }
    }

    fn skip(&mut self, path: Vec<u8>) {
        let skipped = |path| Skipped { path, reason: SkipReason::ReservedName, size: 0 };
        self.copied.skipped.extend(RelPath::new(path).map(skipped));
    }

    fn external(
        &mut self,
        into: &Checkpoints,
        external: &External,
        edits: &mut BTreeMap<Vec<u8>, Edit>,
    ) -> Result<(), Error> {
        let Ok(path) = checked(&external.path, &into.workspace, &into.layout.store) else {
            self.skip(tree_path(external.path.as_os_str().as_bytes()));
            return Ok(());
        };
        let path = path.as_os_str().as_bytes().to_vec();
        let content = external.copy.map(|oid| self.from.read_kind(oid, Kind::Blob)).transpose()?.unwrap_or_default();
        let state = if content.is_empty() { ExternalKind::Skipped } else { ExternalKind::File };
        if state == ExternalKind::File {
            let oid = self.sink.blob(&content, None, || self.from.dir().to_owned())?;
            edits.insert(tree_path(&path), Edit::Put(Leaf { mode: Mode::File, oid }));
            self.copied.files += 1;
        }
        self.copied.external.push(ExternalState { path, state, mode: 0 });
        Ok(())
    }
}
