//! Which sessions are searched, in which order.

use super::SearchOptions;
use crate::candidate::{Candidate, candidate};
use crate::{MetaReading, Result, Store, StoreError, meta, workspace};
use std::path::Path;

/// A session to search.
#[derive(Debug)]
pub(super) struct Target {
    /// As a list names it.
    pub(super) name: String,
    pub(super) candidate: Candidate,
}

/// The sessions, the newest first.
pub(super) fn targets(store: &Store, options: &SearchOptions) -> Result<Vec<Target>> {
    let only = options.only.as_ref().map(|names| {
        let named = names.iter().map(|name| {
            candidate(store.base_dir(), name)?
                .ok_or_else(|| StoreError::NotFound { name: name.to_string(), base: store.base_dir().to_owned() })
        });
        named.collect::<Result<Vec<_>>>()
    });
    let mut ordered = store.in_order(only.transpose()?)?;
    if let Some(since) = options.since {
        // One without a time cannot be read; the search says so.
        ordered.retain(|placed| placed.updated.is_none_or(|updated| updated >= since));
    }
    let targets = ordered.into_iter().map(|placed| Target { name: placed.name, candidate: placed.candidate });
    let is_there = |target: &Target| options.workspace.as_ref().is_none_or(|dir| is_in(store, target, dir));
    Ok(targets.filter(is_there).collect())
}

/// Whether a session works in a directory. One whose metadata cannot be read does not.
fn is_in(store: &Store, target: &Target, dir: &Path) -> bool {
    let Some(paths) = target.candidate.paths(store.base_dir()) else { return false };
    let read = meta::read(&paths, &target.name, store.options().limits);
    read.is_ok_and(|MetaReading { meta, .. }| {
        workspace::works_in(&meta.workspace, workspace::id_of(&meta).as_deref(), dir)
    })
}
