//! Looking at copies without fetching their histories.

use super::manifest::Manifest;
use super::{Remote, RemoteError, RemoteResult, keys, send, write};
use futures_util::{StreamExt as _, stream};
use session_core::{Meta, SessionName, Timestamp};

/// How many manifests are fetched at once.
const PARALLEL: usize = 16;

/// A copy, as a list of objects shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteSession {
    /// The session.
    pub name: SessionName,
    /// When its manifest was last written, by the clock of the store.
    pub written: Timestamp,
    /// How long its manifest is.
    pub manifest_bytes: u64,
}

/// A copy, as its manifest describes it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RemoteSummary {
    /// The session.
    pub name: SessionName,
    /// Its metadata; nothing in it is checked against the history.
    pub meta: Meta,
    /// Goes up by one where the history was replaced.
    pub generation: u64,
    /// Whether secrets were masked on the way.
    pub is_redacted: bool,
    /// How long the history is.
    pub history_bytes: u64,
    /// The objects that hold it.
    pub segments: Vec<String>,
    /// The machine that has written it last, and when, by its clock.
    pub pushed: (String, Option<Timestamp>),
    /// Who has the lease, and until when; `None` where nobody has taken it.
    pub lease: Option<(String, Timestamp)>,
    /// How many leases there were.
    pub fence: u64,
}

impl Remote {
    /// The sessions that have a copy, in the order of their names: a request for each thousand.
    ///
    /// # Errors
    /// [`RemoteError::Request`].
    pub fn list(&self) -> RemoteResult<Vec<RemoteSession>> {
        let call = self.objects().call();
        let listed = self.run(call.list(keys::MANIFESTS))?;
        let mut sessions: Vec<RemoteSession> = listed
            .into_iter()
            .filter_map(|at| {
                let name = keys::session_of(&at.file)?;
                Some(RemoteSession { name, written: at.modified, manifest_bytes: at.bytes })
            })
            .collect();
        sessions.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sessions)
    }

    /// What the manifests of these sessions say, in their order: a request for each.
    pub fn summaries(&self, names: &[SessionName]) -> Vec<RemoteResult<RemoteSummary>> {
        let call = self.objects().call();
        let look = |name| self.look_at(&call, name);
        self.run(stream::iter(names).map(look).buffered(PARALLEL).collect())
    }

    /// What a session's manifest says, and the paths and lengths of its other files.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Corrupt`]; [`RemoteError::Request`].
    pub fn show(&self, name: &SessionName) -> RemoteResult<(RemoteSummary, Vec<(String, u64)>)> {
        let call = self.objects().call();
        self.run(async {
            let manifest = self.manifest_of(&call, name).await?;
            let tree = send::tree(&call, &manifest).await?;
            let files = tree.0.into_iter().map(|(path, entry)| (path, entry.bytes)).collect();
            Ok((summary(name, &manifest), files))
        })
    }

    async fn look_at(&self, call: &super::objects::Call<'_>, name: &SessionName) -> RemoteResult<RemoteSummary> {
        Ok(summary(name, &self.manifest_of(call, name).await?))
    }

    pub(super) async fn manifest_of(
        &self,
        call: &super::objects::Call<'_>,
        name: &SessionName,
    ) -> RemoteResult<Manifest> {
        let not_there = || RemoteError::NotThere { name: name.clone(), place: self.place().to_owned() };
        Ok(write::manifest(call, name).await?.ok_or_else(not_there)?.0)
    }
}

fn summary(name: &SessionName, manifest: &Manifest) -> RemoteSummary {
    RemoteSummary {
        name: name.clone(),
        meta: manifest.meta().unwrap_or_default(),
        generation: manifest.generation,
        is_redacted: manifest.redacted,
        history_bytes: manifest.history.bytes,
        segments: manifest.history.segments.iter().map(|segment| keys::segment(name, segment)).collect(),
        pushed: (manifest.pushed.by.clone(), manifest.pushed.time()),
        lease: manifest.lease.as_ref().map(|lease| (lease.holder.clone(), lease.until())),
        fence: manifest.fence,
    }
}
