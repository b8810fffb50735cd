//! `session checkpoint undo`

use super::place::{InWorkspace, Place};
use super::restore::{Policy, Work};
use crate::confirm::Consent;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;

/// The flags of `checkpoint undo`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "An undo is a restore: undoing it does the restore again.\n\nExamples:\n  session checkpoint undo @ -n\n  session checkpoint undo oaks -y"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    place: InWorkspace,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let place = Place::to_change(context, &flags.session)?;
    // Whether there is anything to undo comes before which directory it would be undone in.
    place.ours()?.ok_or(session_checkpoint::Error::NothingToUndo)?;
    let options = place.options(context, &flags.place)?;
    Work { context, place: &place, options: &options, policy: &flags.policy, consent: flags.consent }.undo()
}
