//! What one call holds of a store: its lock, and what there is under it.

use crate::cache::Cache;
use crate::checkpoints::Checkpoints;
use crate::layout::Layout;
use crate::lock::StoreLock;
use crate::meta::{Identity, Meta};
use crate::objects::Objects;
use crate::pack::PackSet;
use crate::refs::Refs;
use crate::remembered::{Hot, file_id};
use crate::{Error, stored};
use std::path::PathBuf;

/// A store that is locked for one call, with what the call needs of it.
pub(crate) struct Locked {
    pub(crate) meta: Meta,
    /// Whether `meta` should be written at the next occasion.
    pub(crate) meta_changed: bool,
    pub(crate) packs: PackSet,
    pub(crate) objects: Objects,
    pub(crate) refs: Refs,
    pub(crate) set_aside: Vec<PathBuf>,
    /// `None` for calls that only look.
    pub(crate) _lock: Option<StoreLock>,
}

impl Locked {
    /// After packs came or went: what there is now.
    pub(crate) fn look_again(&mut self, layout: &Layout) -> Result<(), Error> {
        self.packs = PackSet::read(&layout.packs())?;
        self.objects = Objects::open(&layout.objects())?;
        Ok(())
    }
}

impl Checkpoints {
    /// Takes the lock and sees what there is. A cache that does not fit what there is is dropped; packs that changed
    /// under us are checked, and damaged ones set aside.
    pub(crate) fn begin(&mut self) -> Result<Locked, Error> {
        let lock = StoreLock::take(&self.layout, self.options.lock_timeout)?;
        let meta = Meta::read(&self.layout)?.ok_or_else(|| Error::NoStore { path: self.layout.store.clone() })?;
        let mut packs = PackSet::read(&self.layout.packs())?;
        self.warm()?;
        let mut set_aside = Vec::new();
        if self.hot.as_ref().is_none_or(|hot| hot.cache.header().packs != packs.fingerprint) {
            self.hot = None;
            set_aside = self.set_aside_damaged(&packs)?;
            if !set_aside.is_empty() {
                packs = PackSet::read(&self.layout.packs())?;
            }
        }
        let objects = Objects::open(&self.layout.objects())?;
        let refs = Refs::of(&self.layout);
        Ok(Locked { meta, meta_changed: false, packs, objects, refs, set_aside, _lock: Some(lock) })
    }

    /// Sees to it that the cache in memory is the one in the file, if that one is to be believed.
    pub(crate) fn warm(&mut self) -> Result<(), Error> {
        let path = self.layout.stat_cache();
        let file = file_id(&path);
        if file.is_some() && self.hot.as_ref().is_some_and(|hot| hot.file == file) {
            return Ok(());
        }
        self.hot = None;
        let Ok(Some(bytes)) = stored::read(&path) else { return Ok(()) };
        // Without a workspace there is nothing that the cache could be of.
        let Ok(identity) = Identity::of(&self.workspace) else { return Ok(()) };
        let rules = self.rules().key();
        self.hot = Cache::parse(bytes)
            .filter(|cache| {
                let header = cache.header();
                (header.dev, header.ino) == (identity.dev, identity.ino)
                    && header.rules == rules
                    && (header.synced || header.boot == crate::clock::boot_id())
            })
            .map(|cache| Hot { cache, file });
        Ok(())
    }

    /// Keeps a cache, in memory and in its file, as one of what stands in `packs`. It is derived: where it cannot be
    /// written the file is another one, and is not believed.
    pub(crate) fn remember(&mut self, cache: Cache, packs: u64) {
        let cache = cache.with_packs(packs);
        let path = self.layout.stat_cache();
        let written = session_disk::replace(&path, cache.bytes(), session_disk::Durability::Os);
        self.hot = Some(Hot { cache, file: written.ok().and_then(|()| file_id(&path)) });
    }

    /// Keeps no cache any more, because objects are about to go that it may name.
    pub(crate) fn forget(&mut self) -> Result<(), Error> {
        self.hot = None;
        session_disk::remove_file_if_there(&self.layout.stat_cache())?;
        Ok(())
    }

    fn set_aside_damaged(&self, packs: &PackSet) -> Result<Vec<PathBuf>, Error> {
        let mut moved = Vec::new();
        for pack in packs.packs.iter().filter(|pack| pack.check().is_err()) {
            let dir = self.layout.damaged();
            session_disk::create_dir_all(&dir)?;
            for (path, ending) in [(pack.index_path(), "idx"), (pack.pack_path(), "pack")] {
                let to = dir.join(format!("{}.{ending}", pack.name));
                if path.exists() {
                    session_disk::rename(&path, &to)?;
                    moved.push(to);
                }
            }
        }
        Ok(moved)
    }
}
