//! Reading one session by its name, whatever form it has. Nothing is created, migrated, locked or written.

use crate::candidate::{Candidate, Node, candidate};
use crate::flat::Standing;
use crate::paths::flat_path;
use crate::{HistoryView, Result, SessionPaths, StoreError, meta};
use session_core::{Conversation, Limits, SessionName, reference_show};
use std::path::Path;

/// The history, or the flat file that is shown for it, as it stands now. An empty one where there is neither.
pub(super) fn history(base: &Path, name: &SessionName, limits: Limits) -> Result<HistoryView> {
    match standing(base, name, limits)?.history {
        Some(history) => Ok(history),
        None => HistoryView::open(&SessionPaths::new(base.join(name)), limits),
    }
}

/// The session as the reference shows it, and the conversation that was shown.
pub(super) fn show_reference(base: &Path, name: &SessionName, limits: Limits) -> Result<(String, Conversation)> {
    let conversation = history(base, name, limits)?.load()?;
    let title = title(base, name, limits)?.unwrap_or_default();
    Ok((reference_show(name.as_str(), &title, &conversation.messages), conversation))
}

/// The title. A flat file has none.
pub(super) fn title(base: &Path, name: &SessionName, limits: Limits) -> Result<Option<String>> {
    let Some(paths) = found(base, name)?.paths(base) else { return Ok(None) };
    let title = meta::read(&paths, name.as_str(), limits)?.meta.title;
    Ok(Some(title).filter(|title| !title.is_empty()))
}

fn standing(base: &Path, name: &SessionName, limits: Limits) -> Result<Standing> {
    Standing::of(base, &found(base, name)?, limits)
}

/// What stands under the name, if it is a session.
///
/// # Errors
/// [`StoreError::NotFound`]; [`StoreError::Escapes`] for a link, which may lead anywhere.
fn found(base: &Path, name: &SessionName) -> Result<Candidate> {
    let found = candidate(base, name)?;
    match found {
        Some(Candidate { directory: Some(Node::Link), .. }) => Err(StoreError::Escapes { path: base.join(name) }),
        Some(Candidate { directory: None, flat: Some(Node::Link), .. }) => {
            Err(StoreError::Escapes { path: flat_path(base, name.as_str().as_ref()) })
        }
        Some(found) => Ok(found),
        None => Err(StoreError::NotFound { name: name.to_string(), base: base.to_owned() }),
    }
}
