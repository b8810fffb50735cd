//! Looking at the disk after a restore, and tidying up.

use super::apply::Applied;
use super::job::Job;
use super::then::reasons;
use super::way::place;
use super::work::Work;
use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::error::reading;
use crate::journal::Journal;
use crate::locked::Locked;
use crate::look::{Seen, look_at};
use crate::observe::{Purpose, Taken};
use crate::point::{Point, TurnRef, read_commit};
use crate::rel_path::RelPath;
use crate::root::{Mounts, Root};
use crate::sink::ObjectSink;
use crate::tree_diff::{diff, leaves};
use crate::tree_edit::{Edit, edit};
use crate::{Error, names};
use session_disk::at;
use std::collections::BTreeMap;
use std::os::fd::AsFd as _;

/// What a look at the disk found wrong after a restore.
pub(super) struct Differences {
    /// Paths of the restore that are not as they should be, and why.
    pub(super) failed: BTreeMap<Vec<u8>, String>,
    /// Others that changed meanwhile.
    pub(super) raced: Vec<RelPath>,
}

impl Checkpoints {
    /// Removes what an interrupted restore left: it would keep a directory from being empty.
    pub(super) fn sweep_before(
        &self,
        locked: &Locked,
        target: &Point,
        journal: &Journal,
        cancel: &Cancel,
    ) -> Result<(), Error> {
        let sink = ObjectSink::dry(&locked.objects, &locked.packs);
        let old = self.hot.as_ref().map(|hot| &hot.cache);
        let purpose = Purpose::Safety { n: 0, target: Some(target) };
        let (now, _) = self.observe(locked, old, &sink, &purpose, cancel)?;
        self.sweep_temps(&now, journal)
    }

    /// Removes our own temporary files, of this restore and of the one that it resumes.
    pub(super) fn sweep_temps(&self, after: &Taken, journal: &Journal) -> Result<(), Error> {
        let root = Root::open(&self.workspace, Mounts::Refuse).map_err(reading(&self.workspace))?;
        for skipped in &after.notes.skipped {
            let (dir, name) = crate::rel_path::split(skipped.path.as_bytes());
            let mut tokens = journal.earlier_tokens.iter().chain([&journal.token]);
            if tokens.any(|token| names::is_temp_of(name, *token))
                && let Ok(fd) = root.open_dir(dir)
            {
                at::remove_file(fd.as_fd(), &crate::root::c_name(name), &root.full(skipped.path.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// Compares what the disk holds with what it should hold: paths of the restore that are not right, and others that
    /// changed meanwhile.
    pub(super) fn differences(
        &self,
        locked: &Locked,
        work: &Work,
        applied: &Applied,
        seen: &Taken,
        after: &Taken,
    ) -> Result<Differences, Error> {
        let sink = ObjectSink::dry(&locked.objects, &locked.packs);
        let puts = applied.puts.iter().map(|(path, leaf)| (path.clone(), Edit::Put(*leaf)));
        let edits = applied.deletes.iter().map(|path| (path.clone(), Edit::Remove)).chain(puts).collect();
        let expected = edit(&sink, Some(seen.tree), &edits)?;
        let (root, outer) = self.roots()?;
        let mut failed = applied.failed.clone();
        let mut raced = Vec::new();
        for delta in diff(&sink, expected, Some(after.tree))? {
            if applied.puts.contains_key(&delta.path) || applied.deletes.contains(&delta.path) {
                failed.entry(delta.path).or_insert_with(|| "something else stands there now".to_owned());
                continue;
            }
            // What the rules exclude since the restore is not in the new tree, and the same on the disk.
            let (place, rel) = place(&root, &outer, &delta.path);
            let now = match look_at(&sink, place, self.options.max_file_bytes, 0, rel)? {
                Seen::Leaf(leaf, _) => Some(leaf),
                Seen::Absent | Seen::Blocked(_) => None,
            };
            if now != delta.old {
                raced.push(delta.path);
            }
        }
        // What the rules excluded before the restore is in the new tree now, and was there all the time.
        let (oid, commit) = read_commit(&locked.objects, seen.commit)?;
        let before = Point { name: TurnRef::Latest, oid, commit };
        let asked: Vec<(&[u8], bool)> = raced.iter().map(|path| (path.as_slice(), false)).collect();
        let unknown = reasons(&locked.objects, &before, &asked)?;
        let raced = raced.iter().zip(unknown).filter(|(_, reason)| reason.is_none());
        let raced = raced.filter_map(|(path, _)| RelPath::new(path.clone())).collect();
        for dir in work.make_dirs.iter().filter(|dir| root.open_dir(dir).is_err()) {
            failed.entry(dir.clone()).or_insert_with(|| "the directory is not there".to_owned());
        }
        Ok(Differences { failed, raced })
    }
}

/// Files of the target that were as wanted already.
pub(super) fn unchanged(locked: &Locked, job: &Job<'_>, work: &Work) -> Result<u64, Error> {
    let all = match &job.target.commit.trailer {
        Some(trailer) if job.limits.paths.is_empty() => trailer.files,
        _ => {
            let files = leaves(&locked.objects, Some(job.target.commit.tree))?;
            files.iter().filter(|(path, _)| job.limits.covers(path)).count() as u64
        }
    };
    Ok(all.saturating_sub(work.puts.len() as u64))
}
