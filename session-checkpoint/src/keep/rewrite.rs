//! Replacing packs and loose objects by one new pack, entry by entry, without unpacking.

use crate::cancel::Cancel;
use crate::checkpoints::Checkpoints;
use crate::locked::Locked;
use crate::objects::Objects;
use crate::pack::{Compression, Copies, EntryKind, PackState, PackWriter, RawPack};
use crate::{Error, Oid, loose};
use session_disk::Durability;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// What a rewrite takes, and what of it is kept.
pub(super) struct Rewrite<'a> {
    /// The packs to replace, by name.
    pub(super) packs: HashSet<String>,
    /// How many loose objects are taken into the pack at most.
    pub(super) loose: usize,
    /// Only these objects are kept; all where it is `None`.
    pub(super) keep: Option<&'a HashSet<Oid>>,
    /// Whether each object is compressed anew.
    pub(super) compress: bool,
}

impl Rewrite<'_> {
    fn wants(&self, oid: Oid) -> bool {
        self.keep.is_none_or(|keep| keep.contains(&oid))
    }
}

/// What a rewrite did.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    pub(super) packs: u64,
    pub(super) loose: u64,
}

impl Checkpoints {
    /// Writes what is kept into a new pack, synced, and only then removes the old ones. A crash leaves both: what
    /// stands twice is harmless, and the next rewrite takes it.
    pub(super) fn rewrite(
        &mut self,
        locked: &mut Locked,
        what: &Rewrite<'_>,
        cancel: &Cancel,
    ) -> Result<Rewritten, Error> {
        let writer = PackWriter::new(&self.layout.packs(), self.options.max_pack_bytes, Durability::Data);
        let (old, kept): (Vec<&PackState>, Vec<&PackState>) =
            locked.packs.packs.iter().partition(|pack| what.packs.contains(&pack.name));
        let mut kept = Copies::of(kept);
        let mut done = HashSet::new();
        let mut replaced = Vec::new();
        for pack in old {
            // A pack that cannot be copied whole stays: half of it may be somebody's only hope.
            if copy(&writer, &locked.objects, pack, &mut kept, what, &mut done, cancel)? {
                replaced.push((pack.index_path(), pack.pack_path(), pack.name.clone()));
            }
        }
        let loose = self.copy_loose(&writer, &locked.objects, what, &mut done)?;
        let made: HashSet<String> = writer.finish()?.into_iter().map(|pack| pack.name).collect();
        let mut rewritten = Rewritten::default();
        self.forget_derived()?;
        for (index, pack, name) in replaced.into_iter().filter(|(_, _, name)| !made.contains(name)) {
            // The index first: a pack without one is not looked into, an index without a pack is an error.
            session_disk::remove_file(&index)?;
            session_disk::remove_file(&pack)?;
            for ending in ["rev", "bitmap", "mtimes", "keep"] {
                remove_if_there(&pack.with_extension(ending))?;
            }
            if locked.meta.stored_packs.remove(&name) && !what.compress {
                locked.meta.stored_packs.extend(made.iter().cloned());
            }
            rewritten.packs += 1;
        }
        for path in loose {
            session_disk::remove_file(&path)?;
            rewritten.loose += 1;
        }
        locked.meta.write(&self.layout)?;
        self.packs_changed(locked)?;
        Ok(rewritten)
    }

    /// What stock git may have derived from the packs and commits that are about to go.
    pub(super) fn forget_derived(&self) -> Result<(), Error> {
        let info = self.layout.objects().join("info");
        remove_if_there(&info.join("commit-graph"))?;
        remove_if_there(&self.layout.packs().join("multi-pack-index"))?;
        let graphs = info.join("commit-graphs");
        if graphs.exists() {
            session_disk::remove_dir_all(&graphs)?;
        }
        Ok(())
    }

    fn copy_loose(
        &self,
        writer: &PackWriter,
        objects: &Objects,
        what: &Rewrite<'_>,
        done: &mut HashSet<Oid>,
    ) -> Result<Vec<PathBuf>, Error> {
        let mut replaced = Vec::new();
        if what.loose == 0 {
            return Ok(replaced);
        }
        for (oid, path) in loose::list(&self.layout)?.into_iter().take(what.loose) {
            if what.wants(oid) && !done.contains(&oid) {
                // A damaged one stays where it is, to be found by `verify`.
                let Ok((kind, content)) = objects.read(oid) else { continue };
                done.insert(oid);
                writer.add(kind, oid, &content, Compression::Fast)?;
            }
            replaced.push(path);
        }
        Ok(replaced)
    }

    /// After packs came or went: the objects are opened anew, and the cache is told that what it names is still there. Who
    /// drops objects sees to it before that there is no cache that names one of them.
    fn packs_changed(&mut self, locked: &mut Locked) -> Result<(), Error> {
        locked.look_again(&self.layout)?;
        if let Some(hot) = self.hot.take() {
            self.remember(hot.cache, locked.packs.fingerprint);
        }
        Ok(())
    }
}

/// Copies what is wanted of one pack; whether all of it could be.
fn copy(
    writer: &PackWriter,
    objects: &Objects,
    pack: &PackState,
    kept: &mut Copies<'_>,
    what: &Rewrite<'_>,
    done: &mut HashSet<Oid>,
    cancel: &Cancel,
) -> Result<bool, Error> {
    let Some(index) = pack.index() else { return Ok(false) };
    let raw = RawPack::open(&pack.pack_path(), index)?;
    let mut whole = true;
    let mut buffer = Vec::new();
    for n in 0..raw.len() {
        cancel.check()?;
        let oid = raw.oid(n);
        // A copy elsewhere counts only if it is good: this one may have been stored because that one was found damaged.
        if !what.wants(oid) || done.contains(&oid) || kept.has(oid) {
            continue;
        }
        match raw.read(n, &mut buffer)? {
            Some(EntryKind::Whole(_)) if !what.compress => writer.add_raw(oid, &buffer)?,
            Some(_) => match objects.read(oid) {
                Ok((kind, content)) => writer.add(kind, oid, &content, Compression::Fast)?,
                Err(_) => {
                    whole = false;
                    continue;
                }
            },
            None => {
                whole = false;
                continue;
            }
        }
        done.insert(oid);
    }
    Ok(whole)
}

fn remove_if_there(path: &Path) -> Result<(), Error> {
    match session_disk::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
