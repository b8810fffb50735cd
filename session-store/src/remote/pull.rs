//! Bringing in what is new of a copy.
//!
//! A session that is not here is built where nobody sees it, and gets its name when it is whole. A history that is here is
//! continued piece by piece, each one checked before it is written, so that at every moment it is a beginning of the copy's.

use super::compare::{Standing, compare, diverged, proven};
use super::local::Local;
use super::manifest::Manifest;
use super::objects::{Call, Traffic, Version};
use super::push::raw;
use super::state::{self, Files, Remembered, State};
use super::tree::{Tree, wanted};
use super::{Change, Remote, RemoteError, RemoteResult, fetch, send, write};
use crate::history::Extension;
use crate::rewrite::{KeepBackup, Rewrite};
use crate::staging::{self, Staged};
use crate::{LockGuard, Session, SessionPaths, Store, StoreError, meta};
use memchr::memrchr;
use session_core::{Limits, Meta, SessionName};

/// How often a copy is looked at anew because objects that it named are gone.
const ATTEMPTS: usize = 3;

/// How a copy is brought in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullOptions {
    /// The name of the session here, where it is another one than the copy's: to keep both of two that went apart.
    pub name: Option<SessionName>,
    /// Whether only the plan is wanted: nothing is changed.
    pub dry_run: bool,
}

/// What a pull did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pulled {
    /// The session here.
    pub name: SessionName,
    /// What became of it.
    pub change: Change,
    /// The generation of the copy.
    pub generation: u64,
    /// How long its history is.
    pub history_bytes: u64,
    /// How much of that was not here before.
    pub new_bytes: u64,
    /// The other files that came in.
    pub files: u64,
    /// Files that were changed here and there, each in its own way: both stay as they are.
    pub conflicts: Vec<String>,
    /// What was sent and received.
    pub traffic: Traffic,
}

/// A copy as it is.
struct Copy {
    manifest: Manifest,
    version: Version,
    tree: Tree,
    /// Whether its store has conditional writes.
    conditional: bool,
}

impl Remote {
    /// Brings in what is new of a copy.
    ///
    /// On disk when it returns: the session with the copy's history, metadata and other files but for those in
    /// [`Pulled::conflicts`] and the records of other machines' processes, synced as the durability of `store` says; what is
    /// remembered of the copy. After an error a session that was not here is not here, and the history of one that was is
    /// what it was, or a longer beginning of the copy's.
    ///
    /// The session's lock is taken for the time; links to successors are not followed.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Diverged`]; [`RemoteError::Corrupt`] and [`RemoteError::Missing`] name the
    /// object; [`StoreError::Locked`] while a turn runs; the step that failed.
    pub fn pull(&self, store: &Store, name: &SessionName, options: &PullOptions) -> RemoteResult<Pulled> {
        let here = options.name.as_ref().unwrap_or(name);
        if store.paths(here)?.dir().symlink_metadata().is_err() && !store.exists(here) {
            return self.patiently(name, |call, copy| self.make(store, (name, here), copy, call, options));
        }
        let session = store.open_exactly(here)?;
        let lock = session.lock()?;
        let pulled = self.pull_into(&session, &lock, &PullOptions { name: Some(name.clone()), ..options.clone() })?;
        lock.release()?;
        Ok(pulled)
    }

    /// The same for a session whose lock is held: before a turn, as a rule. Here the name in `options` is that of the copy.
    ///
    /// # Errors
    /// As [`Remote::pull`].
    pub fn pull_into(&self, session: &Session, lock: &LockGuard, options: &PullOptions) -> RemoteResult<Pulled> {
        lock.check()?;
        let own = || SessionName::new(session.name()).map_err(StoreError::from);
        let name = options.name.clone().map_or_else(own, Ok)?;
        let into = Into { remote: self, session, lock, name, options };
        self.patiently(&into.name, |call, copy| into.run(call, copy))
    }

    /// Works on a copy as it is now. Objects that its manifest named and that are gone mean that somebody has written a
    /// new one meanwhile.
    fn patiently(
        &self,
        name: &SessionName,
        mut work: impl FnMut(&Call<'_>, Copy) -> RemoteResult<Pulled>,
    ) -> RemoteResult<Pulled> {
        let call = self.objects().call();
        let mut before: Option<Version> = None;
        for attempt in 1.. {
            let seen = self.run(write::manifest(&call, name))?;
            let not_there = || RemoteError::NotThere { name: name.clone(), place: self.place().to_owned() };
            let (manifest, version) = seen.ok_or_else(not_there)?;
            let is_same = before.as_ref() == Some(&version);
            let conditional = self.run(self.conditional(&call))?;
            let done = self
                .run(send::tree(&call, &manifest))
                .and_then(|tree| work(&call, Copy { manifest, version: version.clone(), tree, conditional }));
            match done {
                Err(RemoteError::Missing { .. }) if attempt < ATTEMPTS && !is_same => before = Some(version),
                done => return Ok(Pulled { traffic: call.traffic(), ..done? }),
            }
        }
        Err(RemoteError::Contended { name: name.clone() })
    }

    /// Builds a session that is not here.
    fn make(
        &self,
        store: &Store,
        (name, here): (&SessionName, &SessionName),
        copy: Copy,
        call: &Call<'_>,
        options: &PullOptions,
    ) -> RemoteResult<Pulled> {
        let (files, conflicts) = wanted(&Tree::default(), &Tree::default(), &copy.tree);
        let pulled = Pulled {
            name: here.clone(),
            change: Change::Made,
            generation: copy.manifest.generation,
            history_bytes: copy.manifest.history.bytes,
            new_bytes: copy.manifest.history.bytes,
            files: files.len() as u64,
            conflicts,
            traffic: Traffic::default(),
        };
        if options.dry_run {
            return Ok(pulled);
        }
        let mut known = Files::new();
        staging::build(store, Some(here), |staged| {
            self.fill_history(staged, name, &copy.manifest, call)?;
            let (dir, durability) = (staged.paths().dir(), store.options().durability);
            let placed = self.run(fetch::files(call, dir, files.clone(), durability, self.options.parallel))?;
            known = placed.into_iter().map(|(path, stamp, entry)| (path, (stamp, entry))).collect();
            let meta = match copy.manifest.meta() {
                Some(meta) => meta,
                None => meta::of_history(&staged.paths().history(), store.options().limits)?,
            };
            Ok::<_, RemoteError>(staged.put_meta(&Meta { name: here.to_string(), ..meta })?)
        })?;
        let paths = store.paths(here)?;
        let local = Local::open(&paths, store.options().limits)?;
        self.remember(&paths, name, &local, copy, known)?;
        Ok(pulled)
    }

    fn fill_history(
        &self,
        staged: &Staged<'_>,
        name: &SessionName,
        manifest: &Manifest,
        call: &Call<'_>,
    ) -> RemoteResult<()> {
        if manifest.history.bytes == 0 {
            return Ok(());
        }
        let mut history = staged.history()?;
        let put = |bytes: &[u8]| Ok(history.push_bytes(bytes)?);
        self.run(fetch::history(call, name, manifest, 0, self.options.parallel, put))?;
        Ok(history.finish()?)
    }

    /// Remembers that both are the same.
    fn remember(
        &self,
        paths: &SessionPaths,
        name: &SessionName,
        local: &Local,
        copy: Copy,
        files: Files,
    ) -> RemoteResult<()> {
        let Copy { manifest, version, tree, conditional } = copy;
        let bytes = manifest.history.bytes.min(local.bytes());
        let history = Remembered::of(local, bytes).map_err(StoreError::read(local.path()))?;
        let meta = raw(&meta::read(paths, name.as_str(), Limits::default())?.meta);
        let meta = meta.as_deref();
        let state = State::new(self.place(), conditional, version, &manifest, meta, tree, history, files);
        state.write(paths, &state::path(paths, self.place(), name))
    }
}

/// A pull into a session that is here.
struct Into<'a> {
    remote: &'a Remote,
    session: &'a Session,
    lock: &'a LockGuard,
    /// The copy's name.
    name: SessionName,
    options: &'a PullOptions,
}

impl Into<'_> {
    fn run(&self, call: &Call<'_>, copy: Copy) -> RemoteResult<Pulled> {
        let paths = self.session.paths();
        let state = state::read(&state::path(paths, self.remote.place(), &self.name), self.remote.place());
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
        let here = send::local_files(paths, self.remote.machine(), known)?;
        let here_tree = Tree(here.iter().map(|(path, file)| (path.clone(), file.entry.clone())).collect());
        let base = state.as_ref().map(State::base).unwrap_or_default();
        let (files, conflicts) = wanted(&base, &here_tree, &copy.tree);
        let pulled = Pulled {
            name: SessionName::new(self.session.name()).map_err(StoreError::from)?,
            change: if change == Change::Nothing && !files.is_empty() { Change::Added } else { change },
            generation: copy.manifest.generation,
            history_bytes: copy.manifest.history.bytes,
            new_bytes: copy.manifest.history.bytes.saturating_sub(local.bytes()),
            files: files.len() as u64,
            conflicts,
            traffic: Traffic::default(),
        };
        if self.options.dry_run {
            return Ok(pulled);
        }
        // Files first: what the history mentions is there when it is read.
        let durability = self.session.options().durability;
        let parallel = self.remote.options.parallel;
        let placed = self.remote.run(fetch::files(call, paths.dir(), files, durability, parallel))?;
        match change {
            Change::Added => self.extend(call, &local, &copy.manifest)?,
            Change::Replaced => self.replace(call, &copy.manifest)?,
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
        self.remote.remember(paths, &self.name, &local, copy, known)?;
        Ok(pulled)
    }

    /// Whether all that is here was in the copy before its history was replaced.
    fn is_replaced(&self, state: Option<&State>, local: &Local, manifest: &Manifest) -> RemoteResult<bool> {
        let Some(state) = state else { return Ok(false) };
        let proven = state.proven(local).map_err(StoreError::read(local.path()))?;
        Ok(manifest.generation > state.manifest.generation && proven == local.bytes())
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

    /// Puts the copy's history in the place of the one that is here, which is kept as a backup.
    fn replace(&self, call: &Call<'_>, manifest: &Manifest) -> RemoteResult<()> {
        let mut rewrite = Rewrite::begin(self.session.paths(), self.lock, self.session.options())?;
        let upto = rewrite.len();
        let put = |bytes: &[u8]| Ok(rewrite.put_upto(upto, bytes)?);
        self.remote.run(fetch::history(call, &self.name, manifest, 0, self.remote.options.parallel, put))?;
        rewrite.end(&[], KeepBackup::Yes, self.session.now())?;
        Ok(())
    }
}
