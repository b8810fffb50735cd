//! The reader: everything that only looks. It takes no lock, writes nothing, and works on a read-only store.

use crate::commit::TurnKind;
use crate::journal::{self, Interrupted};
use crate::layout::{Layout, REFERENCE_EXTERNALS};
use crate::meta::{Failure, Meta};
use crate::objects::Objects;
use crate::oid::Kind;
use crate::point::{Point, TurnRef, find, read_commit};
use crate::refs::{Family, Refs};
use crate::rel_path::RelPath;
use crate::tree::Mode;
use crate::tree_diff::{Leaf, leaves};
use crate::turns::{Change, Turn, changes, read_recorded};
use crate::{Error, Oid, health, stored, tree_edit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The checkpoints of a store, for reading.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(crate) layout: Layout,
}

/// A file at a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileAt {
    /// The path. External files stand below `.session-external/`.
    pub path: RelPath,
    /// What it is.
    pub mode: Mode,
    /// The id of its content.
    pub oid: Oid,
}

/// A file's content at a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blob {
    /// What it is.
    pub mode: Mode,
    /// Its id.
    pub oid: Oid,
    /// The bytes; of a link, what it points to.
    pub bytes: Vec<u8>,
}

/// How a store is, apart from its turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The workspace's path.
    pub workspace: PathBuf,
    /// Files outside the workspace that are tracked.
    pub externals: Vec<PathBuf>,
    /// Turns that are protected from being dropped.
    pub pinned: Vec<u32>,
    /// The newest turn that was inherited from the session this one was forked from.
    pub fork_base: Option<u32>,
    /// The last snapshot's failure, where it failed: there is no checkpoint of that moment.
    pub failure: Option<Failure>,
    /// A restore that did not end.
    pub interrupted: Option<Interrupted>,
}

impl Reader {
    /// Opens a store for reading.
    ///
    /// # Errors
    /// [`Error::NoStore`] where there is none; [`Error::NewerFormat`]; failed reads.
    pub fn open(store: &Path) -> Result<Self, Error> {
        let layout = Layout::new(store);
        match Meta::read(&layout) {
            Ok(None) => Err(Error::NoStore { path: store.to_owned() }),
            // A damaged meta file takes nothing from the turns.
            Ok(Some(_)) | Err(Error::Damaged { .. }) => Ok(Reader { layout }),
            Err(error) => Err(error),
        }
    }

    /// Opens the reference's repository: `.git` in the directory that is given, with tags `turn-N`. Its turns are listed,
    /// compared and read like ours; it is never written. To restore one,
    /// [`import_reference`](crate::Checkpoints::import_reference).
    ///
    /// # Errors
    /// [`Error::NoStore`] where there is none.
    pub fn open_reference(dir: &Path) -> Result<Self, Error> {
        let repo = dir.join(".git");
        if !repo.join("objects").is_dir() {
            return Err(Error::NoStore { path: repo });
        }
        // Nothing of ours, which may stand beside it, is the reference's.
        Ok(Reader { layout: Layout { store: repo.clone(), repo } })
    }

    /// The absolute paths that the reference's `external-files.json` names, in whatever form it names them; none where
    /// there is no such file.
    ///
    /// # Errors
    /// [`Error::Damaged`] where it is no JSON; failed reads.
    pub fn reference_externals(&self) -> Result<Vec<PathBuf>, Error> {
        let path = self.layout.repo.with_file_name(REFERENCE_EXTERNALS);
        let Some(bytes) = stored::read(&path)? else { return Ok(Vec::new()) };
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|_| Error::Damaged { path })?;
        let mut paths = Vec::new();
        absolute_paths(&value, &mut paths);
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Whether this is the reference's repository.
    pub(crate) fn is_reference(&self) -> bool {
        self.layout.store == self.layout.repo
    }

    pub(crate) fn objects(&self) -> Result<Objects, Error> {
        Objects::open(&self.layout.objects())
    }

    pub(crate) fn refs(&self) -> Refs {
        Refs::of(&self.layout)
    }

    pub(crate) fn point(&self, objects: &Objects, at: TurnRef) -> Result<Point, Error> {
        find(&self.refs(), objects, at)
    }

    /// All turns, the oldest first, as they were recorded. What is known to be broken is listed as such.
    ///
    /// # Errors
    /// Failed reads of the store's own files. A turn that cannot be read is no error.
    pub fn turns(&self) -> Result<Vec<Turn>, Error> {
        let refs = self.refs();
        let mut recorded = read_recorded(&self.layout)?;
        let pinned = Meta::read(&self.layout).ok().flatten().map(|meta| meta.pinned).unwrap_or_default();
        let mut objects = None;
        let mut turns = Vec::new();
        for (n, target) in refs.list(Family::Turn)? {
            let known = target.and_then(|oid| recorded.remove(&oid)).filter(|turn| turn.turn == n);
            let mut turn = match (known, target) {
                (Some(turn), _) => turn,
                (None, None) => Turn::broken(n, None),
                (None, Some(oid)) => {
                    let objects = match &mut objects {
                        Some(objects) => objects,
                        none => none.insert(self.objects()?),
                    };
                    remade(objects, n, oid).unwrap_or_else(|_| Turn::broken(n, Some(oid)))
                }
            };
            turn.pinned = pinned.contains(&n);
            turns.push(turn);
        }
        health::mark(&self.layout, &mut turns)?;
        Ok(turns)
    }

    /// One turn with all of its changes.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], and failed reads.
    pub fn turn(&self, at: TurnRef) -> Result<Turn, Error> {
        let objects = self.objects()?;
        let point = self.point(&objects, at)?;
        let n = point.commit.trailer.as_ref().map_or(0, |trailer| trailer.turn);
        let n = if let TurnRef::Turn(n) = point.name { n } else { n };
        let changed = changes_of(&objects, &point)?;
        let mut turn = Turn::of(&point.commit, point.oid, n, &[]);
        turn.changed_n = changed.len() as u64;
        turn.changed = changed;
        let pinned = Meta::read(&self.layout).ok().flatten().is_some_and(|meta| meta.pinned.contains(&n));
        turn.pinned = pinned && turn.kind != TurnKind::Safety;
        Ok(turn)
    }

    /// All safety snapshots, by number.
    ///
    /// # Errors
    /// Failed reads.
    pub fn safeties(&self) -> Result<BTreeMap<u32, Oid>, Error> {
        let all = self.refs().list(Family::Safety)?;
        Ok(all.into_iter().filter_map(|(n, target)| Some((n, target?))).collect())
    }

    /// What differs between two checkpoints.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], and failed reads.
    pub fn changes(&self, from: TurnRef, to: TurnRef) -> Result<Vec<Change>, Error> {
        let objects = self.objects()?;
        let (from, to) = (self.point(&objects, from)?, self.point(&objects, to)?);
        changes(&objects, Some(from.commit.tree), Some(to.commit.tree))
    }

    /// All files of a checkpoint, in the order of their paths.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], and failed reads.
    pub fn files(&self, at: TurnRef) -> Result<Vec<FileAt>, Error> {
        let objects = self.objects()?;
        let point = self.point(&objects, at)?;
        let file =
            |(path, leaf): (Vec<u8>, Leaf)| Some(FileAt { path: RelPath::new(path)?, mode: leaf.mode, oid: leaf.oid });
        Ok(leaves(&objects, Some(point.commit.tree))?.into_iter().filter_map(file).collect())
    }

    /// A file's content at a checkpoint; `None` where it has none there.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], [`Error::MissingObject`], [`Error::DamagedObject`], failed reads.
    pub fn read(&self, at: TurnRef, path: &RelPath) -> Result<Option<Blob>, Error> {
        let objects = self.objects()?;
        let point = self.point(&objects, at)?;
        let broken = |source| Error::BrokenTurn { turn: point.name.to_string(), source: Box::new(source) };
        let leaf = tree_edit::find(&objects, Some(point.commit.tree), path.as_bytes()).map_err(broken)?;
        let file = leaf.filter(|leaf| !matches!(leaf.mode, Mode::Dir | Mode::Gitlink));
        file.map(|Leaf { mode, oid }| {
            let bytes = objects.read_kind(oid, Kind::Blob).map_err(broken)?;
            Ok(Blob { mode, oid, bytes })
        })
        .transpose()
    }

    /// How the store is.
    ///
    /// # Errors
    /// [`Error::Damaged`] where `meta.json` does not read; failed reads.
    pub fn status(&self) -> Result<Status, Error> {
        let meta = Meta::read(&self.layout)?.ok_or_else(|| Error::NoStore { path: self.layout.store.clone() })?;
        Ok(Status {
            workspace: meta.workspace.path.path(),
            externals: meta.externals.iter().map(crate::meta::AbsPath::path).collect(),
            pinned: meta.pinned.into_iter().collect(),
            fork_base: meta.fork_base,
            failure: meta.failure,
            interrupted: self.interrupted()?,
        })
    }

    /// A restore that did not end, if there is one.
    ///
    /// # Errors
    /// Failed reads.
    pub fn interrupted(&self) -> Result<Option<Interrupted>, Error> {
        Ok(journal::read(&self.layout)?.map(|journal| journal.told()))
    }
}

/// What a checkpoint changed against its parent.
pub(crate) fn changes_of(objects: &Objects, point: &Point) -> Result<Vec<Change>, Error> {
    // A parent that was dropped, or is damaged, makes everything new.
    let parent = point.commit.parent.and_then(|oid| read_commit(objects, oid).ok());
    changes(objects, parent.map(|(_, commit)| commit.tree), Some(point.commit.tree))
}

/// A turn that is not in the list, made again from its commit.
fn remade(objects: &Objects, n: u32, oid: Oid) -> Result<Turn, Error> {
    let (oid, commit) = read_commit(objects, oid)?;
    let point = Point { name: TurnRef::Turn(n), oid, commit };
    let changed = changes_of(objects, &point)?;
    Ok(Turn::of(&point.commit, oid, n, &changed))
}

fn absolute_paths(value: &serde_json::Value, paths: &mut Vec<PathBuf>) {
    match value {
        serde_json::Value::String(text) => paths.extend(Some(PathBuf::from(text)).filter(|path| path.is_absolute())),
        serde_json::Value::Array(items) => items.iter().for_each(|item| absolute_paths(item, paths)),
        serde_json::Value::Object(members) => {
            for (key, item) in members {
                paths.extend(Some(PathBuf::from(key)).filter(|path| path.is_absolute()));
                absolute_paths(item, paths);
            }
        }
        _ => {}
    }
}
