//! Sending what is new of a session.
//!
//! Segments and files are sent first, and the manifest last: it names only what is there, and it is replaced only if it is
//! what was looked at. So whoever dies before that has changed nothing that anybody reads, and the next one finds what was
//! sent already.

mod leased;
mod plan;
mod seen;

use plan::Plan;
pub(super) use plan::raw;
use seen::Seen;

use super::lease::{Lease, Then};
use super::local::Local;
use super::manifest::{Manifest, Mark, Segments};
use super::objects::{Call, Version};
use super::state::{self, Files, Remembered, State};
use super::tree::Tree;
use super::write::ATTEMPTS;
use super::{Change, Copied, Remote, RemoteError, RemoteResult, collect, redacted, send, write};
use crate::{Session, StoreError};
use chrono::TimeDelta;
use session_core::{Redact, SessionName};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What a try of an earlier push has sent is found again for so long: half of what is left alone by who removes what
/// nobody names.
const FRESH: TimeDelta = TimeDelta::hours(12);

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

impl Remote {
    /// Sends what is new of a session.
    ///
    /// In the store when it returns: the session's whole lines, its metadata, and its other files (spilled output,
    /// checkpoints, records of processes) but for those in [`Copied::conflicts`]. Here: what is remembered of the copy,
    /// in the session. After an error the copy is as it was, or as it should be.
    ///
    /// It takes no lock; a turn may go on meanwhile.
    ///
    /// # Errors
    /// [`RemoteError::Behind`] and [`RemoteError::Diverged`] where the copy has what is not here;
    /// [`RemoteError::Redaction`]; [`RemoteError::Contended`]; the step that failed.
    pub fn push(&self, session: &Session, options: &PushOptions) -> RemoteResult<Copied> {
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

impl<'a> Push<'a> {
    pub(super) fn new(
        remote: &'a Remote,
        session: &'a Session,
        options: &'a PushOptions,
        lease: Option<(&'a Lease, Then)>,
    ) -> RemoteResult<Self> {
        let own = || SessionName::new(session.name()).map_err(StoreError::from);
        let name = options.name.clone().map_or_else(own, Ok)?;
        let state_path = state::path(session.paths(), remote.place(), &name)?;
        Ok(Push { remote, session, name, options, state_path, call: remote.objects().call(), lease })
    }

    pub(super) async fn run(&self) -> RemoteResult<Copied> {
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
            if let Some(copied) = self.send(&local, seen, remembered.as_ref()).await? {
                return Ok(copied);
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

    /// Sends, unless there is nothing to send. `None`: the copy has to be looked at, because somebody else has written it
    /// meanwhile or may have.
    async fn send(&self, local: &Local, seen: Seen, state: Option<&State>) -> RemoteResult<Option<Copied>> {
        let allowed = match self.lease {
            Some((lease, _)) if seen.version.is_none() => Err(lease.lost("nobody")),
            Some((lease, _)) => lease.check(&seen.manifest),
            None => self.remote.refuse_leased(&self.name, &seen.manifest),
        };
        match allowed {
            // Who had the lease then may have given it back.
            Err(_) if !seen.is_looked_at => return Ok(None),
            allowed => allowed?,
        }
        let is_unchanged = state.is_some_and(|state| self.is_unchanged(state, &seen));
        let plan = self.plan(local, &seen, state, is_unchanged)?;
        let is_same_meta = is_unchanged && state.is_some_and(|state| state.has_meta(plan.meta.as_deref()));
        let releases = matches!(self.lease, Some((_, Then::Release)));
        if self.options.dry_run || (plan.copied.change == Change::Nothing && is_same_meta && !releases) {
            // What is remembered is not believed: no write is going to tell whether it still is so.
            return Ok(seen.is_looked_at.then_some(plan.copied));
        }
        self.write(local, seen, plan, state).await
    }

    /// Whether nobody else has changed what the copy holds since both were the same.
    fn is_unchanged(&self, state: &State, seen: &Seen) -> bool {
        let (then, now) = (&state.manifest, &seen.manifest);
        let is_same = (&then.history, then.generation) == (&now.history, now.generation);
        Some(&state.version) == seen.version.as_ref() || (self.lease.is_some() && is_same)
    }

    /// Sends what is planned, the manifest last. `None`: somebody else was faster.
    async fn write(
        &self,
        local: &Local,
        seen: Seen,
        plan: Plan,
        state: Option<&State>,
    ) -> RemoteResult<Option<Copied>> {
        let Seen { manifest: before, version, tree, .. } = seen;
        let Plan { pieces, files, tree: wanted, meta, copied } = plan;
        let (call, name, parallel) = (&self.call, &self.name, self.remote.options.parallel);
        let conditional = self.remote.conditional(call).await?;
        let fresh = self.remote.now() - FRESH;
        if conditional && before.history.segments.is_empty() {
            collect::spare_session(call, self.remote.place(), name, self.remote.now()).await?;
        }
        let segments = send::segments(call, name, local, pieces, fresh, parallel).await?;
        let document = if wanted == tree && before.files.is_some() != tree.0.is_empty() {
            before.files
        } else {
            send::files(self.remote, call, &files, &wanted, &tree).await?
        };
        if copied.generation != before.generation {
            send::keep_former(call, name, &before).await?;
        }
        let manifest = Manifest {
            generation: copied.generation,
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
        // The copy is what it should be, whatever becomes of this: a store that cannot be written to can be sent.
        let not_remembered = self.remember(local, version, &manifest, wanted, files, conditional).err();
        Ok(Some(Copied { traffic: call.traffic(), not_remembered, ..copied }))
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
