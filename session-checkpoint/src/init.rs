//! Making a store, and putting right what a crash left.
//!
//! The bare repository is six small files of ours. The git library's own initialisation would read the user's
//! configuration for the name of the first branch and copy templates; nothing here does.

use crate::error::reading;
use crate::layout::Layout;
use crate::listing::names;
use crate::objects::Objects;
use crate::oid::Kind;
use crate::refs::{Family, HEAD, Refs};
use crate::{Error, commit, stored};
use session_disk::Durability;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

const HEAD_FILE: &str = "ref: refs/heads/turns\n";
/// Stock git that is used in the repository by hand must do no harm: no maintenance of its own, no hooks, no signing.
const CONFIG: &str = "[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
\thooksPath = no-hooks
\tautocrlf = false
\tfsmonitor = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[commit]
\tgpgSign = false
[tag]
\tgpgSign = false
";

/// Makes what is missing and mends what is empty. The caller holds the lock.
pub(crate) fn repository(layout: &Layout) -> Result<(), Error> {
    for dir in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "refs/checkpoint/safety"] {
        session_disk::create_dir_all(&layout.repo.join(dir))?;
    }
    let head = layout.repo.join("HEAD");
    if stored::read(&head).ok().flatten().as_deref() != Some(HEAD_FILE.as_bytes()) {
        session_disk::replace(&head, HEAD_FILE.as_bytes(), Durability::Data)?;
    }
    let config = layout.repo.join("config");
    // Whoever changed the configuration by hand meant it; only one that a crash emptied is replaced.
    if fs::metadata(&config).map_or(0, |meta| meta.len()) == 0 {
        session_disk::replace(&config, CONFIG.as_bytes(), Durability::Data)?;
    }
    Ok(())
}

/// Refuses a store of another user: what we would write into it, they could not use.
pub(crate) fn check_owner(store: &Path) -> Result<(), Error> {
    let owner = fs::metadata(store).map_err(reading(store))?.uid();
    let user = nix::unistd::geteuid().as_raw();
    if owner == user { Ok(()) } else { Err(Error::ForeignStore { path: store.to_owned(), owner, user }) }
}

/// Removes temporary files. Writers hold the lock while they have any, and we hold it: their makers are dead.
pub(crate) fn sweep(layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let mut swept = Vec::new();
    let dirs = [
        layout.store.clone(),
        layout.repo.clone(),
        layout.packs(),
        layout.objects(),
        layout.repo.join("refs/heads"),
        layout.repo.join("refs/tags"),
        layout.repo.join("refs/checkpoint/safety"),
        layout.repo.join("refs/checkpoint/imported"),
    ];
    for dir in dirs {
        for name in names(&dir)? {
            let temp = name.starts_with(".tmp-") || name.starts_with("tmp_") || name.ends_with(".lock");
            if temp {
                let path = dir.join(&name);
                session_disk::remove_file(&path)?;
                swept.push(path);
            }
        }
    }
    for dir in loose_dirs(layout)? {
        for name in names(&dir)?.iter().filter(|name| name.starts_with(".tmp-") || name.starts_with("tmp_")) {
            let path = dir.join(name);
            session_disk::remove_file(&path)?;
            swept.push(path);
        }
    }
    swept.extend(lone_indexes(layout)?);
    index_lone_packs(layout)?;
    Ok(swept)
}

/// An index whose pack is not there: a deletion that was cut short.
fn lone_indexes(layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let dir = layout.packs();
    let mut swept = Vec::new();
    for name in names(&dir)? {
        if let Some(stem) = name.strip_suffix(".idx")
            && !dir.join(format!("{stem}.pack")).exists()
        {
            session_disk::remove_file(&dir.join(&name))?;
            swept.push(dir.join(name));
        }
    }
    Ok(swept)
}

/// Makes the index of a pack that has none: the index was lost, or the removal of both was cut short between them. In
/// the second case the next housekeeping finds nothing in it that is needed.
fn index_lone_packs(layout: &Layout) -> Result<(), Error> {
    let dir = layout.packs();
    for name in names(&dir)? {
        let Some(stem) = name.strip_suffix(".pack").filter(|stem| stem.starts_with("pack-")) else { continue };
        if dir.join(format!("{stem}.idx")).exists() {
            continue;
        }
        let pack = dir.join(&name);
        let scratch = layout.store.join(".index");
        session_disk::create_dir_all(&scratch)?;
        let index = scratch.join(format!("{stem}.idx"));
        let made = index_pack(&pack, &scratch).is_ok() && index.exists();
        if made {
            session_disk::rename(&index, &dir.join(format!("{stem}.idx")))?;
        } else {
            // It is damaged, or not named after its content: kept, but not for a pack.
            session_disk::create_dir_all(&layout.damaged())?;
            session_disk::rename(&pack, &layout.damaged().join(&name))?;
        }
        session_disk::remove_dir_all(&scratch)?;
    }
    Ok(())
}

fn index_pack(pack: &Path, into: &Path) -> io::Result<()> {
    let failed = |error: git2::Error| crate::objects::git_error(&error);
    // Without a look at what the objects lead to: most of that is in other packs.
    let mut indexer = git2::Indexer::new(None, into, 0o600, false).map_err(failed)?;
    io::copy(&mut fs::File::open(pack)?, &mut indexer)?;
    indexer.commit().map(drop).map_err(failed)
}

/// The directories of loose objects that exist.
pub(crate) fn loose_dirs(layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let objects = layout.objects();
    let two_digits = |name: &String| name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(names(&objects)?.into_iter().filter(two_digits).map(|name| objects.join(name)).collect())
}

/// Points the head at the newest turn that can be read, where a crash came between the turn and the head, or where the
/// head itself was lost.
pub(crate) fn mend_head(refs: &Refs, objects: &Objects) -> Result<(), Error> {
    let head = refs.get(HEAD)?.flatten();
    for (_, target) in refs.list(Family::Turn)?.into_iter().rev() {
        let Some(oid) = target else { continue };
        if head == Some(oid) {
            return Ok(());
        }
        if objects.read_kind(oid, Kind::Commit).is_ok_and(|bytes| commit::decode(&bytes).is_some()) {
            return refs.set(HEAD, oid, Durability::Data);
        }
    }
    Ok(())
}
