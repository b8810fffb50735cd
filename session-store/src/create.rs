//! Creating a session: built in staging, then renamed to its name, which must be free.

use crate::{Result, SessionPaths, Store, StoreError, name};
use session_core::{Meta, SessionName, TitleSource, layout, normalize_title};
use session_disk::{Durability, create_dir, create_dir_all, remove_dir_all, rename_new, replace, sync_dir};
use std::io;
use std::path::{Path, PathBuf};

/// How many names are tried for a session that nobody named.
const MAX_TRIES: u32 = 64;

/// What a session is created with. Everything may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewSession {
    /// Its name; one is generated where it is left out: the local date and six random letters or digits.
    pub name: Option<SessionName>,
    /// The directory that it works in.
    pub workspace: String,
    /// The model.
    pub model: String,
    /// The title that a person gave it. It is brought into the form of titles.
    pub title: String,
    /// The first prompt.
    pub prompt: String,
    /// The session that it was forked or compacted from.
    pub parent: Option<SessionName>,
}

/// Creates a session and gives its name.
pub(crate) fn create(store: &Store, new: &NewSession) -> Result<SessionName> {
    if let Some(name) = &new.name {
        create_as(store, name, new)?;
        return Ok(name.clone());
    }
    let mut tries = 1;
    loop {
        let name = name::generate(&store.clock().local(), &mut rand::rng());
        match create_as(store, &name, new) {
            Err(StoreError::Exists { .. }) if tries < MAX_TRIES => tries += 1,
            done => return done.map(|()| name),
        }
    }
}

fn create_as(store: &Store, name: &SessionName, new: &NewSession) -> Result<()> {
    let target = store.paths(name)?;
    let exists = || StoreError::Exists { name: name.clone() };
    let is_taken = |path: &Path| path.symlink_metadata().is_ok();
    if is_taken(target.dir()) || is_taken(&store.flat_path(name)) {
        return Err(exists());
    }
    let staged = stage(store)?;
    let built = build(&staged, &meta_of(store, name, new), store.options().durability);
    let placed = built.and_then(|()| {
        rename_new(&staged, target.dir()).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(),
            _ => StoreError::Disk(error),
        })
    });
    if let Err(error) = placed {
        // The first error is the one to tell; what stays in staging is no session and is swept later.
        drop(remove_dir_all(&staged));
        return Err(error);
    }
    match store.options().durability {
        Durability::Os => Ok(()),
        Durability::Data => Ok(sync_dir(store.base_dir())?),
    }
}

/// A new directory in the store's staging area.
fn stage(store: &Store) -> Result<PathBuf> {
    let base = store.base_dir();
    if base.exists() && !base.is_dir() {
        return Err(StoreError::NotADirectory { path: base.to_owned() });
    }
    let staging = base.join(layout::STORE).join(layout::STAGING);
    create_dir_all(&staging)?;
    let staged = staging.join(format!("{:032x}", rand::random::<u128>()));
    create_dir(&staged)?;
    Ok(staged)
}

fn build(dir: &Path, meta: &Meta, durability: Durability) -> Result<()> {
    let paths = SessionPaths::new(dir);
    directories(&paths)?;
    let bytes = meta.to_json();
    replace(&paths.meta_copy(), &bytes, durability)?;
    // The sync of the directory that follows the second replacement is for both, and for the directories.
    Ok(replace(&paths.meta(), &bytes, durability)?)
}

/// Makes the directories that are missing of those that every session has.
pub(crate) fn directories(paths: &SessionPaths) -> Result<()> {
    for dir in [paths.checkpoints(), paths.proc(), paths.inbox(), paths.tmp()] {
        match create_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok(())
}

fn meta_of(store: &Store, name: &SessionName, new: &NewSession) -> Meta {
    let now = Some(store.clock().utc());
    let mut meta = Meta {
        name: name.to_string(),
        created: now,
        updated: now,
        workspace: new.workspace.clone(),
        model: new.model.clone(),
        first_prompt: new.prompt.clone(),
        parent: new.parent.as_ref().map(ToString::to_string).unwrap_or_default(),
        ..Meta::default()
    };
    let title = normalize_title(&new.title);
    if !title.is_empty() {
        crate::meta::fill_title(&mut meta, &title, TitleSource::User);
    }
    meta
}
