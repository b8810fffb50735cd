//! Taking a snapshot: walk, tree, commit, pack, references, and then the derived files.

use crate::cache::Cache;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::commit::{self, ChangedBy};
use crate::locked::Locked;
use crate::meta::Failure;
use crate::observe::{Purpose, Taken};
use crate::oid::{Kind, hash};
use crate::options::Durability;
use crate::pack::PackWriter;
use crate::point::{TurnRef, find};
use crate::refs::{Family, HEAD};
use crate::rel_path::RelPath;
use crate::remembered::Hot;
use crate::sink::ObjectSink;
use crate::skipped::Skipped;
use crate::turns::{self, Change, Turn, changes};
use crate::{Error, Oid, loose};

/// What a snapshot is to be called, and whose changes it finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// What people will see in the list.
    pub label: String,
    /// The turn's number. `None` takes the next one. A number that already has a checkpoint is a retry: what was
    /// taken then stands, and nothing is taken now.
    pub turn: Option<u32>,
    /// Whose changes it finds.
    pub by: ChangedBy,
}

impl Request {
    /// The next turn, with this session's changes.
    pub fn next(label: impl Into<String>) -> Self {
        Request { label: label.into(), ..Request::default() }
    }
}

/// A snapshot that was taken, or that stood already.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The turn's number.
    pub turn: u32,
    /// Its commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Whether it stood already: a retry.
    pub existed: bool,
    /// What changed since the turn before.
    pub changed: Vec<Change>,
    /// What is not stored as the other files are.
    pub skipped: Vec<Skipped>,
    /// The `.git` files and directories of other repositories inside the workspace. They are not stored; the files
    /// beside them are.
    pub nested: Vec<RelPath>,
    /// Whether everything that belongs into it is in it.
    pub complete: bool,
    /// Files and links in it.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

impl Checkpoints {
    /// Takes a snapshot of the workspace.
    ///
    /// On disk when it returns: the turn, as far as [`Options::durability`](crate::Options::durability) says. Where there
    /// are more than [`Options::max_packs`](crate::Options::max_packs) small packs, some of them have become one: at most
    /// 16, and 64 MiB.
    ///
    /// # Errors
    /// After an error there is no such turn and nothing of it that counts; the failure is kept for
    /// [`Reader::status`](crate::Reader::status). [`Error::TooBroad`], [`Error::StoreFull`], [`Error::TurnPassed`],
    /// [`Error::Cancelled`], [`Error::DeadlineExceeded`], [`Error::Busy`], and failed operations.
    pub fn snapshot(&mut self, request: &Request, cancel: &Cancel) -> Result<Snapshot, Error> {
        let mut locked = self.begin()?;
        let result = self.snapshot_locked(&mut locked, request, cancel);
        if let Err(error) = &result {
            locked.meta.failure = Some(failure("snapshot", error));
            // The first error is the one to tell; on a full disk this one fails as well.
            drop(locked.meta.write(&self.layout));
        }
        result
    }

    /// The same on a thread of its own, for a first snapshot that should not keep anybody waiting. The handle gives
    /// the checkpoints back.
    ///
    /// # Errors
    /// [`Error::Threads`] where the thread could not be started.
    pub fn snapshot_in_background(mut self, request: Request, cancel: Cancel) -> Result<BackgroundSnapshot, Error> {
        std::thread::Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || {
                let result = self.snapshot(&request, &cancel);
                (self, result)
            })
            .map_err(|source| Error::Threads { source })
    }

    fn snapshot_locked(&mut self, locked: &mut Locked, request: &Request, cancel: &Cancel) -> Result<Snapshot, Error> {
        let turn = match request.turn {
            Some(turn) if locked.refs.get(&Family::Turn.name(turn))?.is_some() => return self.existing(locked, turn),
            Some(turn) if turn <= last_turn(locked)? => {
                return Err(Error::TurnPassed { turn, latest: last_turn(locked)? });
            }
            Some(turn) => turn,
            None => last_turn(locked)? + 1,
        };
        self.make_room(locked)?;
        let taken = self.take(locked, &Purpose::Turn { turn, label: &request.label, by: request.by }, cancel)?;
        self.tidy(locked, taken.commit, cancel);
        Ok(taken.told(turn))
    }

    /// A retry: what was taken stands.
    fn existing(&self, locked: &Locked, turn: u32) -> Result<Snapshot, Error> {
        let point = find(&locked.refs, &locked.objects, TurnRef::Turn(turn))?;
        let recorded = turns::read_recorded(&self.layout)?.remove(&point.oid);
        let turn = recorded.unwrap_or_else(|| Turn::of(&point.commit, point.oid, turn, &[]));
        Ok(Snapshot {
            turn: turn.turn,
            commit: turn.commit,
            tree: turn.tree,
            existed: true,
            changed: turn.changed,
            skipped: turn.skipped,
            nested: Vec::new(),
            complete: turn.complete,
            files: turn.files,
            bytes: 0,
        })
    }

    /// Takes a snapshot under the lock.
    pub(crate) fn take(&mut self, locked: &mut Locked, purpose: &Purpose<'_>, cancel: &Cancel) -> Result<Taken, Error> {
        let hot = self.hot.take();
        let old = hot.as_ref().map(|hot| &hot.cache);
        let durability = self.options.durability.from(Durability::Packs);
        let writer = PackWriter::new(&self.layout.packs(), self.options.max_pack_bytes, durability);
        let free = crate::space::free_bytes(&self.layout.store)?;
        let sink = ObjectSink::new(&locked.objects, &locked.packs, writer, self.options.level, free);
        if let Purpose::Restore { read, .. } = purpose {
            sink.note_whole(read);
        }
        let (mut taken, next) = self.observe(locked, old, &sink, purpose, cancel)?;
        cancel.check()?;
        let stored_plain = sink.stores_plain();
        let head = self.head(locked)?;
        taken.changed = changes(&sink, head.map(|(_, tree)| tree), Some(taken.tree))?;
        let bytes = commit::encode(taken.tree, head.map(|(oid, _)| oid), &taken.trailer);
        taken.commit = hash(Kind::Commit, &bytes);
        let new_packs = !sink.is_empty();
        if !new_packs {
            drop(sink);
            loose::write(&self.layout, Kind::Commit, taken.commit, &bytes, durability)?;
        } else {
            sink.put(Kind::Commit, taken.commit, &bytes)?;
            let packs = sink.finish()?;
            if stored_plain {
                locked.meta.stored_packs.extend(packs.into_iter().map(|pack| pack.name));
                locked.meta_changed = true;
            }
            // Before anybody is told of the checkpoint: this may fail.
            locked.look_again(&self.layout)?;
        }
        self.publish(locked, purpose, &taken)?;
        self.keep_cache(locked, hot, next);
        if !matches!(purpose, Purpose::Safety { .. }) {
            self.keep_head(locked, taken.commit, taken.tree, !new_packs);
        }
        Ok(taken)
    }

    /// Makes the checkpoint visible: its reference, then the head, then what is derived from them.
    fn publish(&self, locked: &mut Locked, purpose: &Purpose<'_>, taken: &Taken) -> Result<(), Error> {
        let durability = self.options.durability.from(Durability::Turns);
        match *purpose {
            Purpose::Safety { n, .. } => locked.refs.create(&Family::Safety.name(n), taken.commit, durability)?,
            Purpose::Turn { turn, .. } | Purpose::Restore { turn, .. } => {
                let name = Family::Turn.name(turn);
                locked.refs.create(&name, taken.commit, durability)?;
                let head = self.options.durability.from(Durability::Disk);
                if let Err(error) = locked.refs.set(HEAD, taken.commit, head) {
                    // The turn must not stand after an error. Where it cannot be taken back either, the head is mended
                    // at the next open.
                    drop(locked.refs.remove(&[name]));
                    return Err(error);
                }
                let commit = commit::decode(&commit::encode(taken.tree, None, &taken.trailer));
                let commit = commit.expect("a commit that was just made reads back");
                // The list is derived: a line that is missing or cut is made again from the commit.
                drop(turns::record(&self.layout, &Turn::of(&commit, taken.commit, turn, &taken.changed)));
            }
        }
        if locked.meta.failure.take().is_some() || locked.meta_changed {
            // What is lost with it is advice: which packs may be compressed, and that there was a failure once.
            drop(locked.meta.write(&self.layout));
            locked.meta_changed = false;
        }
        Ok(())
    }

    /// Writes the cache where it is another one. It is derived: where it cannot be written there is none.
    fn keep_cache(&mut self, locked: &Locked, old: Option<Hot>, next: Option<Cache>) {
        let packs = locked.packs.fingerprint;
        match (next, old) {
            (None, Some(old)) if old.cache.header().packs == packs => self.hot = Some(old),
            (None, None) => {}
            (Some(cache), _) | (None, Some(Hot { cache, .. })) => self.remember(cache, packs),
        }
    }
}

/// A snapshot that is being taken on a thread of its own.
pub type BackgroundSnapshot = std::thread::JoinHandle<(Checkpoints, Result<Snapshot, Error>)>;

pub(crate) fn failure(during: &str, error: &Error) -> Failure {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Failure { time_ms: crate::clock::now_ms(), during: during.to_owned(), error: text }
}

/// The highest number that a turn has or had.
pub(crate) fn last_turn(locked: &Locked) -> Result<u32, Error> {
    let listed = locked.refs.last(Family::Turn)?;
    Ok(listed.max(locked.meta.last_turn))
}

/// The highest number that a safety snapshot has or had.
pub(crate) fn last_safety(locked: &Locked) -> Result<u32, Error> {
    let listed = locked.refs.last(Family::Safety)?;
    Ok(listed.max(locked.meta.last_safety))
}

impl Taken {
    fn told(self, turn: u32) -> Snapshot {
        Snapshot {
            turn,
            commit: self.commit,
            tree: self.tree,
            existed: false,
            changed: self.changed,
            complete: self.trailer.complete,
            skipped: self.notes.skipped,
            nested: self.notes.nested,
            files: self.walked.0,
            bytes: self.walked.1,
        }
    }
}
