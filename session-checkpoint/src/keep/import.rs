//! Taking a turn of the reference's repository into the store, so that it can be restored, safely, like one of ours.
//!
//! That repository is read and never written.

use crate::cancel::Cancel;
use crate::checkpoints::{Checkpoints, Locked};
use crate::commit::{self, ChangedBy, RuleFacts, Trailer, TurnKind};
use crate::names::{NameClass, classify};
use crate::objects::Objects;
use crate::oid::{Kind, hash};
use crate::options::Level;
use crate::pack::PackWriter;
use crate::point::{Point, TurnRef};
use crate::reader::Reader;
use crate::refs::Family;
use crate::rel_path::{RelPath, joined};
use crate::sink::ObjectSink;
use crate::skipped::{SkipReason, Skipped};
use crate::snapshot::{head_of, last_safety};
use crate::tree::{Mode, parse, push};
use crate::tree_edit::TreeSink as _;
use crate::{Error, Oid};
use std::path::Path;

impl Checkpoints {
    /// Takes a turn of the reference's repository (the directory that holds `.git`) into this store, as a safety
    /// snapshot, and gives its name. On disk when it returns: that snapshot; there, nothing changed.
    ///
    /// Submodules and nested repositories are commits there and cannot be taken; what is on the disk in their place
    /// will be left alone.
    ///
    /// # Errors
    /// [`Error::NoStore`], [`Error::NoTurn`], [`Error::BrokenTurn`], [`Error::Busy`], and failed operations.
    pub fn import_reference(&mut self, dir: &Path, turn: u32, cancel: &Cancel) -> Result<TurnRef, Error> {
        let reference = Reader::open_reference(dir)?;
        let theirs = reference.objects()?;
        let point = reference.point(&theirs, TurnRef::Turn(turn))?;
        let locked = self.begin()?;
        let n = last_safety(&locked)? + 1;
        let writer = PackWriter::new(&self.layout.packs(), self.options.max_pack_bytes, true);
        let sink = ObjectSink::new(&locked.objects, &locked.packs, writer, Level::Fast, 0);
        let mut copy = Copy { from: &theirs, sink: &sink, cancel, skipped: Vec::new(), files: 0 };
        let tree = match copy.tree(point.commit.tree, b"")? {
            Some(tree) => tree,
            None => sink.keep(b"")?,
        };
        let (skipped, files) = (copy.skipped, copy.files);
        let oid = self.import_commit(&locked, sink, &point, (n, tree), skipped, files)?;
        locked.refs.create(&Family::Safety.name(n), oid, true)?;
        Ok(TurnRef::Safety(n))
    }

    fn import_commit(
        &self,
        locked: &Locked,
        sink: ObjectSink<'_>,
        point: &Point,
        (n, tree): (u32, Oid),
        skipped: Vec<Skipped>,
        files: u64,
    ) -> Result<Oid, Error> {
        let trailer = Trailer {
            v: crate::layout::FORMAT,
            turn: n,
            kind: TurnKind::Safety,
            label: format!("reference {}: {}", point.name, point.commit.subject),
            time_ms: point.commit.time_s * 1000,
            by: ChangedBy::Session,
            complete: true,
            files,
            restored_from: None,
            safety: None,
            looked_for: None,
            external: Vec::new(),
            skipped_n: skipped.len() as u64,
            skipped,
            empty_dirs: Vec::new(),
            // Git keeps no empty directories: which there were is unknown, so none is removed.
            empty_dirs_n: u64::MAX,
            rules: RuleFacts { gitignore: true, ..RuleFacts::default() },
        };
        let bytes = commit::encode(tree, head_of(locked)?.map(|(oid, _)| oid), &trailer);
        let oid = hash(Kind::Commit, &bytes);
        sink.put(Kind::Commit, oid, &bytes)?;
        sink.finish()?;
        Ok(oid)
    }
}

struct Copy<'a> {
    from: &'a Objects,
    sink: &'a ObjectSink<'a>,
    cancel: &'a Cancel,
    skipped: Vec<Skipped>,
    files: u64,
}

impl Copy<'_> {
    fn tree(&mut self, oid: Oid, path: &[u8]) -> Result<Option<Oid>, Error> {
        self.cancel.check()?;
        let bytes = self.from.read_kind(oid, Kind::Tree)?;
        let mut copied = Vec::new();
        for entry in parse(&bytes).ok_or_else(|| self.from.damaged(oid))? {
            let path = joined(path, entry.name);
            if classify(entry.name, !path.contains(&b'/')) != NameClass::Plain || entry.mode == Mode::Gitlink {
                let reason = SkipReason::ReservedName;
                self.skipped.extend(RelPath::new(path).map(|path| Skipped { path, reason, size: 0 }));
                continue;
            }
            if entry.mode == Mode::Dir {
                if let Some(oid) = self.tree(entry.oid, &path)? {
                    push(&mut copied, crate::tree::TreeEntry { oid, ..entry });
                }
                continue;
            }
            let content = self.from.read_kind(entry.oid, Kind::Blob)?;
            self.sink.blob(&content, None, || self.from.dir().to_owned())?;
            self.files += 1;
            push(&mut copied, entry);
        }
        if copied.is_empty() { Ok(None) } else { self.sink.keep(&copied).map(Some) }
    }
}
