//! Looking at copies without fetching their histories.

use super::index::Index;
use super::listed::{RemoteList, RemoteSession};
use super::manifest::Manifest;
use super::objects::{Call, Listed, Version};
use super::{Remote, RemoteError, RemoteResult, Traffic, fetch, keys, write};
use futures_util::{StreamExt as _, stream};
use session_core::{Meta, SessionName, Timestamp};

/// How many manifests are fetched at once.
const PARALLEL: usize = 64;
/// So many manifests are read rather than the index.
const FEW: usize = 100;

/// Copies, as their manifests describe them.
#[derive(Debug)]
#[non_exhaustive]
pub struct RemoteSummaries {
    /// In the order in which they were asked for.
    pub found: Vec<RemoteResult<RemoteSummary>>,
    /// What was sent and received.
    pub traffic: Traffic,
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
    /// The machine that has written it last, and when, by its clock.
    pub pushed: (String, Option<Timestamp>),
    /// Who has the lease, and until when; `None` where nobody has taken it.
    pub lease: Option<(String, Timestamp)>,
    /// How many leases there were.
    pub fence: u64,
}

/// A copy, and the objects and files that it is made of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RemoteDetails {
    /// What its manifest says.
    pub summary: RemoteSummary,
    /// The objects that hold its history.
    pub segments: Vec<String>,
    /// The paths and lengths of its other files.
    pub files: Vec<(String, u64)>,
}

impl Remote {
    /// The sessions that have a copy and whose names begin so: a request for each thousand of them.
    ///
    /// # Errors
    /// [`RemoteError::Request`].
    pub fn list(&self, prefix: &str) -> RemoteResult<RemoteList> {
        let call = self.objects().call();
        let sessions = self.run(self.listed(&call, prefix))?;
        Ok(RemoteList { sessions, traffic: call.traffic() })
    }

    /// What the manifests of these sessions say.
    ///
    /// Of a few, each is read. Of many, those are read that an index does not know in their present state: an object that
    /// is a cache, and that is written anew when a twentieth of them had to be read.
    ///
    /// It has no error of its own: each session has its summary, or why there is none, in [`RemoteSummaries::found`]. An
    /// index that cannot be read or written is passed over.
    pub fn summaries(&self, sessions: &[RemoteSession]) -> RemoteSummaries {
        let call = self.objects().call();
        let manifests = self.run(self.manifests(&call, sessions)).into_iter();
        let summary = |(session, manifest): (&RemoteSession, RemoteResult<Manifest>)| {
            manifest.map(|manifest| summary(&session.name, &manifest))
        };
        RemoteSummaries { found: sessions.iter().zip(manifests).map(summary).collect(), traffic: call.traffic() }
    }

    /// What a session's manifest says, and of what the copy is made.
    ///
    /// # Errors
    /// [`RemoteError::NotThere`]; [`RemoteError::Corrupt`]; [`RemoteError::Request`].
    pub fn show(&self, name: &SessionName) -> RemoteResult<RemoteDetails> {
        let call = self.objects().call();
        self.run(async {
            let manifest = self.manifest_of(&call, name).await?.0;
            let tree = fetch::tree(&call, manifest.files).await?;
            let segments = manifest.history.segments.iter().map(|segment| keys::segment(name, segment)).collect();
            let files = tree.0.into_iter().map(|(path, entry)| (path, entry.bytes)).collect();
            Ok(RemoteDetails { summary: summary(name, &manifest), segments, files })
        })
    }

    pub(super) async fn listed(&self, call: &Call<'_>, prefix: &str) -> RemoteResult<Vec<RemoteSession>> {
        let listed = call.list(keys::MANIFESTS, &keys::beginning(prefix)).await?;
        let session = |at: Listed| {
            let name = keys::session_of(&at.file)?;
            Some(RemoteSession { name, written: at.modified, manifest_bytes: at.bytes, version: at.version })
        };
        let mut sessions: Vec<RemoteSession> = listed.into_iter().filter_map(session).collect();
        sessions.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sessions)
    }

    /// The manifests of these sessions, in their order; some without their segments.
    pub(super) async fn manifests(&self, call: &Call<'_>, sessions: &[RemoteSession]) -> Vec<RemoteResult<Manifest>> {
        let is_large = sessions.len() > FEW;
        let mut index = if is_large { Index::read(call).await } else { Index::default() };
        let unknown = sessions.iter().enumerate().filter(|(_, session)| index.known(session).is_none());
        let read = |(at, session): (usize, &RemoteSession)| {
            let name = session.name.clone();
            async move { (at, self.manifest_of(call, &name).await) }
        };
        let read: Vec<_> = stream::iter(unknown).map(read).buffered(PARALLEL).collect().await;
        let is_stale = is_large && read.len() * 20 >= sessions.len();
        let known = sessions.iter().map(|session| index.known(session).cloned().map(Ok));
        let mut found: Vec<Option<RemoteResult<Manifest>>> = known.collect();
        for (at, manifest) in read {
            if let Ok((manifest, version)) = &manifest {
                index.learn(&sessions[at].name, manifest, version);
            }
            found[at] = Some(manifest.map(|(manifest, _)| manifest));
        }
        if is_stale {
            index.forget_others(sessions);
            index.write(call).await;
        }
        found.into_iter().map(|found| found.expect("what the index does not know was read")).collect()
    }

    pub(super) async fn manifest_of(&self, call: &Call<'_>, name: &SessionName) -> RemoteResult<(Manifest, Version)> {
        let not_there = || RemoteError::NotThere { name: name.clone(), place: self.place().to_owned() };
        write::manifest(call, name).await?.ok_or_else(not_there)
    }
}

fn summary(name: &SessionName, manifest: &Manifest) -> RemoteSummary {
    RemoteSummary {
        name: name.clone(),
        meta: manifest.meta().unwrap_or_default(),
        generation: manifest.generation,
        is_redacted: manifest.redacted,
        history_bytes: manifest.history.bytes,
        pushed: (manifest.pushed.by.clone(), manifest.pushed.time()),
        lease: manifest.lease.as_ref().map(|lease| (lease.holder.clone(), lease.until())),
        fence: manifest.fence,
    }
}
