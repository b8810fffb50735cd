//! Sending what is new of a session.
//!
//! Segments and files are sent first, and the manifest last: it names only what is there, and it is replaced only if it is
//! what was looked at. So whoever dies before that has changed nothing that anybody reads, and the next one finds what was
//! sent already.

use super::compare::{Standing, compare, diverged, proven};
use super::lease::{Lease, Then};
use super::local::Local;
use super::manifest::{Manifest, Mark, Segments};
use super::objects::{Call, Traffic, Version};
use super::send::{self, Piece};
use super::state::{self, Files, Remembered, State};
use super::tree::{Merged, Tree, merged};
use super::{Change, Remote, RemoteError, RemoteResult, redacted, write};
use crate::{Session, StoreError};
use serde_json::value::RawValue;
use session_core::{Meta, Redact, SessionName};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How often a copy is looked at anew because somebody else has written it meanwhile.
pub(super) const ATTEMPTS: usize = 8;

/// How a session is sent.
#[derive(Clone, Default)]
pub struct PushOptions {
    /// The name of the copy, where it is another one than the session's: to keep both of two that went apart.
    pub name: Option<SessionName>,
    /// Who masks secrets on the way. The copy is a redacted one then: it is made for others to read, and what it holds is
    /// the history and the metadata. Each push goes through the whole history.
    pub redactor: Option<Arc<dyn Redact>>,
    /// Whether only the plan is wanted: nothing is sent.
    pub dry_run: bool,
}

impl fmt::Debug for PushOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_redacted = self.redactor.is_some();
        write!(f, "PushOptions {{ name: {:?}, redacted: {is_redacted}, dry_run: {} }}", self.name, self.dry_run)
    }
}

/// What a push did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pushed {
    /// The name of the copy.
    pub name: SessionName,
    /// What became of the copy.
    pub change: Change,
    /// Its generation.
    pub generation: u64,
    /// How much of the history the copy holds.
    pub history_bytes: u64,
    /// How much of that it did not hold before.
    pub new_bytes: u64,
    /// The other files that are new in it or changed.
    pub files: u64,
    /// Files that were changed here and there, each in its own way: both stay as they are.
    pub conflicts: Vec<String>,
    /// What was sent and received.
    pub traffic: Traffic,
}

impl Remote {
    /// Sends what is new of a session.
    ///
    /// In the store when it returns: the session's whole lines, its metadata, and its other files (spilled output,
    /// checkpoints, records of processes) but for those in [`Pushed::conflicts`]. Here: what is remembered of the copy,
    /// in the session. After an error the copy is as it was, or as it should be.
    ///
    /// It takes no lock; a turn may go on meanwhile.
    ///
    /// # Errors
    /// [`RemoteError::Behind`] and [`RemoteError::Diverged`] where the copy has what is not here;
    /// [`RemoteError::Redaction`]; [`RemoteError::Contended`]; the step that failed.
    pub fn push(&self, session: &Session, options: &PushOptions) -> RemoteResult<Pushed> {
        let push = Push::new(self, session, options, None)?;
        self.run(push.run())
    }
}

/// A push.
pub(super) struct Push<'a> {
    remote: &'a Remote,
    session: &'a Session,
    name: SessionName,
    options: &'a PushOptions,
    state_path: PathBuf,
    call: Call<'a>,
    /// The lease that it is made under.
    lease: Option<(&'a Lease, Then)>,
}

/// The copy as it is, and how what is here stands to it.
struct Seen {
    manifest: Manifest,
    /// `None`: there is no copy.
    version: Option<Version>,
    standing: Standing,
    tree: Tree,
    /// False: it is what is remembered.
    is_looked_at: bool,
}

/// What is to be sent.
struct Plan {
    pieces: Vec<Piece>,
    /// What is here.
    files: BTreeMap<String, send::File>,
    /// What the copy is to name.
    tree: Tree,
    meta: Option<Box<RawValue>>,
    pushed: Pushed,
}

impl<'a> Push<'a> {
    pub(super) fn new(
        remote: &'a Remote,
        session: &'a Session,
        options: &'a PushOptions,
        lease: Option<(&'a Lease, Then)>,
    ) -> RemoteResult<Self> {
        let own = || SessionName::new(session.name()).map_err(StoreError::from);
        let name = options.name.clone().map_or_else(own, Ok)?;
        let state_path = state::path(session.paths(), remote.place(), &name);
        Ok(Push { remote, session, name, options, state_path, call: remote.objects().call(), lease })
    }

    pub(super) async fn run(&self) -> RemoteResult<Pushed> {
        let remembered = state::read(&self.state_path, self.remote.place());
        if let Some(state) = &remembered {
            self.remote.remember_conditional(state.conditional);
        }
        for attempt in 0..ATTEMPTS {
            let local = self.local()?;
            let seen = match &remembered {
                // What is remembered is not looked at: the store says whether it still is so when it is replaced.
                Some(state) if attempt == 0 && self.continues(state, &local)? => self.as_remembered(state, &local),
                state => self.look(state.as_ref(), &local).await?,
            };
            if let Some(pushed) = self.send(&local, seen, remembered.as_ref()).await? {
                return Ok(pushed);
            }
        }
        Err(RemoteError::Contended { name: self.name.clone() })
    }

    /// The history as it is to be sent.
    fn local(&self) -> RemoteResult<Local> {
        let local = Local::open(self.session.paths(), self.session.options().limits)?;
        match &self.options.redactor {
            Some(redactor) => redacted::redacted(local, &**redactor),
            None => Ok(local),
        }
    }

    fn continues(&self, state: &State, local: &Local) -> RemoteResult<bool> {
        let proven = state.proven(local).map_err(StoreError::read(local.path()))?;
        let is_same_kind = state.manifest.redacted == self.options.redactor.is_some();
        Ok(is_same_kind && proven == state.manifest.history.bytes)
    }

    fn as_remembered(&self, state: &State, local: &Local) -> Seen {
        let is_longer = local.bytes() > state.manifest.history.bytes;
        let (mut manifest, mut version) = (state.manifest.clone(), state.version.clone());
        // Taking the lease has written the manifest since, and nothing else in it.
        if let Some((lease, _)) = self.lease {
            let (seen, of_lease) = lease.seen().clone();
            if (&seen.history, seen.files, seen.generation) == (&manifest.history, manifest.files, manifest.generation)
            {
                (manifest, version) = (seen, of_lease);
            }
        }
        Seen {
            manifest,
            version: Some(version),
            standing: if is_longer { Standing::Ahead } else { Standing::Same },
            tree: state.tree(),
            is_looked_at: false,
        }
    }

    async fn look(&self, state: Option<&State>, local: &Local) -> RemoteResult<Seen> {
        let Some((manifest, version)) = write::manifest(&self.call, &self.name).await? else {
            let manifest = Manifest::new(&self.name, self.remote.machine(), self.remote.now());
            let manifest = Manifest { redacted: self.options.redactor.is_some(), ..manifest };
            let tree = Tree::default();
            return Ok(Seen { manifest, version: None, standing: Standing::Ahead, tree, is_looked_at: true });
        };
        if manifest.redacted != self.options.redactor.is_some() {
            return Err(RemoteError::Redaction { name: self.name.clone(), is_redacted: manifest.redacted });
        }
        let proven = proven(state, local, &manifest)?;
        let standing = compare(&self.call, &self.name, local, &manifest, proven).await?;
        let tree = match state {
            Some(state) if state.manifest.files == manifest.files => state.tree(),
            Some(_) | None => send::tree(&self.call, &manifest).await?,
        };
        Ok(Seen { manifest, version: Some(version), standing, tree, is_looked_at: true })
    }

    /// Sends, unless there is nothing to send. `None`: the copy has to be looked at, because somebody else has written it
    /// meanwhile or may have.
    async fn send(&self, local: &Local, seen: Seen, state: Option<&State>) -> RemoteResult<Option<Pushed>> {
        match self.lease {
            Some((lease, _)) if seen.version.is_none() => return Err(lease.lost("nobody")),
            Some((lease, _)) => lease.check(&seen.manifest)?,
            None => self.remote.refuse_leased(&self.name, &seen.manifest)?,
        }
        let is_unchanged = state.is_some_and(|state| self.is_unchanged(state, &seen));
        let plan = self.plan(local, &seen, state, is_unchanged)?;
        let is_same_meta = is_unchanged && state.is_some_and(|state| state.has_meta(plan.meta.as_deref()));
        let releases = matches!(self.lease, Some((_, Then::Release)));
        if self.options.dry_run || (plan.pushed.change == Change::Nothing && is_same_meta && !releases) {
            // What is remembered is not believed: no write is going to tell whether it still is so.
            return Ok(seen.is_looked_at.then_some(plan.pushed));
        }
        self.write(local, seen, plan, state).await
    }

    /// Whether nobody else has changed what the copy holds since both were the same.
    fn is_unchanged(&self, state: &State, seen: &Seen) -> bool {
        let (then, now) = (&state.manifest, &seen.manifest);
        let is_same = (&then.history, then.generation) == (&now.history, now.generation);
        Some(&state.version) == seen.version.as_ref() || (self.lease.is_some() && is_same)
    }

    fn plan(&self, local: &Local, seen: &Seen, state: Option<&State>, is_unchanged: bool) -> RemoteResult<Plan> {
        let before = &seen.manifest;
        let (pieces, generation) = match seen.standing {
            Standing::Same | Standing::Ahead => (send::continued(&before.history, local.bytes()), before.generation),
            // So it is the history here that was replaced.
            Standing::Apart(_) if is_unchanged => (send::anew(&before.history, local)?, before.generation + 1),
            Standing::Apart(common) => {
                return Err(diverged(&self.name, common, (local, self.remote.machine()), before));
            }
            Standing::Behind => {
                let (local_bytes, remote_bytes) = (local.bytes(), before.history.bytes);
                return Err(RemoteError::Behind { name: self.name.clone(), local_bytes, remote_bytes });
            }
        };
        let (files, Merged { tree, conflicts }) = self.files(state, &seen.tree)?;
        let pushed = Pushed {
            name: self.name.clone(),
            change: match seen.version {
                None => Change::Made,
                Some(_) if generation != before.generation => Change::Replaced,
                Some(_) if local.bytes() > before.history.bytes || tree != seen.tree => Change::Added,
                Some(_) => Change::Nothing,
            },
            generation,
            history_bytes: local.bytes(),
            new_bytes: local.bytes().saturating_sub(before.history.bytes),
            files: tree.0.iter().filter(|(path, entry)| seen.tree.0.get(*path) != Some(entry)).count() as u64,
            conflicts,
            traffic: self.call.traffic(),
        };
        Ok(Plan { pieces, files, tree, meta: self.meta()?, pushed })
    }

    /// Sends what is planned, the manifest last. `None`: somebody else was faster.
    async fn write(
        &self,
        local: &Local,
        seen: Seen,
        plan: Plan,
        state: Option<&State>,
    ) -> RemoteResult<Option<Pushed>> {
        let Seen { manifest: before, version, tree, .. } = seen;
        let Plan { pieces, files, tree: wanted, meta, pushed } = plan;
        let (call, name, parallel) = (&self.call, &self.name, self.remote.options.parallel);
        let conditional = self.remote.conditional(call).await?;
        let segments = send::segments(call, name, local, pieces, parallel).await?;
        let document = if wanted == tree && before.files.is_some() != tree.0.is_empty() {
            before.files
        } else {
            send::files(call, &files, &wanted, &tree, parallel).await?
        };
        if pushed.generation != before.generation {
            send::keep_former(call, name, &before).await?;
        }
        let manifest = Manifest {
            generation: pushed.generation,
            history: Segments { bytes: local.bytes(), segments },
            files: document,
            pushed: Mark::new(self.remote.machine(), self.remote.now()),
            meta,
            lease: self.lease.and_then(|(lease, then)| lease.mark(then)),
            ..before
        };
        let written = write::replace(call, name, &manifest, version.as_ref(), conditional).await?;
        let Some(version) = written else { return Ok(None) };
        if let Some((lease, _)) = self.lease {
            *lease.seen() = (manifest.clone(), version.clone());
        }
        let files = files.into_iter().map(|(path, file)| (path, (file.stamp, file.entry))).collect();
        let files = state::known(files, &wanted, state);
        self.remember(local, version, &manifest, wanted, files, conditional)?;
        Ok(Some(Pushed { traffic: call.traffic(), ..pushed }))
    }

    /// The files that are here, and the document that names them and those of others.
    fn files(&self, state: Option<&State>, tree: &Tree) -> RemoteResult<(BTreeMap<String, send::File>, Merged)> {
        if self.options.redactor.is_some() {
            return Ok((BTreeMap::new(), Merged { tree: tree.clone(), conflicts: Vec::new() }));
        }
        let known = state.map(|state| &state.files);
        let files = send::local_files(self.session.paths(), self.remote.machine(), known)?;
        let local = Tree(files.iter().map(|(path, file)| (path.clone(), file.entry.clone())).collect());
        let base = state.map(State::base).unwrap_or_default();
        let merged = merged(&base, &local, tree);
        Ok((files, merged))
    }

    fn meta(&self) -> RemoteResult<Option<Box<RawValue>>> {
        let mut meta = self.session.meta()?.meta;
        if let Some(redactor) = &self.options.redactor {
            redacted::meta(&mut meta, &**redactor, &self.session.paths().meta())?;
        }
        Ok(raw(&meta))
    }

    fn remember(
        &self,
        local: &Local,
        version: Version,
        manifest: &Manifest,
        tree: Tree,
        files: Files,
        conditional: bool,
    ) -> RemoteResult<()> {
        let history = Remembered::of(local, local.bytes()).map_err(StoreError::read(local.path()))?;
        let meta = manifest.meta.as_deref();
        let state = State::new(self.remote.place(), conditional, version, manifest, meta, tree, history, files);
        state.write(self.session.paths(), &self.state_path)
    }
}

/// Metadata as a manifest holds it.
pub(super) fn raw(meta: &Meta) -> Option<Box<RawValue>> {
    // It is made of strings and of what was JSON before, so that there is no other case.
    RawValue::from_string(String::from_utf8(meta.to_json()).ok()?).ok()
}
