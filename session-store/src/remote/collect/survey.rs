//! What there is in a prefix, and what of it manifests name.

use super::super::manifest::{self, Manifest};
use super::super::objects::{Call, Listed};
use super::super::sha::Sha;
use super::super::{Remote, RemoteResult, fetch, keys};
use super::condemned::Condemned;
use super::{GRACE, PARALLEL};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use session_core::{SessionName, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The shared objects that there are, and those that manifests name.
pub(super) struct Surveyed {
    pub(super) named: HashSet<Sha>,
    pub(super) unnamed: BTreeMap<Sha, Left>,
    /// What is left of sessions that have no manifest.
    pub(super) left: BTreeMap<String, Vec<Left>>,
}

/// An object that no manifest names.
#[derive(Debug, Clone)]
pub(super) struct Left {
    pub(super) key: String,
    pub(super) bytes: u64,
    pub(super) modified: Timestamp,
}

impl Left {
    fn of(dir: &str, at: &Listed) -> Self {
        Left { key: format!("{dir}/{}", at.file), bytes: at.bytes, modified: at.modified }
    }
}

impl Surveyed {
    /// A list of what no manifest names and is old enough.
    pub(super) fn condemn(&self, by: &str, now: Timestamp) -> Condemned {
        let is_old = |left: &Left| left.modified < now - GRACE;
        let objects = self.unnamed.iter().filter(|(_, left)| is_old(left)).map(|(sha, _)| *sha).collect();
        let sessions = self.left.iter().filter(|(_, left)| left.iter().all(is_old));
        Condemned::new(by, now, objects, sessions.map(|(name, _)| name.clone()).collect())
    }

    /// What of a list still is there and named by no manifest.
    pub(super) fn still(&self, mut list: Condemned) -> Condemned {
        list.objects.retain(|sha| self.unnamed.contains_key(sha));
        list.sessions.retain(|name| self.left.contains_key(name));
        list
    }

    /// The objects that a list is about.
    pub(super) fn doomed(&self, list: &Condemned) -> Vec<&Left> {
        let objects = list.objects.iter().filter_map(|sha| self.unnamed.get(sha));
        let segments = list.sessions.iter().filter_map(|name| self.left.get(name)).flatten();
        objects.chain(segments).collect()
    }
}

impl Remote {
    /// Looks at every shared object, at every document that names some, and at what is left of sessions.
    ///
    /// The manifests are looked at last: who has sent something that is seen here may have named it by then.
    pub(super) async fn survey(&self, call: &Call<'_>) -> RemoteResult<Surveyed> {
        let listed = call.list(keys::OBJECTS, "").await?;
        let formers = call.list(keys::GENERATIONS, "").await?;
        let histories = call.directories(keys::HISTORIES).await?;
        let sessions = self.listed(call, "").await?;
        let there: HashSet<SessionName> = sessions.iter().map(|session| session.name.clone()).collect();
        let orphans = histories.iter().filter_map(|dir| keys::session_of_directory(dir));
        let orphans = orphans.chain(formers.iter().filter_map(|at| keys::session_of_former(&at.file)));
        let orphans: BTreeSet<SessionName> = orphans.filter(|name| !there.contains(name)).collect();
        let left: Vec<_> =
            stream::iter(orphans).map(|name| left(call, name)).buffer_unordered(PARALLEL).collect().await;
        let left: RemoteResult<BTreeMap<String, Vec<Left>>> = left.into_iter().collect();

        let manifests: RemoteResult<Vec<Manifest>> = self.manifests(call, &sessions).await.into_iter().collect();
        let manifests = manifests?.into_iter().chain(read(call, formers).await?);
        let documents: BTreeSet<Sha> = manifests.filter_map(|manifest| manifest.files).collect();
        let tree = |sha: Sha| async move { fetch::tree(call, Some(sha)).await };
        let trees: Vec<_> = stream::iter(documents.clone()).map(tree).buffer_unordered(PARALLEL).try_collect().await?;
        let parts = trees.iter().flat_map(|tree| tree.0.values()).flat_map(|entry| entry.parts.iter().copied());
        let named: HashSet<Sha> = documents.into_iter().chain(parts).collect();
        let objects = listed.into_iter().filter_map(|at| Some((keys::sha_of(&at.file)?, Left::of(keys::OBJECTS, &at))));
        let unnamed = objects.filter(|(sha, _)| !named.contains(sha)).collect();
        Ok(Surveyed { named, unnamed, left: left? })
    }
}

/// The segments and former manifests of a session that has no manifest.
async fn left(call: &Call<'_>, name: SessionName) -> RemoteResult<(String, Vec<Left>)> {
    let mut left = Vec::new();
    for prefix in [keys::segments(&name), keys::formers(&name)] {
        let listed = call.list(prefix.trim_end_matches('/'), "").await?;
        left.extend(listed.into_iter().map(|at| Left::of(prefix.trim_end_matches('/'), &at)));
    }
    Ok((name.to_string(), left))
}

/// The manifests that were kept when a history was replaced.
async fn read(call: &Call<'_>, formers: Vec<Listed>) -> RemoteResult<Vec<Manifest>> {
    let named = formers.into_iter().filter_map(|at| Some((keys::session_of_former(&at.file)?, at)));
    let read = |(name, at): (SessionName, Listed)| async move {
        let key = format!("{}/{}", keys::GENERATIONS, at.file);
        match call.get(&key, manifest::MAX_BYTES).await? {
            Some((bytes, _)) => Manifest::read(&name, &bytes).map(Some),
            // Somebody has removed it since.
            None => Ok(None),
        }
    };
    let read: Vec<_> = stream::iter(named).map(read).buffer_unordered(PARALLEL).try_collect().await?;
    Ok(read.into_iter().flatten().collect())
}
