//! Taking a turn of the reference's repository into the store, so that it can be restored, safely, like one of ours.
//!
//! That repository is read and never written.

mod copy;
mod externals;

pub(crate) use externals::is_own;

use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::commit::{self, ChangedBy, RuleFacts, Trailer, TurnKind};
use crate::locked::Locked;
use crate::names::{NameClass, classify};
use crate::objects::Objects;
use crate::oid::{Kind, hash};
use crate::options::Level;
use crate::pack::PackWriter;
use crate::point::{Point, TurnRef, read_commit};
use crate::reader::Reader;
use crate::refs::Family;
use crate::sink::ObjectSink;
use crate::snapshot::last_safety;
use crate::tree::Mode;
use crate::tree_diff::{Leaf, diff};
use crate::tree_edit::{Edit, TreeSink as _, edit};
use crate::{Error, Oid};
use copy::{Copied, Copy};
use session_disk::Durability;
use std::collections::BTreeMap;
use std::path::Path;

impl Checkpoints {
    /// Takes a turn of the reference's repository (the directory that holds `.git`) into this store, as a safety
    /// snapshot, and gives its name. On disk when it returns: that snapshot; there, nothing changed.
    ///
    /// Submodules and nested repositories are commits there and cannot be taken; what is on the disk in their place
    /// will be left alone. So will be what none of the reference's turns ever held: its rules, and those of its user,
    /// are not known, and what they excluded may have been there.
    ///
    /// Files outside the workspace are taken too. An empty copy there is left out: the reference makes one both of an
    /// empty file and of one that does not exist.
    ///
    /// # Errors
    /// [`Error::NoStore`], [`Error::NoTurn`], [`Error::BrokenTurn`], [`Error::Busy`], and failed operations.
    pub fn import_reference(&mut self, dir: &Path, turn: u32, cancel: &Cancel) -> Result<TurnRef, Error> {
        let reference = Reader::open_reference(dir)?;
        let theirs = reference.objects()?;
        let point = reference.point(&theirs, TurnRef::Turn(turn))?;
        let locked = self.begin()?;
        let n = last_safety(&locked)? + 1;
        let writer = PackWriter::new(&self.layout.packs(), self.options.max_pack_bytes, Durability::Data);
        let sink = ObjectSink::new(&locked.objects, &locked.packs, writer, Level::Fast, 0);
        let import = Import { into: self, reference: &reference, theirs: &theirs, sink: &sink, cancel, n };
        let oid = import.chain(&locked, &point)?;
        sink.finish()?;
        locked.refs.create(&Family::Safety.name(n), oid, Durability::Data)?;
        Ok(TurnRef::Safety(n))
    }
}

struct Import<'a> {
    into: &'a Checkpoints,
    reference: &'a Reader,
    theirs: &'a Objects,
    sink: &'a ObjectSink<'a>,
    cancel: &'a Cancel,
    n: u32,
}

impl Import<'_> {
    /// Three commits, one on the other: the paths that any of the reference's turns held, its newest turn, and the
    /// wanted one.
    fn chain(&self, locked: &Locked, wanted: &Point) -> Result<Oid, Error> {
        let head = self.into.head(locked)?.map(|(oid, _)| oid);
        let paths = Copied::of(self.paths_ever()?);
        let ever = self.commit(paths, "paths of all turns of the reference", 0, (head, None))?;
        let turn = |point: &Point, parent| {
            let copied = Copy::new(self.theirs, self.sink, self.cancel).turn(self.into, point.commit.tree)?;
            let label = format!("reference {}: {}", point.name, point.commit.subject);
            self.commit(copied, &label, point.commit.time_s, (Some(parent), Some(ever)))
        };
        // Without a newest turn that can be read, nothing says that an edit is nobody's; the wanted one is read already.
        let newest = self.reference.point(self.theirs, TurnRef::Latest).and_then(|point| turn(&point, ever));
        turn(wanted, newest.or_else(|error| if is_damage(&error) { Ok(ever) } else { Err(error) })?)
    }

    /// A tree with every path that a turn held, and nothing in the files: which of them a turn lacks is known to have been
    /// absent then.
    fn paths_ever(&self) -> Result<Oid, Error> {
        let nothing = self.sink.blob(b"", None, || self.sink.dir().to_owned())?;
        let mut edits: BTreeMap<Vec<u8>, Edit> = BTreeMap::new();
        let mut before = None;
        for target in self.reference.refs().list(Family::Turn)?.into_values().flatten() {
            self.cancel.check()?;
            let Ok((_, commit)) = read_commit(self.theirs, target) else { continue };
            let deltas = match diff(self.theirs, before, Some(commit.tree)) {
                // What a damaged turn held is not known, so that less is deleted.
                Err(error) if is_damage(&error) => continue,
                other => other?,
            };
            before = Some(commit.tree);
            for delta in deltas {
                let is_plain =
                    delta.path.split(|byte| *byte == b'/').all(|name| classify(name, true) == NameClass::Plain);
                if is_plain && delta.new.is_some_and(|leaf| leaf.mode != Mode::Gitlink) && !is_own(&delta.path) {
                    edits.insert(delta.path, Edit::Put(Leaf { mode: Mode::File, oid: nothing }));
                }
            }
        }
        edit(self.sink, None, &edits)?.map_or_else(|| self.sink.keep(b""), Ok)
    }

    fn commit(
        &self,
        copied: Copied,
        label: &str,
        time_s: i64,
        (parent, looked_for): (Option<Oid>, Option<Oid>),
    ) -> Result<Oid, Error> {
        let trailer = Trailer {
            v: crate::layout::FORMAT,
            turn: self.n,
            kind: TurnKind::Safety,
            label: label.to_owned(),
            time_ms: time_s * 1000,
            by: ChangedBy::Session,
            complete: true,
            files: copied.files,
            restored_from: None,
            safety: None,
            partial: false,
            looked_for,
            imported: true,
            external: copied.external,
            skipped_n: copied.skipped.len() as u64,
            skipped: copied.skipped,
            empty_dirs: Vec::new(),
            // Git keeps no empty directories: which there were is unknown, so none is removed.
            empty_dirs_n: u64::MAX,
            hidden_dirs: Vec::new(),
            hidden_dirs_n: 0,
            // Which rules there were is unknown as well: only what was looked for counts.
            rules: RuleFacts { excludes: vec!["*".to_owned()], ..RuleFacts::default() },
        };
        let bytes = commit::encode(copied.tree, parent, &trailer);
        let oid = hash(Kind::Commit, &bytes);
        self.sink.put(Kind::Commit, oid, &bytes)?;
        Ok(oid)
    }
}

fn is_damage(error: &Error) -> bool {
    matches!(error, Error::BrokenTurn { .. } | Error::MissingObject { .. } | Error::DamagedObject { .. })
}
