//! A pull into a session that is here.

use super::super::compare::{Standing, compare, diverged, proven};
use super::super::local::Local;
use super::super::manifest::Manifest;
use super::super::objects::Call;
use super::super::state::{self, Files, State};
use super::super::tree::{Tree, wanted};
use super::super::{Change, Copied, Remote, RemoteError, RemoteResult, contents, fetch};
use super::{Copy, PullOptions};
use crate::history::Extension;
use crate::rewrite::{KeepBackup, Rewrite};
use crate::{LockGuard, Session, StoreError};
use memchr::memrchr;
use session_core::SessionName;

/// A pull into a session that is here.
pub(super) struct Here<'a> {
    pub(super) remote: &'a Remote,
    pub(super) session: &'a Session,
    pub(super) lock: &'a LockGuard,
    /// The copy's name.
    pub(super) name: SessionName,
    pub(super) options: &'a PullOptions,
}

impl Here<'_> {
    /// Brings in what is new.
    pub(super) fn run(&self, call: &Call<'_>, copy: Copy) -> RemoteResult<Copied> {
        let paths = self.session.paths();
        let state = state::read(&state::path(paths, self.remote.place(), &self.name)?, self.remote.place());
        let local = Local::open(paths, self.session.options().limits)?.with_torn_end();
        let proven = proven(state.as_ref(), &local, &copy.manifest)?;
        let standing = self.remote.run(compare(call, &self.name, &local, &copy.manifest, proven))?;
        let change = match standing {
            Standing::Same => Change::Nothing,
            Standing::Ahead => Change::Ahead,
            Standing::Behind => Change::Added,
            Standing::Apart(_) if self.is_replaced(state.as_ref(), &local, &copy.manifest)? => Change::Replaced,
            Standing::Apart(common) => {
                return Err(diverged(&self.name, common, (&local, self.remote.machine()), &copy.manifest));
            }
        };
        let known = state.as_ref().map(|state| &state.files);
        let here = contents::local_files(paths, self.remote.machine(), known)?;
        let here_tree = Tree(here.iter().map(|(path, file)| (path.clone(), file.entry.clone())).collect());
        let base = state.as_ref().map(State::base).unwrap_or_default();
        let (files, conflicts) = wanted(&base, &here_tree, &copy.tree);
        let session = SessionName::new(self.session.name()).map_err(StoreError::from)?;
        let copied = Copied {
            change: if change == Change::Nothing && !files.is_empty() { Change::Added } else { change },
            files: files.len() as u64,
            conflicts,
            ..Copied::by_pull(&session, &self.name, &copy.manifest, local.bytes())
        };
        if self.options.dry_run {
            return Ok(copied);
        }
        // Files first: what the history mentions is there when it is read.
        let durability = self.session.options().durability;
        let parallel = self.remote.options.parallel;
        let placed = self.remote.run(fetch::files(call, paths.dir(), files, durability, parallel))?;
        match change {
            Change::Added => self.extend(call, &local, &copy.manifest)?,
            Change::Replaced => self.replace(call, &local, &copy.manifest)?,
            Change::Nothing | Change::Made | Change::Ahead => {}
        }
        if change != Change::Ahead
            && let Some(meta) = copy.manifest.meta()
        {
            self.session.adopt_meta(&meta)?;
        }
        let mut known: Files = here.into_iter().map(|(path, file)| (path, (file.stamp, file.entry))).collect();
        known.extend(placed.into_iter().map(|(path, stamp, entry)| (path, (stamp, entry))));
        let known = state::known(known, &copy.tree, state.as_ref());
        let local = Local::open(paths, self.session.options().limits)?;
        let not_remembered = self.remote.remember(paths, &self.name, &local, copy, known).err();
        Ok(Copied { not_remembered, ..copied })
    }

    /// Whether all that is here was in the copy before its history was replaced. It is about to be replaced here too, so
    /// nothing is taken for granted of it: all of it is read.
    fn is_replaced(&self, state: Option<&State>, local: &Local, manifest: &Manifest) -> RemoteResult<bool> {
        let Some(state) = state.filter(|state| state.manifest.generation < manifest.generation) else {
            return Ok(false);
        };
        let then = &state.manifest.history;
        for segment in &then.segments {
            if !local.has(segment)? {
                return Ok(false);
            }
        }
        Ok(then.bytes == local.bytes())
    }

    /// Adds what is new, whole lines at a time: whoever dies in between leaves a history that can be read.
    fn extend(&self, call: &Call<'_>, local: &Local, manifest: &Manifest) -> RemoteResult<()> {
        let paths = self.session.paths();
        let changed = || RemoteError::KeepsChanging { path: paths.history() };
        let place = (local.bytes(), local.identity());
        let mut history = Extension::begin(paths, place, self.session.options().durability)?.ok_or_else(changed)?;
        let mut line = Vec::new();
        let mut add = |bytes: &[u8]| match history.add(bytes)? {
            true => Ok(()),
            false => Err(changed()),
        };
        let whole_lines = |bytes: &[u8]| {
            line.extend_from_slice(bytes);
            let upto = memrchr(b'\n', &line).map_or(0, |at| at + 1);
            if upto > 0 {
                add(&line[..upto])?;
                line.drain(..upto);
            }
            Ok(())
        };
        let parallel = self.remote.options.parallel;
        self.remote.run(fetch::history(call, &self.name, manifest, local.bytes(), parallel, whole_lines))?;
        if line.is_empty() { Ok(()) } else { add(&line) }
    }

    /// Puts the copy's history in the place of the one that is here, which is kept as a backup. Of `local` all is in the
    /// copy; an append needs no lock of the session's, and what came since is not in it.
    fn replace(&self, call: &Call<'_>, local: &Local, manifest: &Manifest) -> RemoteResult<()> {
        let paths = self.session.paths();
        let mut rewrite = Rewrite::begin(paths, self.lock, self.session.options())?;
        if !rewrite.is_of((local.bytes(), local.identity())) {
            return Err(RemoteError::KeepsChanging { path: paths.history() });
        }
        let upto = rewrite.len();
        let put = |bytes: &[u8]| Ok(rewrite.put_upto(upto, bytes)?);
        self.remote.run(fetch::history(call, &self.name, manifest, 0, self.remote.options.parallel, put))?;
        rewrite.end(&[], KeepBackup::Yes, self.session.now())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::{PushOptions, RemoteOptions, write};
    use crate::{NewSession, Store};
    use session_core::Message;

    #[test]
    fn i23_a_line_that_came_after_a_history_was_looked_at_keeps_it_from_being_replaced() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let store = Store::open_at(dir.path());
        let name = SessionName::new("demo").expect("it is a name");
        let session =
            store.create(&NewSession { name: Some(name.clone()), ..NewSession::default() }).expect("it is new");
        session.append_messages([Message::user("plant three oaks")]).expect("it is there");
        let remote = Remote::in_memory(RemoteOptions::default()).expect("memory can be had");
        remote.push(&session, &PushOptions::default()).expect("it can be sent");

        let call = remote.objects().call();
        let (manifest, _) = remote.run(write::manifest(&call, &name)).expect("it can be read").expect("it is there");
        let lock = session.lock().expect("nobody has it");
        let options = PullOptions::default();
        let here = Here { remote: &remote, session: &session, lock: &lock, name: name.clone(), options: &options };
        let look = || Local::open(session.paths(), session.options().limits).map(Local::with_torn_end);
        let local = look().expect("it is there");
        session.append_messages([Message::user("and a birch")]).expect("it takes no lock");
        let before = std::fs::read(session.paths().history()).expect("it is there");
        let refused = here.replace(&call, &local, &manifest);
        assert!(
            matches!(&refused, Err(RemoteError::KeepsChanging { path }) if path.ends_with("history.jsonl")),
            "{refused:?}"
        );
        assert!(std::fs::read(session.paths().history()).expect("it is there") == before, "both lines are there");
        assert!(!session.paths().backups().exists());
        // Another file, as long: somebody else has replaced it.
        let local = look().expect("it is there");
        let other = dir.path().join("other");
        std::fs::write(&other, &before).expect("there is room");
        std::fs::rename(&other, session.paths().history()).expect("there is room");
        let refused = here.replace(&call, &local, &manifest);
        assert!(matches!(refused, Err(RemoteError::KeepsChanging { .. })), "{refused:?}");
        // What was looked at and has not changed is replaced.
        here.replace(&call, &look().expect("it is there"), &manifest).expect("nobody appends");
        let history = std::fs::read(session.paths().history()).expect("it is there");
        assert_eq!(history.len() as u64, manifest.history.bytes);
    }
}
