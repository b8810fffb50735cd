//! The object store: reading, writing and listing objects by name. Nothing else here knows which kind of store it is.

use super::{RemoteError, RemoteResult, refused};
use futures_util::TryStreamExt as _;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{
    Error, ObjectMeta, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, UpdateVersion,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many objects a page of a list has, in a store that gives none.
const PAGE: u64 = 1_000;

/// Objects below a prefix of a store.
pub(super) struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The same store, if it lists what begins with any letters, a page at a time.
    pages: Option<Arc<dyn PaginatedListStore>>,
    prefix: String,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objects {{ store: {}, prefix: {:?} }}", self.store, self.prefix)
    }
}

/// Which state of an object was seen or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    e_tag: Option<String>,
    version: Option<String>,
}

impl Version {
    /// Whether it has the tag of another one. Lists tell no versions of objects; answers about one do, where the store keeps
    /// several.
    pub(super) fn has_tag_of(&self, other: &Version) -> bool {
        self.e_tag.is_some() && self.e_tag == other.e_tag
    }
}

/// What an operation has sent and received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// How many requests, tries that were repeated not counted.
    pub requests: u64,
    /// The bytes of the objects that were sent.
    pub sent_bytes: u64,
    /// The bytes of the objects that were received.
    pub received_bytes: u64,
}

/// The requests of one operation, counted.
#[derive(Debug)]
pub(super) struct Call<'a> {
    objects: &'a Objects,
    requests: AtomicU64,
    sent: AtomicU64,
    received: AtomicU64,
}

/// What became of a write that has a condition.
#[derive(Debug)]
pub(super) enum Written {
    Yes(Version),
    /// The object is not as the condition asks.
    No,
    /// The store has no such writes.
    Unsupported,
}

/// An object of a list.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// Its name behind the prefix that was listed.
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) modified: session_core::Timestamp,
    /// Its state; `None` where the list does not tell.
    pub(super) version: Option<Version>,
}

impl Objects {
    pub(super) fn new(store: Arc<dyn ObjectStore>) -> Self {
        Objects { store, pages: None, prefix: String::new() }
    }

    /// Those below a prefix of a store that lists pages.
    pub(super) fn paged<S: ObjectStore + PaginatedListStore>(store: S, prefix: &str) -> Self {
        let store = Arc::new(store);
        let pages: Arc<dyn PaginatedListStore> = Arc::<S>::clone(&store);
        Objects { store, pages: Some(pages), prefix: prefix.trim_matches('/').to_owned() }
    }

    pub(super) fn call(&self) -> Call<'_> {
        Call { objects: self, requests: AtomicU64::new(0), sent: AtomicU64::new(0), received: AtomicU64::new(0) }
    }

    fn path(&self, key: &str) -> Path {
        let whole = if self.prefix.is_empty() { key.to_owned() } else { format!("{}/{key}", self.prefix) };
        // The letters of our names need no other spelling; those of the prefix are what a person gave.
        Path::parse(&whole).unwrap_or_else(|_| Path::from(whole))
    }
}

impl Call<'_> {
    pub(super) fn traffic(&self) -> Traffic {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic { requests: of(&self.requests), sent_bytes: of(&self.sent), received_bytes: of(&self.received) }
    }

    fn count(&self, sent: u64) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.sent.fetch_add(sent, Ordering::Relaxed);
    }

    /// An object of at most `limit` bytes; `None` where it is not there.
    pub(super) async fn get(&self, key: &str, limit: u64) -> RemoteResult<Option<(Vec<u8>, Version)>> {
        self.count(0);
        let path = self.objects.path(key);
        let got = match self.objects.store.get(&path).await {
            Ok(got) => got,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(refused("read", key, &error)),
        };
        if got.meta.size > limit {
            let what = format!("it has {} bytes, at most {limit} were expected", got.meta.size);
            return Err(RemoteError::Corrupt { object: key.to_owned(), what });
        }
        let version = Version { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
        let bytes = got.bytes().await.map_err(|error| refused("read", key, &error))?;
        self.received.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(Some((bytes.into(), version)))
    }

    /// How long an object is; `None` where it is not there.
    pub(super) async fn length(&self, key: &str) -> RemoteResult<Option<u64>> {
        self.count(0);
        match self.objects.store.head(&self.objects.path(key)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(refused("look at", key, &error)),
        }
    }

    /// Writes an object that is the same whoever writes it, or that may be replaced.
    pub(super) async fn put(&self, key: &str, bytes: Vec<u8>) -> RemoteResult<Version> {
        self.send(key, bytes, PutMode::Overwrite).await.map_err(|error| refused("write", key, &error))
    }

    /// Writes an object that must not be there yet.
    pub(super) async fn create(&self, key: &str, bytes: Vec<u8>) -> RemoteResult<Written> {
        self.put_if(key, bytes, PutMode::Create).await
    }

    /// Replaces an object that must be in this state.
    pub(super) async fn update(&self, key: &str, bytes: Vec<u8>, from: &Version) -> RemoteResult<Written> {
        let from = UpdateVersion { e_tag: from.e_tag.clone(), version: from.version.clone() };
        self.put_if(key, bytes, PutMode::Update(from)).await
    }

    async fn send(&self, key: &str, bytes: Vec<u8>, mode: PutMode) -> object_store::Result<Version> {
        self.count(bytes.len() as u64);
        let (path, payload) = (self.objects.path(key), PutPayload::from(bytes));
        let put = self.objects.store.put_opts(&path, payload, PutOptions::from(mode)).await?;
        Ok(Version { e_tag: put.e_tag, version: put.version })
    }

    async fn put_if(&self, key: &str, bytes: Vec<u8>, mode: PutMode) -> RemoteResult<Written> {
        match self.send(key, bytes, mode).await {
            Ok(version) => Ok(Written::Yes(version)),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. }) => {
                Ok(Written::No)
            }
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => Ok(Written::Unsupported),
            Err(error) => Err(refused("write", key, &error)),
        }
    }

    /// Removes an object, if it is there.
    pub(super) async fn delete(&self, key: &str) -> RemoteResult<()> {
        self.count(0);
        match self.objects.store.delete(&self.objects.path(key)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(refused("remove", key, &error)),
        }
    }

    /// The objects in a directory whose names begin so, in the order of their names.
    pub(super) async fn list(&self, dir: &str, begins: &str) -> RemoteResult<Vec<Listed>> {
        let at = self.objects.path(dir);
        let failed = |error: Error| refused("list", dir, &error);
        let listed: Vec<ObjectMeta> = match &self.objects.pages {
            Some(pages) => self.pages(&**pages, &format!("{at}/{begins}"), None).await.map_err(failed)?.0,
            None => {
                let listed: Vec<_> = self.objects.store.list(Some(&at)).try_collect().await.map_err(failed)?;
                self.requests.fetch_add(1 + listed.len() as u64 / PAGE, Ordering::Relaxed);
                listed
            }
        };
        let behind = format!("{at}/");
        let listed = listed.into_iter().filter_map(|meta| {
            let file = meta.location.as_ref().strip_prefix(&behind)?;
            let version = Version { e_tag: meta.e_tag, version: meta.version };
            file.starts_with(begins).then(|| Listed {
                file: file.to_owned(),
                bytes: meta.size,
                modified: meta.last_modified.fixed_offset(),
                version: version.e_tag.is_some().then_some(version),
            })
        });
        let mut listed: Vec<Listed> = listed.collect();
        listed.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(listed)
    }

    /// The names of the directories in a directory: a request for each thousand of them, whatever is in them.
    pub(super) async fn directories(&self, dir: &str) -> RemoteResult<Vec<String>> {
        let at = self.objects.path(dir);
        let failed = |error: Error| refused("list", dir, &error);
        let directories = match &self.objects.pages {
            Some(pages) => self.pages(&**pages, &format!("{at}/"), Some("/")).await.map_err(failed)?.1,
            None => {
                self.count(0);
                self.objects.store.list_with_delimiter(Some(&at)).await.map_err(failed)?.common_prefixes
            }
        };
        Ok(directories.iter().filter_map(|path| path.filename().map(str::to_owned)).collect())
    }

    async fn pages(
        &self,
        store: &dyn PaginatedListStore,
        begins: &str,
        delimiter: Option<&'static str>,
    ) -> object_store::Result<(Vec<ObjectMeta>, Vec<Path>)> {
        let (mut objects, mut directories, mut page_token) = (Vec::new(), Vec::new(), None);
        loop {
            self.count(0);
            let delimiter = delimiter.map(Into::into);
            let options = PaginatedListOptions { delimiter, page_token, ..PaginatedListOptions::default() };
            let page = store.list_paginated(Some(begins), options).await?;
            objects.extend(page.result.objects);
            directories.extend(page.result.common_prefixes);
            match page.page_token {
                Some(token) => page_token = Some(token),
                None => return Ok((objects, directories)),
            }
        }
    }
}

impl Traffic {
    /// Adds what another operation has sent and received.
    pub fn add(&mut self, other: Traffic) {
        self.requests += other.requests;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
    }
}
