//! Removing what no session names any more.
//!
//! Parts of files, and the documents that name them, are shared by all sessions of a prefix, so that no session can say
//! alone that one is not needed. They are removed in two visits, at least a day apart:
//!
//! 1. What no manifest names and is a day old is put on a list, the object `condemned.json`.
//! 2. What stands on the list and still is in no manifest is removed, then the list.
//!
//! Who pushes may need at any moment what stands there. Before an object is named that was not named before, the list is
//! read, and the object is taken off it, under the condition that the list is the one that was read. The second visit
//! begins by marking the list under the same condition. So one of both comes first: either the object is off the list, or
//! the list is marked, and then the push is refused until the visit is over. A push that has read the list before it was
//! there has a day to write its manifest, which the second visit finds.
//!
//! A visit that dies has removed nothing that is named. Its mark is believed for an hour; then the list is like one that
//! was never marked. A visit stops by itself before that.

use super::manifest::Manifest;
use super::objects::{Call, Listed, Version, Written};
use super::push::ATTEMPTS;
use super::sha::Sha;
use super::{Remote, RemoteError, RemoteResult, Traffic, keys, send};
use chrono::TimeDelta;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};
use session_core::{Timestamp, format_time, parse_time};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const FORMAT: u32 = 1;
const MAX_BYTES: u64 = 256 << 20;
/// How old something is before it is condemned, and how long it stays condemned before it is removed. No push takes longer.
const GRACE: TimeDelta = TimeDelta::hours(24);
/// How long a mark is believed.
const MARKED: TimeDelta = TimeDelta::hours(1);
/// How many documents are read at once.
const PARALLEL: usize = 64;

/// What a visit did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// How many shared objects manifests name.
    pub named: u64,
    /// How many are condemned: removed by a visit after [`Collected::due`] unless somebody needs them before.
    pub condemned: u64,
    /// Their bytes.
    pub condemned_bytes: u64,
    /// When the next visit removes what is condemned; `None` where nothing is.
    pub due: Option<Timestamp>,
    /// How many this visit removed.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// What was sent and received.
    pub traffic: Traffic,
}

/// What is going to be removed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Condemned {
    format: u32,
    /// Who has put them on the list, and when.
    by: String,
    at: String,
    /// When somebody began to remove them.
    removing: Option<String>,
    objects: BTreeSet<Sha>,
}

impl Condemned {
    fn due(&self) -> Timestamp {
        parse_time(&self.at).unwrap_or_default() + GRACE
    }

    fn is_being_removed(&self, now: Timestamp) -> bool {
        let began = self.removing.as_deref().and_then(parse_time);
        began.is_some_and(|began| now - began < MARKED)
    }
}

/// The shared objects that there are, and those that manifests name.
struct Surveyed {
    named: HashSet<Sha>,
    unnamed: BTreeMap<Sha, Listed>,
}

impl Remote {
    /// Visits the objects that sessions share: condemns what no manifest names, or removes what was condemned a day ago.
    ///
    /// In the store when it returns: a list of what is condemned; or no list, and nothing of what stood on it and is not
    /// named. Who dies before that has left less than that; doing it again does the rest.
    ///
    /// # Errors
    /// [`RemoteError::NoConditionalWrites`], unless only the plan is wanted; [`RemoteError::Corrupt`] and [`RemoteError::Missing`] where a manifest or a
    /// document cannot be read: what it names is not known, and nothing is removed; [`RemoteError::Collecting`] while
    /// another visit removes; [`RemoteError::Request`].
    pub fn collect(&self, dry_run: bool) -> RemoteResult<Collected> {
        let call = self.objects().call();
        self.run(async {
            if !dry_run && !self.conditional(&call).await? {
                return Err(RemoteError::NoConditionalWrites { place: self.place().to_owned() });
            }
            for _ in 0..ATTEMPTS {
                if let Some(collected) = self.visit(&call, dry_run).await? {
                    return Ok(Collected { traffic: call.traffic(), ..collected });
                }
            }
            Err(RemoteError::Collecting { place: self.place().to_owned() })
        })
    }

    /// `None`: the list was changed meanwhile.
    async fn visit(&self, call: &Call<'_>, dry_run: bool) -> RemoteResult<Option<Collected>> {
        // First of all: what is named is looked at when the day is over.
        let list = read(call).await?;
        let now = self.now();
        if list.as_ref().is_some_and(|(list, _)| list.is_being_removed(now)) {
            return Err(RemoteError::Collecting { place: self.place().to_owned() });
        }
        let Surveyed { named, unnamed } = self.survey(call).await?;
        let is_new = list.is_none();
        let (list, version) = match list {
            Some((list, version)) => (list, Some(version)),
            None => {
                let old = unnamed.iter().filter(|(_, at)| at.modified < now - GRACE);
                let objects = old.map(|(sha, _)| *sha).collect();
                let (by, at) = (self.machine().to_owned(), format_time(&now));
                (Condemned { format: FORMAT, by, at, removing: None, objects }, None)
            }
        };
        let doomed: BTreeMap<Sha, u64> =
            list.objects.iter().filter_map(|sha| Some((*sha, unnamed.get(sha)?.bytes))).collect();
        let (count, bytes) = (doomed.len() as u64, doomed.values().sum());
        let is_due = !is_new && list.due() <= now;
        let (removed, condemned) = if is_due { ((count, bytes), (0, 0)) } else { ((0, 0), (count, bytes)) };
        let collected = Collected {
            named: named.len() as u64,
            condemned: condemned.0,
            condemned_bytes: condemned.1,
            due: (condemned.0 > 0).then(|| list.due()),
            removed: removed.0,
            removed_bytes: removed.1,
            traffic: Traffic::default(),
        };
        let is_done = match () {
            () if dry_run || (is_new && count == 0) => true,
            () if is_new => write(call, &list, None).await?.is_some(),
            () if is_due => self.remove_all(call, &list, version.as_ref(), doomed.into_keys().collect()).await?,
            () => true,
        };
        Ok(is_done.then_some(collected))
    }

    /// Marks the list, removes what stands on it, and then the list. False: the list was changed.
    async fn remove_all(
        &self,
        call: &Call<'_>,
        list: &Condemned,
        version: Option<&Version>,
        objects: BTreeSet<Sha>,
    ) -> RemoteResult<bool> {
        let began = self.now();
        let marked = Condemned { removing: Some(format_time(&began)), objects, ..list.clone() };
        if write(call, &marked, version).await?.is_none() {
            return Ok(false);
        }
        let delete = |sha: Sha| async move {
            // A machine that has slept meanwhile must not go on.
            match self.now() - began < MARKED / 2 {
                true => call.delete(&keys::object(&sha)).await,
                false => Err(RemoteError::Collecting { place: self.place().to_owned() }),
            }
        };
        let deletes = stream::iter(marked.objects).map(delete).buffer_unordered(self.options.parallel.max(1));
        deletes.try_collect::<()>().await?;
        call.delete(&keys::condemned()).await?;
        Ok(true)
    }

    /// Looks at every shared object, and at every document that names some.
    async fn survey(&self, call: &Call<'_>) -> RemoteResult<Surveyed> {
        let listed = call.list(keys::OBJECTS, "").await?;
        let sessions = self.listed(call, "").await?;
        let manifests: RemoteResult<Vec<Manifest>> = self.manifests(call, &sessions).await.into_iter().collect();
        let manifests = manifests?.into_iter().chain(self.formers(call).await?);
        let documents: BTreeSet<Sha> = manifests.filter_map(|manifest| manifest.files).collect();
        let tree = |sha: Sha| async move { send::tree(call, Some(sha)).await };
        let trees: Vec<_> = stream::iter(documents.clone()).map(tree).buffer_unordered(PARALLEL).try_collect().await?;
        let parts = trees.iter().flat_map(|tree| tree.0.values()).flat_map(|entry| entry.parts.iter().copied());
        let named: HashSet<Sha> = documents.into_iter().chain(parts).collect();
        let objects = listed.into_iter().filter_map(|at| Some((keys::sha_of(&at.file)?, at)));
        let unnamed = objects.filter(|(sha, _)| !named.contains(sha)).collect();
        Ok(Surveyed { named, unnamed })
    }

    /// The manifests that were kept when a history was replaced.
    async fn formers(&self, call: &Call<'_>) -> RemoteResult<Vec<Manifest>> {
        let listed = call.list(keys::GENERATIONS, "").await?;
        let named = listed.into_iter().filter_map(|at| Some((keys::session_of_former(&at.file)?, at)));
        let read = |(name, at): (session_core::SessionName, Listed)| async move {
            let key = format!("{}/{}", keys::GENERATIONS, at.file);
            match call.get(&key, super::manifest::MAX_BYTES).await? {
                Some((bytes, _)) => Manifest::read(&name, &bytes).map(Some),
                // Somebody has removed it since.
                None => Ok(None),
            }
        };
        let read: Vec<_> = stream::iter(named).map(read).buffer_unordered(PARALLEL).try_collect().await?;
        Ok(read.into_iter().flatten().collect())
    }
}

/// Takes objects off the list of those that are going to be removed, since somebody is about to name them.
pub(super) async fn spare(
    call: &Call<'_>,
    place: &str,
    needed: impl Fn(&Sha) -> bool,
    now: Timestamp,
) -> RemoteResult<()> {
    for _ in 0..ATTEMPTS {
        let Some((mut list, version)) = read(call).await? else { return Ok(()) };
        if !list.objects.iter().any(&needed) {
            return Ok(());
        }
        if list.is_being_removed(now) {
            break;
        }
        list.objects.retain(|sha| !needed(sha));
        if write(call, &list, Some(&version)).await?.is_some() {
            return Ok(());
        }
    }
    Err(RemoteError::Collecting { place: place.to_owned() })
}

async fn read(call: &Call<'_>) -> RemoteResult<Option<(Condemned, Version)>> {
    let object = keys::condemned();
    let Some((bytes, version)) = call.get(&object, MAX_BYTES).await? else { return Ok(None) };
    match serde_json::from_slice::<Condemned>(&bytes) {
        Ok(list) if list.format > FORMAT => {
            Err(RemoteError::NewerFormat { object, format: list.format, known: FORMAT })
        }
        Ok(list) => Ok(Some((list, version))),
        Err(error) => Err(RemoteError::Corrupt { object, what: error.to_string() }),
    }
}

/// Writes the list if it is as it was read. `None`: it is not.
async fn write(call: &Call<'_>, list: &Condemned, from: Option<&Version>) -> RemoteResult<Option<Version>> {
    let json = serde_json::to_vec(list).expect("strings and numbers are always JSON");
    let key = keys::condemned();
    let written = match from {
        None => call.create(&key, json.clone()).await?,
        Some(from) => call.update(&key, json.clone(), from).await?,
    };
    match written {
        Written::Yes(version) => Ok(Some(version)),
        // A try whose answer was lost makes the next one fail.
        Written::No | Written::Unsupported => {
            let is = call.get(&key, MAX_BYTES).await?;
            Ok(is.and_then(|(bytes, version)| (bytes == json).then_some(version)))
        }
    }
}
