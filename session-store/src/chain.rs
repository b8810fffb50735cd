//! Following a session to the one that goes on with it, and back.

use crate::{Result, SessionPaths, Store, StoreError, meta};
use session_core::{Limits, SessionName};
use std::collections::HashSet;

/// How many members a chain of successors may have. Real ones have a handful.
const MAX_MEMBERS: usize = 16;

/// The session that a chain ends at.
pub(crate) struct Member {
    pub(crate) name: SessionName,
    pub(crate) paths: SessionPaths,
    /// What it names as its successor although no such session exists, or none could.
    pub(crate) dangling: Option<String>,
}

/// The last member of the chain that starts at `name`. Nothing is created: a link that leads nowhere, or out of the store,
/// ends the chain before it.
pub(crate) fn last_member(store: &Store, name: &SessionName) -> Result<Member> {
    let mut at = name.clone();
    let mut paths = store.ready(name)?;
    let mut seen = HashSet::from([at.clone()]);
    loop {
        let successor = meta::read(&paths, at.as_str(), store.options().limits)?.meta.succeeded_by;
        if successor.is_empty() {
            return Ok(Member { name: at, paths, dangling: None });
        }
        let Ok(next) = SessionName::new(successor.as_str()) else {
            return Ok(Member { name: at, paths, dangling: Some(successor) });
        };
        if !seen.insert(next.clone()) {
            return Err(StoreError::SuccessorLoop { name: name.clone(), at: next });
        }
        if seen.len() > MAX_MEMBERS {
            return Err(StoreError::ChainTooLong { name: name.clone(), at: next, limit: MAX_MEMBERS });
        }
        match store.ready(&next) {
            Ok(next_paths) => (at, paths) = (next, next_paths),
            Err(StoreError::NotFound { .. } | StoreError::NotADirectory { .. } | StoreError::Escapes { .. }) => {
                return Ok(Member { name: at, paths, dangling: Some(successor) });
            }
            Err(error) => return Err(error),
        }
    }
}

/// The sessions that the one of this name, at `paths`, goes on with, the last one first: each names the next as its
/// successor, and is named by it as its parent. A fork goes on with nobody.
pub(crate) fn predecessors(
    paths: &SessionPaths,
    name: &str,
    limits: Limits,
) -> Result<Vec<(SessionName, SessionPaths)>> {
    let Some(base) = paths.dir().parent() else { return Ok(Vec::new()) };
    let mut found: Vec<(SessionName, SessionPaths)> = Vec::new();
    let mut at = (name.to_owned(), paths.clone());
    while found.len() < MAX_MEMBERS {
        let Ok(parent) = SessionName::new(meta::read(&at.1, &at.0, limits)?.meta.parent) else { break };
        let dir = base.join(&parent);
        if !dir.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            break;
        }
        let paths = SessionPaths::new(dir);
        if meta::read(&paths, parent.as_str(), limits)?.meta.succeeded_by != at.0 {
            break;
        }
        at = (parent.to_string(), paths.clone());
        found.push((parent, paths));
    }
    Ok(found)
}
