//! A second store that shares the objects of the first.
//!
//! Packs never change, so they are shared by hard links: no copy, no counting of users, and the file system frees the
//! bytes with the last link. Across file systems they are copied.

use crate::error::reading;
use crate::layout::Layout;
use crate::lock::StoreLock;
use crate::meta::Meta;
use crate::refs::{Family, HEAD, Refs};
use crate::turns::{read_recorded, rewrite};
use crate::{Error, init, loose};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a fork got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Forked {
    /// The newest turn that it inherited; 0 where there was none.
    pub turn: u32,
    /// Turns that it inherited.
    pub turns: u64,
    /// Files shared by a second link.
    pub linked: u64,
    /// Files that had to be copied.
    pub copied: u64,
}

/// Makes a store for a forked session: the turns up to `at` (all where it is `None`), under their numbers. The last one
/// is protected from being dropped. Both stores can be deleted without harm to the other.
///
/// On disk when it returns: the store `to`, whole. It counts as a store only once it is.
///
/// # Errors
/// [`Error::NoStore`] where `from` is none; [`Error::NoTurn`] where it has no turn `at`; an error of kind
/// `AlreadyExists` where `to` is one already; [`Error::Busy`] and failed operations.
pub fn fork(from: &Path, to: &Path, at: Option<u32>, lock_timeout: Duration) -> Result<Forked, Error> {
    let (from, to) = (Layout::new(from), Layout::new(to));
    let meta = Meta::read(&from)?.ok_or_else(|| Error::NoStore { path: from.store.clone() })?;
    if to.meta().exists() {
        return Err(reading(&to.store)(io::ErrorKind::AlreadyExists.into()));
    }
    let _lock = StoreLock::take(&from, lock_timeout)?;
    let mut turns = Refs::of(&from).list(Family::Turn)?;
    if let Some(at) = at {
        if !turns.contains_key(&at) {
            return Err(Error::NoTurn { turn: format!("turn-{at}") });
        }
        turns.split_off(&(at + 1));
    }
    session_disk::create_dir_all(&to.store)?;
    init::repository(&to)?;
    let mut forked = Forked { turn: 0, turns: 0, linked: 0, copied: 0 };
    share_objects(&from, &to, &mut forked)?;
    let mut refs = BTreeMap::new();
    for (n, oid) in turns.iter().filter_map(|(n, oid)| Some((*n, (*oid)?))) {
        refs.insert(Family::Turn.name(n), oid);
        refs.insert(HEAD.to_owned(), oid);
        forked.turn = n;
        forked.turns += 1;
    }
    if !refs.is_empty() {
        Refs::of(&to).fill(&refs)?;
    }
    let mut recorded: Vec<_> =
        read_recorded(&from)?.into_values().filter(|turn| turns.contains_key(&turn.turn)).collect();
    recorded.sort_by_key(|turn| turn.turn);
    rewrite(&to, &recorded)?;
    share(&from.stat_cache(), &to.stat_cache(), &mut forked)?;
    Meta {
        pinned: meta.pinned.iter().copied().filter(|n| turns.contains_key(n)).collect(),
        fork_base: (forked.turn > 0).then_some(forked.turn),
        last_turn: forked.turn,
        // The restores that it inherited name the guards of its parent: none of its own may have their numbers.
        last_safety: Refs::of(&from).last(Family::Safety)?.max(meta.last_safety),
        failure: None,
        ..meta
    }
    .write(&to)?;
    Ok(forked)
}

fn share_objects(from: &Layout, to: &Layout, forked: &mut Forked) -> Result<(), Error> {
    let mut files: Vec<PathBuf> = crate::listing::names(&from.packs())?
        .into_iter()
        .filter(|name| name.starts_with("pack-"))
        .map(|name| from.packs().join(name))
        .collect();
    files.extend(loose::list(from)?.into_iter().map(|(_, path)| path));
    files.push(from.shallow());
    for file in files {
        let rel = file.strip_prefix(&from.repo).expect("it was listed below the repository");
        let new = to.repo.join(rel);
        session_disk::create_dir_all(new.parent().expect("an object has a directory"))?;
        share(&file, &new, forked)?;
    }
    session_disk::sync_dir(&to.packs())?;
    Ok(())
}

/// Links a file, or copies it where it cannot be linked. One that does not exist is not shared.
fn share(from: &Path, to: &Path, forked: &mut Forked) -> Result<(), Error> {
    match session_disk::hard_link(from, to) {
        Ok(()) => forked.linked += 1,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(_) => {
            let bytes = fs::read(from).map_err(reading(from))?;
            session_disk::replace(to, &bytes, session_disk::Durability::Data)?;
            forked.copied += 1;
        }
    }
    Ok(())
}
