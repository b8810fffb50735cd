//! Turns as they are listed, and the file that keeps the list.
//!
//! `turns.jsonl` is derived: one line per turn, written when the turn is. Whatever is missing there, or does not fit its
//! reference, is made again from the commit and its trees.

use crate::commit::{ChangedBy, Commit, LIST_CAP, TurnKind};
use crate::error::reading;
use crate::layout::Layout;
use crate::objects::Trees;
use crate::rel_path::RelPath;
use crate::skipped::Skipped;
use crate::tree::Mode;
use crate::tree_diff::{Delta, Leaf, diff};
use crate::{Error, Oid, stored};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// It is new.
    #[serde(rename = "A")]
    Added,
    /// Its content or its exec bit is another.
    #[serde(rename = "M")]
    Modified,
    /// It is gone.
    #[serde(rename = "D")]
    Deleted,
    /// It was a file and is a link, or the other way round.
    #[serde(rename = "T")]
    TypeChanged,
}

/// What a path held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Content {
    /// What it was.
    pub mode: Mode,
    /// The id of the content; for a link, of what it pointed to.
    pub oid: Oid,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// The path. External files stand below `.session-external/`.
    pub path: RelPath,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it held before; `None` where it was not there.
    pub before: Option<Content>,
    /// What it holds now; `None` where it is not there.
    pub after: Option<Content>,
}

impl From<Leaf> for Content {
    fn from(leaf: Leaf) -> Self {
        Content { mode: leaf.mode, oid: leaf.oid }
    }
}

pub(crate) fn change(delta: Delta) -> Option<Change> {
    let is_link = |leaf: &Leaf| leaf.mode == Mode::Link;
    let kind = match (&delta.old, &delta.new) {
        (None, None) => return None,
        (None, Some(_)) => ChangeKind::Added,
        (Some(_), None) => ChangeKind::Deleted,
        (Some(old), Some(new)) if is_link(old) != is_link(new) => ChangeKind::TypeChanged,
        (Some(_), Some(_)) => ChangeKind::Modified,
    };
    let path = RelPath::new(delta.path)?;
    Some(Change { path, kind, before: delta.old.map(Content::from), after: delta.new.map(Content::from) })
}

/// All changes between two trees.
pub(crate) fn changes(trees: &impl Trees, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<Change>, Error> {
    Ok(diff(trees, old, new)?.into_iter().filter_map(change).collect())
}

/// Whether a checkpoint can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// Nothing is known to be wrong with it.
    #[default]
    Good,
    /// Something of it is missing or damaged; `verify` says what.
    Broken,
}

/// A checkpoint, as it was recorded when it was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// Its number.
    pub turn: u32,
    /// Its commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// When, in milliseconds since 1970, UTC.
    pub time_ms: i64,
    /// What the caller called it.
    pub label: String,
    /// What it is.
    pub kind: TurnKind,
    /// Whose changes it found.
    pub by: ChangedBy,
    /// Whether everything that belongs into it is in it.
    pub complete: bool,
    /// Files in it.
    pub files: u64,
    /// What changed since the turn before, the first 1,000 paths.
    pub changed: Vec<Change>,
    /// How many paths changed.
    pub changed_n: u64,
    /// What is not stored, the first 1,000.
    pub skipped: Vec<Skipped>,
    /// How many are not stored.
    pub skipped_n: u64,
    /// Of a restore: what was restored.
    pub restored_from: Option<String>,
    /// Of a restore: the safety snapshot that undoes it.
    pub safety: Option<u32>,
    /// Whether it is usable, as far as a look at the list can tell.
    #[serde(default)]
    pub state: TurnState,
    /// Whether it is protected from being dropped.
    #[serde(default)]
    pub pinned: bool,
}

impl Turn {
    pub(crate) fn of(commit: &Commit, oid: Oid, turn: u32, changed: &[Change]) -> Self {
        let trailer = commit.trailer.as_ref();
        Turn {
            turn,
            commit: oid,
            tree: commit.tree,
            time_ms: trailer.map_or(commit.time_s * 1000, |trailer| trailer.time_ms),
            label: trailer.map_or_else(|| commit.subject.clone(), |trailer| trailer.label.clone()),
            kind: trailer.map_or(TurnKind::Turn, |trailer| trailer.kind),
            by: trailer.map_or(ChangedBy::Session, |trailer| trailer.by),
            complete: trailer.is_none_or(|trailer| trailer.complete),
            files: trailer.map_or(0, |trailer| trailer.files),
            changed: changed.iter().take(LIST_CAP).cloned().collect(),
            changed_n: changed.len() as u64,
            skipped: trailer.map_or_else(Vec::new, |trailer| trailer.skipped.clone()),
            skipped_n: trailer.map_or(0, |trailer| trailer.skipped_n),
            restored_from: trailer.and_then(|trailer| trailer.restored_from.clone()),
            safety: trailer.and_then(|trailer| trailer.safety),
            state: TurnState::Good,
            pinned: false,
        }
    }

    /// A turn of which only the name is left.
    pub(crate) fn broken(turn: u32, commit: Option<Oid>) -> Self {
        Turn {
            turn,
            commit: commit.unwrap_or(Oid::ZERO),
            tree: Oid::ZERO,
            time_ms: 0,
            label: String::new(),
            kind: TurnKind::Turn,
            by: ChangedBy::Session,
            complete: false,
            files: 0,
            changed: Vec::new(),
            changed_n: 0,
            skipped: Vec::new(),
            skipped_n: 0,
            restored_from: None,
            safety: None,
            state: TurnState::Broken,
            pinned: false,
        }
    }
}

/// The recorded turns, by their commits. Lines that do not read are left out: they will be made again.
pub(crate) fn read_recorded(layout: &Layout) -> Result<HashMap<Oid, Turn>, Error> {
    let bytes = stored::read(&layout.turns())?.unwrap_or_default();
    let turns = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Turn>(line).ok());
    Ok(turns.map(|turn| (turn.commit, turn)).collect())
}

fn line(turn: &Turn) -> Vec<u8> {
    let mut line = serde_json::to_vec(turn).expect("a turn has string keys and no failing serializer");
    line.push(b'\n');
    line
}

/// Adds a turn to the list. A line that a crash cut short is closed first.
pub(crate) fn record(layout: &Layout, turn: &Turn) -> Result<(), Error> {
    use std::os::unix::fs::FileExt as _;
    let path = layout.turns();
    let file = session_disk::open_private(&path)?;
    let len = file.metadata().map_err(reading(&path))?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.read_exact_at(&mut last, len - 1).map_err(reading(&path))?;
    }
    let mut bytes = if last == [b'\n'] { Vec::new() } else { vec![b'\n'] };
    bytes.extend(line(turn));
    Ok(session_disk::write_at(&file, &path, len, &bytes)?)
}

/// Writes the list anew.
pub(crate) fn rewrite(layout: &Layout, turns: &[Turn]) -> Result<(), Error> {
    let bytes: Vec<u8> = turns.iter().flat_map(line).collect();
    Ok(session_disk::replace(&layout.turns(), &bytes, session_disk::Durability::Os)?)
}
