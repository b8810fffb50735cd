//! The checkpoints of one session as a session store sees them: [`Checkpointer`], and nothing else.

use crate::point::own_safety;
use crate::rel_path::RelPath;
use crate::{
    Cancel, ChangedBy, Checkpoints, ConflictPolicy, Error, Options, Reader, Request, Restored, Scope, SharedPath,
    TurnKind, TurnRef, examine, external, fork,
};
use serde::Serialize;
use serde_json::Value;
use session_core::checkpoint::{
    ChangesOf, CheckpointDepth, CheckpointError, CheckpointHealth, CheckpointRef, CheckpointedFile, Checkpointer,
    FileNote, FilePlan, FilesRestored, InterruptedRestore, LastRestore, OnConflict, SharedFile,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The checkpoints of one session, for a session store. Nothing is opened until it is needed, and no store is made but by
/// taking a checkpoint.
#[derive(Debug, Clone)]
pub struct Attached {
    options: Options,
    other_stores: Vec<PathBuf>,
    cancel: Cancel,
}

impl Attached {
    /// The checkpoints that `options` say. `other_stores` are those of other sessions on the same workspace: what they
    /// changed too is told in plans. `cancel` ends long work.
    ///
    /// The directory that holds the store is the session's: it is never captured, wherever it lies. Where the workspace
    /// holds other sessions too, name their directory in [`Options::exclude_dirs`].
    pub fn new(mut options: Options, other_stores: Vec<PathBuf>, cancel: Cancel) -> Self {
        options.exclude_dirs.extend(options.store.parent().map(Path::to_owned));
        Attached { options, other_stores, cancel }
    }

    fn open(&self) -> Result<Checkpoints, Error> {
        let (checkpoints, report) = Checkpoints::open(self.options.clone())?;
        if report.other_workspace {
            let recorded = checkpoints.reader()?.status()?.workspace;
            return Err(Error::OtherWorkspace { path: self.options.workspace.clone(), recorded });
        }
        Ok(checkpoints)
    }

    fn reader(&self) -> Result<Option<Reader>, Error> {
        match Reader::open(&self.options.store) {
            Err(Error::NoStore { .. }) => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn scope(&self) -> Scope {
        Scope { other_stores: self.other_stores.clone(), ..Scope::default() }
    }
}

impl Checkpointer for Attached {
    fn take(&mut self, label: &str, changes_of: ChangesOf) -> Result<u64, CheckpointError> {
        let by = match changes_of {
            ChangesOf::Session => ChangedBy::Session,
            ChangesOf::Others => ChangedBy::Others,
        };
        Ok(self.open()?.snapshot(&Request { by, ..Request::next(label) }, &self.cancel)?.turn.into())
    }

    fn plan(&mut self, to: CheckpointRef) -> Result<FilePlan, CheckpointError> {
        let reader = Reader::open(&self.options.store)?;
        let to = at(to)?;
        let plan = reader.plan_restore(to, &self.options, &self.scope(), &self.cancel)?;
        let by_hand = by_hand(&reader, to)?;
        let others =
            plan.writes.iter().chain(&plan.deletes).filter_map(|one| Some((&one.path, by_hand.get(&one.path)?)));
        let others: Vec<FileNote> = others
            .map(|(path, turn)| FileNote {
                path: text(path),
                why: format!("changed by others before checkpoint {turn}"),
            })
            .collect();
        let mut shared: Vec<SharedFile> = plan.also_changed_by.iter().map(shared).collect();
        shared.sort();
        Ok(FilePlan {
            writes: plan.writes.iter().map(|one| text(&one.path)).chain(plan.make_dirs.iter().map(dir)).collect(),
            deletes: plan.deletes.iter().map(|one| text(&one.path)).chain(plan.remove_dirs.iter().map(dir)).collect(),
            kept: plan.kept.iter().map(|one| note(&one.path, &one.reason)).collect(),
            conflicts: plan.conflicts.iter().map(|one| note(&one.path, &one.kind)).chain(others).collect(),
            shared,
        })
    }

    fn restore(&mut self, to: CheckpointRef, on_conflict: OnConflict) -> Result<FilesRestored, CheckpointError> {
        let mut checkpoints = self.open()?;
        let plan = checkpoints.plan_restore(at(to)?, &self.scope(), &self.cancel)?;
        Ok(told(&checkpoints.apply_restore(&plan, policy(on_conflict), &self.cancel)?))
    }

    fn interrupted(&self) -> Result<Option<InterruptedRestore>, CheckpointError> {
        let interrupted = self.reader()?.map(|reader| reader.interrupted()).transpose()?.flatten();
        Ok(interrupted
            .map(|restore| InterruptedRestore { restoring: named(&restore.target).filter(|_| restore.whole) }))
    }

    fn resume(&mut self) -> Result<FilesRestored, CheckpointError> {
        Ok(told(&self.open()?.resume_interrupted(&self.cancel)?))
    }

    fn go_back(&mut self, on_conflict: OnConflict) -> Result<FilesRestored, CheckpointError> {
        Ok(told(&self.open()?.undo_interrupted(policy(on_conflict), &self.cancel)?))
    }

    fn last_restore(&self) -> Result<Option<LastRestore>, CheckpointError> {
        let Some(reader) = self.reader()? else { return Ok(None) };
        let turns = reader.turns()?;
        let Some(turn) = turns.iter().rev().find(|turn| turn.kind == TurnKind::Restore) else { return Ok(None) };
        let guard = own_safety(&reader.refs(), reader.status()?.fork_base, turn.turn, turn.safety)?;
        let Some(guard) = guard else { return Ok(None) };
        let point = reader.point(&reader.objects()?, TurnRef::Turn(turn.turn))?;
        let whole = point.commit.trailer.is_some_and(|trailer| !trailer.partial);
        let restored = turn.restored_from.as_deref().filter(|_| whole).and_then(named);
        Ok(Some(LastRestore { checkpoint: turn.turn.into(), guard: guard.into(), restored }))
    }

    fn share(&self, to: &Path, upto: Option<u64>) -> Result<u64, CheckpointError> {
        let Some(reader) = self.reader()? else { return Ok(0) };
        // What was dropped since cannot be shared; what is older still shows what it showed.
        let turns = reader.turns()?;
        let wanted = turns.iter().map(|turn| turn.turn).filter(|turn| upto.is_none_or(|upto| u64::from(*turn) <= upto));
        match wanted.max() {
            Some(at) => Ok(fork(&self.options.store, to, Some(at), self.options.lock_timeout)?.turns),
            None => Ok(0),
        }
    }

    fn find_files(&self, is_wanted: &mut dyn FnMut(&[u8]) -> bool) -> Result<Vec<CheckpointedFile>, CheckpointError> {
        let Some(reader) = self.reader()? else { return Ok(Vec::new()) };
        let found = reader.find_files(is_wanted)?.into_iter();
        Ok(found
            .filter_map(|(at, path)| Some(CheckpointedFile { checkpoint: outward(at)?, path: text(&path) }))
            .collect())
    }

    fn examine(&self, depth: CheckpointDepth) -> Result<CheckpointHealth, CheckpointError> {
        let Some(reader) = self.reader()? else { return Ok(CheckpointHealth::default()) };
        Ok(examine::examine(&reader, depth)?)
    }
}

/// The paths that checkpoints since one found changed by others, as a person does between two turns, each with the last
/// such checkpoint. The newest checkpoint knows them, so that they are no edits since; but none of this session's turns
/// made them.
fn by_hand(reader: &Reader, since: TurnRef) -> Result<BTreeMap<RelPath, u32>, Error> {
    let objects = reader.objects()?;
    let from = reader.point(&objects, since)?.newest_turn(&objects);
    let mut paths = BTreeMap::new();
    for turn in reader.turns()? {
        if turn.turn <= from || turn.by != ChangedBy::Others {
            continue;
        }
        let is_whole = turn.changed_n == turn.changed.len() as u64;
        let turn = if is_whole { turn } else { reader.turn(TurnRef::Turn(turn.turn))? };
        paths.extend(turn.changed.into_iter().map(|change| (change.path, turn.turn)));
    }
    Ok(paths)
}

fn at(to: CheckpointRef) -> Result<TurnRef, Error> {
    let number = |n: u64| u32::try_from(n).map_err(|_| Error::NoTurn { turn: n.to_string() });
    match to {
        CheckpointRef::Taken(n) => Ok(TurnRef::Turn(number(n)?)),
        CheckpointRef::Guard(n) => Ok(TurnRef::Safety(number(n)?)),
    }
}

fn outward(at: TurnRef) -> Option<CheckpointRef> {
    match at {
        TurnRef::Turn(n) => Some(CheckpointRef::Taken(n.into())),
        TurnRef::Safety(n) => Some(CheckpointRef::Guard(n.into())),
        TurnRef::Latest => None,
    }
}

/// The checkpoint that a trailer or a journal names.
fn named(name: &str) -> Option<CheckpointRef> {
    name.parse().ok().and_then(outward)
}

fn policy(on_conflict: OnConflict) -> ConflictPolicy {
    match on_conflict {
        OnConflict::Stop => ConflictPolicy::Stop,
        OnConflict::Force => ConflictPolicy::Force,
    }
}

fn told(restored: &Restored) -> FilesRestored {
    let failed = restored.failed.iter().map(|one| FileNote { path: text(&one.path), why: one.why.clone() });
    let left = restored.conflicts.iter().map(|one| note(&one.path, &one.kind));
    let raced = restored.raced.iter().map(|path| FileNote { path: text(path), why: "changed meanwhile".to_owned() });
    FilesRestored {
        checkpoint: restored.turn.into(),
        guard: restored.safety.into(),
        written: restored.restored,
        deleted: restored.deleted,
        failed: failed.chain(left).chain(raced).collect(),
    }
}

fn shared(shared: &SharedPath) -> SharedFile {
    // A session's directory holds that of its checkpoints.
    let session = shared.store.parent().and_then(Path::file_name).unwrap_or(shared.store.as_os_str());
    SharedFile {
        path: text(&shared.path),
        session: session.to_string_lossy().into_owned(),
        checkpoint: shared.turn.into(),
    }
}

/// A path for a person: that of an external file is absolute.
fn text(path: &RelPath) -> String {
    match external::outside(path.as_bytes()) {
        Some(outside) => format!("/{}", String::from_utf8_lossy(outside)),
        None => String::from_utf8_lossy(path.as_bytes()).into_owned(),
    }
}

fn dir(path: &RelPath) -> String {
    format!("{}/", text(path))
}

fn note(path: &RelPath, why: &impl Serialize) -> FileNote {
    FileNote { path: text(path), why: serde_json::to_value(why).map(|why| words(&why)).unwrap_or_default() }
}

/// A reason as JSON names it, in words.
fn words(reason: &Value) -> String {
    match reason {
        Value::String(word) => word.replace('_', " "),
        Value::Object(members) => {
            let parts = members.iter().map(|(name, value)| format!("{}: {}", name.replace('_', " "), words(value)));
            parts.collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}
