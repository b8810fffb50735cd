//! A pull of a session that is not here.
//!
//! It is built in staging. What a try that was cut has fetched stays there, and the next one takes over what is still
//! what the copy holds: a history as far as its segments are whole, and files that hold what the copy names.

use super::super::local::Local;
use super::super::manifest::Manifest;
use super::super::objects::Call;
use super::super::sha::Sha;
use super::super::state::Files;
use super::super::tree::{Entry, Tree, wanted};
use super::super::{Copied, PullOptions, Remote, RemoteError, RemoteResult, contents, fetch};
use super::Copy;
use crate::part::Part;
use crate::staging::{self, Staged};
use crate::{SessionPaths, Store, StoreError, meta};
use session_core::{Meta, SessionName};
use session_disk::{is_absent, open_regular, rename_new};
use std::io::ErrorKind;
use std::path::Path;

/// What the names of its directories in staging begin with.
const STAGED: &str = "pull-";

/// A session that is to be made of a copy.
pub(super) struct New<'a> {
    pub(super) remote: &'a Remote,
    pub(super) store: &'a Store,
    /// The name of the copy.
    pub(super) name: &'a SessionName,
    /// The name that the session is to have.
    pub(super) here: &'a SessionName,
    pub(super) options: &'a PullOptions,
}

impl New<'_> {
    /// Builds it, and gives it its name.
    pub(super) fn run(&self, call: &Call<'_>, copy: Copy) -> RemoteResult<Copied> {
        let (files, conflicts) = wanted(&Tree::default(), &Tree::default(), &copy.tree);
        let copied = Copied::by_pull(self.here, self.name, &copy.manifest, 0);
        let copied = Copied { files: files.len() as u64, conflicts, ..copied };
        if self.options.dry_run {
            return Ok(copied);
        }
        let mut known = Files::new();
        let key = Sha::of(format!("{}\n{}\n{}", self.remote.place(), self.name, self.here).as_bytes()).to_string();
        let take = |staged: &Staged<'_>, left: &Path| take(staged, left, &files);
        staging::resume(self.store, self.here, &format!("{STAGED}{}", &key[..16]), take, |staged| {
            known = self.fill(staged, call, &copy.manifest, &files)?;
            Ok::<_, RemoteError>(())
        })?;
        let paths = self.store.paths(self.here)?;
        let local = Local::open(&paths, self.store.options().limits)?;
        let not_remembered = self.remote.remember(&paths, self.name, &local, copy, known).err();
        Ok(Copied { not_remembered, ..copied })
    }

    /// Fetches what is not there yet.
    fn fill(
        &self,
        staged: &Staged<'_>,
        call: &Call<'_>,
        manifest: &Manifest,
        files: &[(String, Entry)],
    ) -> RemoteResult<Files> {
        self.fill_history(staged, call, manifest)?;
        let there = contents::local_files(staged.paths(), self.remote.machine(), None)?;
        let mut known: Files = there.into_iter().map(|(path, file)| (path, (file.stamp, file.entry))).collect();
        let missing = files.iter().filter(|(path, _)| !known.contains_key(path)).cloned().collect();
        let (dir, durability) = (staged.paths().dir(), self.store.options().durability);
        let fetched = fetch::files(call, dir, missing, durability, self.remote.options.parallel);
        known.extend(self.remote.run(fetched)?.into_iter().map(|(path, stamp, entry)| (path, (stamp, entry))));
        let meta = match manifest.meta() {
            Some(meta) => meta,
            None => meta::of_history(&staged.paths().history(), self.store.options().limits)?,
        };
        staged.put_meta(&Meta { name: self.here.to_string(), ..meta })?;
        Ok(known)
    }

    fn fill_history(&self, staged: &Staged<'_>, call: &Call<'_>, manifest: &Manifest) -> RemoteResult<()> {
        if manifest.history.bytes == 0 {
            return Ok(());
        }
        let there = whole_segments(&staged.paths().history(), manifest)?;
        let mut history = match there {
            Some(bytes) => staged.history_from(bytes)?,
            None => staged.history()?,
        };
        let put = |bytes: &[u8]| Ok(history.push_bytes(bytes)?);
        let (from, parallel) = (there.unwrap_or(0), self.remote.options.parallel);
        self.remote.run(fetch::history(call, self.name, manifest, from, parallel, put))?;
        Ok(history.finish()?)
    }
}

/// Takes what is good out of what an earlier try has left.
fn take(staged: &Staged<'_>, left: &Path, files: &[(String, Entry)]) -> RemoteResult<()> {
    let moved = |from: &Path, to: &Path| match rename_new(from, to) {
        Ok(()) => Ok(()),
        // Another one has left the same, or has not come so far.
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => Ok(()),
        Err(error) => Err(RemoteError::from(StoreError::from(error))),
    };
    let history = SessionPaths::new(left).history();
    moved(&history, &staged.paths().history())?;
    for (path, entry) in files {
        let at = left.join(path);
        if contents::entry_at(path, &at)?.as_ref() == Some(entry) {
            moved(&at, &fetch::place(staged.paths().dir(), path)?)?;
        }
    }
    Ok(())
}

/// How much of a history is whole segments of a copy; `None` where there is no history.
fn whole_segments(path: &Path, manifest: &Manifest) -> RemoteResult<Option<u64>> {
    let file = match open_regular(path) {
        Ok((file, _)) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(StoreError::read(path)(error).into()),
    };
    let mut bytes = 0;
    for segment in &manifest.history.segments {
        let part = Part { file: &file, at: segment.offset, upto: segment.end() };
        if Sha::of_reader(part).map_err(StoreError::read(path))? != segment.sha {
            break;
        }
        bytes = segment.end();
    }
    Ok(Some(bytes))
}
