//! Reading one session by its name, whatever form it has. Nothing is created, migrated, locked or written.

use super::base::{Candidate, Node, candidate};
use crate::flat::{Standing, flat_path};
use crate::{Result, StoreError, meta};
use session_core::{Conversation, LastReport, Limits, SessionName, reference_show};
use std::path::Path;

/// The live conversation. A session without a history has an empty one.
pub(super) fn load(base: &Path, name: &SessionName, limits: Limits) -> Result<Conversation> {
    standing(base, name, limits)?.history.map_or_else(|| Ok(Conversation::default()), |history| history.load())
}

/// The session as the reference shows it, and the conversation that was shown.
pub(super) fn show_reference(base: &Path, name: &SessionName, limits: Limits) -> Result<(String, Conversation)> {
    let conversation = load(base, name, limits)?;
    let title = title(base, name, limits)?.unwrap_or_default();
    Ok((reference_show(name.as_str(), &title, &conversation.messages), conversation))
}

/// The title. A flat file has none.
pub(super) fn title(base: &Path, name: &SessionName, limits: Limits) -> Result<Option<String>> {
    let Some(paths) = found(base, name)?.paths(base) else { return Ok(None) };
    let title = meta::read(&paths, name.as_str(), limits)?.meta.title;
    Ok(Some(title).filter(|title| !title.is_empty()))
}

/// The last report of the conversation, from its end.
pub(super) fn last_report(base: &Path, name: &SessionName, limits: Limits) -> Result<Option<LastReport>> {
    standing(base, name, limits)?.history.map_or(Ok(None), |history| history.last_report())
}

/// The model of the last settings event, from the end.
pub(super) fn last_model(base: &Path, name: &SessionName, limits: Limits) -> Result<Option<String>> {
    standing(base, name, limits)?.history.map_or(Ok(None), |history| history.last_model())
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
