//! The checkpoints of a session for the verbs that work on more than the workspace.

use super::place::{InWorkspace, Place};
use super::record::{Mark, record};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Diagnostic;
use session_checkpoint::{Attached, Cancel};
use session_core::SessionName;

/// Whether a session without checkpoints gets some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Missing {
    /// It does, where it says which directory it works in.
    Make,
    /// It does not.
    Leave,
}

/// A session's checkpoints for the store; `None` where it has none.
pub(in crate::commands) fn attached(
    context: &Context,
    session: &SessionName,
    missing: Missing,
    cancel: Cancel,
) -> Result<Option<Attached>, Failure> {
    let place = Place::named(context, session)?;
    if missing == Missing::Leave && place.ours()?.is_none() {
        return Ok(None);
    }
    let options = place.options(context, &InWorkspace { workspace: None })?;
    let others = place.others(context, &options.workspace)?;
    Ok(Some(Attached::new(options, others, cancel)))
}

/// Tells the history that a turn has no checkpoint, since somebody will ask for it. That it cannot be told either is a
/// diagnostic.
pub(in crate::commands) fn tell_failure(context: &Context, session: &SessionName, why: &str) -> Option<Diagnostic> {
    let place = Place::named(context, session).ok()?;
    record(context, &place, Mark::failed(format!("no checkpoint was taken: {why}")))
}
