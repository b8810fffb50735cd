//! Differences as text, in the form that `git apply` takes.

mod text;

use crate::cache::Cache;
use crate::cancel::Cancel;
use crate::checkpoints::closed;
use crate::error::reading;
use crate::keep::import;
use crate::objects::Objects;
use crate::oid::Kind;
use crate::options::Options;
use crate::pack::PackSet;
use crate::point::TurnRef;
use crate::reader::Reader;
use crate::rel_path::{RelPath, split};
use crate::root::{Mounts, Root, c_name, open_file, read_link};
use crate::rules::{Rules, TopRules, facts};
use crate::sink::ObjectSink;
use crate::tree::Mode;
use crate::turns::{Change, Content, changes};
use crate::walk::Walk;
use crate::{Error, stored};
use serde::Serialize;
use std::io::Read as _;
use std::os::fd::AsFd as _;

/// What the library compares at most.
const COMPARED_MAX_BYTES: u64 = 1023 << 20;

/// What a diff shows, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffOptions {
    /// Only these paths and what lies below them. Empty is everything.
    pub paths: Vec<RelPath>,
    /// Lines of context around each change.
    pub context_lines: u32,
    /// Files with a larger side are compared by their ids alone; so are those beyond 1023 MiB, whatever this says.
    pub max_file_bytes: u64,
    /// Once this many bytes of text are made, the files that follow have none.
    pub max_total_bytes: u64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions { paths: Vec::new(), context_lines: 3, max_file_bytes: 4 << 20, max_total_bytes: 64 << 20 }
    }
}

/// Why a file's difference has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoText {
    /// A side is binary.
    Binary,
    /// A side is larger than the limit, or than what can be compared.
    TooLarge,
    /// The limit on the whole was reached.
    Cut,
}

/// One file's difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileDiff {
    /// What changed.
    pub change: Change,
    /// The unified diff, headers included; only the headers where `no_text` says why.
    #[serde(with = "crate::rel_path::json_bytes")]
    pub text: Vec<u8>,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Why there are no lines.
    pub no_text: Option<NoText>,
}

/// Where the second side's contents are read.
enum Right<'a> {
    Store(&'a Objects),
    Disk(&'a Root),
}

impl Reader {
    /// What differs between two checkpoints, as text.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], and failed reads.
    pub fn diff(&self, from: TurnRef, to: TurnRef, options: &DiffOptions) -> Result<Vec<FileDiff>, Error> {
        let objects = self.objects()?;
        let changes = self.changes(from, to)?;
        files(&objects, &Right::Store(&objects), changes, options)
    }

    /// What differs between a checkpoint and the workspace as it is now. Nothing is written, no lock is taken. External
    /// files are not looked at.
    ///
    /// # Errors
    /// [`Error::NoTurn`], [`Error::BrokenTurn`], [`Error::TooBroad`], and failed reads.
    pub fn disk_changes(&self, from: TurnRef, options: &Options, cancel: &Cancel) -> Result<Vec<Change>, Error> {
        let (objects, packs) = (self.objects()?, PackSet::read(&self.layout.packs())?);
        let point = self.point(&objects, from)?;
        let root = Root::open(&options.workspace, Mounts::Refuse).map_err(reading(&options.workspace))?;
        let rules = Rules::top(TopRules::new(&facts(options)));
        let cache = self.cache_for(&root, rules.key(), packs.fingerprint);
        let sink = ObjectSink::dry(&objects, &packs);
        let closed = closed(options, &self.layout);
        let walk = Walk::new(&root, cache.as_ref(), &sink, options, cancel, &closed);
        let walked = walk.run(&rules)?;
        let mut changes = changes(&sink, Some(point.commit.tree), walk.tree_of(&walked.root))?;
        changes.retain(|change| crate::external::outside(change.path.as_bytes()).is_none());
        if self.is_reference() {
            changes.retain(|change| !import::is_own(change.path.as_bytes()));
        }
        Ok(changes)
    }

    /// The same as text.
    ///
    /// # Errors
    /// As [`disk_changes`](Reader::disk_changes).
    pub fn disk_diff(
        &self,
        from: TurnRef,
        options: &Options,
        diff: &DiffOptions,
        cancel: &Cancel,
    ) -> Result<Vec<FileDiff>, Error> {
        let changes = self.disk_changes(from, options, cancel)?;
        let root = Root::open(&options.workspace, Mounts::Refuse).map_err(reading(&options.workspace))?;
        files(&self.objects()?, &Right::Disk(&root), changes, diff)
    }

    /// The stat cache, where it may be believed.
    fn cache_for(&self, root: &Root, rules: u64, packs: u64) -> Option<Cache> {
        let cache = Cache::parse(stored::read(&self.layout.stat_cache()).ok()??)?;
        let stat = root.stat_self().ok()?;
        let header = cache.header();
        let fits = (header.dev, header.ino) == (stat.st_dev, stat.st_ino)
            && (header.rules, header.packs) == (rules, packs)
            && (header.synced || header.boot == crate::clock::boot_id());
        fits.then_some(cache)
    }
}

fn files(
    objects: &Objects,
    right: &Right<'_>,
    changes: Vec<Change>,
    options: &DiffOptions,
) -> Result<Vec<FileDiff>, Error> {
    let shown = |path: &RelPath| options.paths.is_empty() || options.paths.iter().any(|limit| path.is_in(limit));
    let mut total = 0;
    let mut diffs = Vec::new();
    for change in changes.into_iter().filter(|change| shown(&change.path)) {
        let max_bytes = options.max_file_bytes.min(COMPARED_MAX_BYTES);
        let old = content(&Right::Store(objects), &change, change.before, max_bytes)?;
        let new = content(right, &change, change.after, max_bytes)?;
        let mut diff = FileDiff { text: text::header(&change), change, added: 0, removed: 0, no_text: None };
        match (old, new) {
            (Some(old), Some(new)) if total < options.max_total_bytes => {
                text::lines(&mut diff, &old, &new, options.context_lines);
            }
            (Some(_), Some(_)) => diff.no_text = Some(NoText::Cut),
            _ => diff.no_text = Some(NoText::TooLarge),
        }
        total += diff.text.len() as u64;
        diffs.push(diff);
    }
    Ok(diffs)
}

/// A side's bytes, empty where it is not there; `None` where they are too many.
fn content(from: &Right<'_>, change: &Change, side: Option<Content>, max_bytes: u64) -> Result<Option<Vec<u8>>, Error> {
    let Some(side) = side else { return Ok(Some(Vec::new())) };
    let bytes = match from {
        // The commit is of another repository; git shows its id in the place of a content.
        _ if side.mode == Mode::Gitlink => format!("Subproject commit {}\n", side.oid).into_bytes(),
        Right::Store(objects) => objects.read_kind(side.oid, Kind::Blob)?,
        Right::Disk(root) => {
            let (dir, name) = split(change.path.as_bytes());
            let failed = |errno: nix::errno::Errno| Error::Read {
                path: root.full(change.path.as_bytes()),
                source: errno.into(),
            };
            let fd = root.open_dir(dir).map_err(failed)?;
            if side.mode == Mode::Link {
                read_link(fd.as_fd(), &c_name(name)).map_err(failed)?
            } else {
                let file = open_file(fd.as_fd(), &c_name(name)).map_err(failed)?;
                let mut bytes = Vec::new();
                let full = root.full(change.path.as_bytes());
                file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(reading(&full))?;
                bytes
            }
        }
    };
    Ok((bytes.len() as u64 <= max_bytes).then_some(bytes))
}
