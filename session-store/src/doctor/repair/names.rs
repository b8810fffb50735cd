//! What changes the name of a session, or how it stands in the store.

use super::Repair;
use crate::candidate::Candidate;
use crate::doctor::Fix;
use crate::doctor::checks::names::is_free;
use crate::paths::{flat_path, migrated_path};
use crate::processes::refuse_turn;
use crate::{Result, Store, StoreError, lock};
use session_core::SessionName;
use session_disk::rename_new;
use std::ffi::OsStr;

/// Whether a fix is one of these.
pub(super) fn changes_names(fix: &Fix) -> bool {
    matches!(fix, Fix::EndRename { .. } | Fix::Migrate | Fix::Rename { .. })
}

/// Does one of them. `name` is what the session is called, where that is a session's name.
pub(super) fn change(
    store: &Store,
    candidate: &Candidate,
    name: &mut Option<SessionName>,
    fix: &Fix,
    repair: &mut Repair,
) -> Result<()> {
    match (fix, &name) {
        (Fix::EndRename { from }, Some(own)) => {
            store.rename(from, own)?;
            repair.done.push(format!("the renaming from {from} was ended"));
        }
        (Fix::Migrate, Some(own)) => {
            store.ready(own)?;
            let text = "the flat file was migrated".to_owned();
            if !repair.done.contains(&text) {
                repair.done.push(text);
            }
        }
        (Fix::Rename { to }, None) => {
            rename(store, candidate, to)?;
            repair.done.push(format!("{:?} was renamed to {to}", candidate.shown()));
            *name = Some(to.clone());
        }
        _ => {}
    }
    Ok(())
}

/// Gives a directory or flat file whose name is none a name.
fn rename(store: &Store, candidate: &Candidate, to: &SessionName) -> Result<()> {
    let base = store.base_dir();
    if !is_free(base, to) {
        return Err(StoreError::Exists { name: to.clone() });
    }
    if let Some(paths) = candidate.paths(base) {
        let shown = candidate.shown();
        let acquire = || lock::acquire(&paths, &shown, store.options().wait);
        let _lock = lock::unless(|| refuse_turn(&paths, &shown), acquire)?;
        rename_new(paths.dir(), &base.join(to))?;
    }
    let new: &OsStr = to.as_str().as_ref();
    for place in [flat_path, migrated_path] {
        let (from, to) = (place(base, &candidate.name), place(base, new));
        if from.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            rename_new(&from, &to)?;
        }
    }
    Ok(store.options().durability.sync_dir(base)?)
}
