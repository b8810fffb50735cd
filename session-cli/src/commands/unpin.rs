//! `session unpin`

use crate::commands::{opened, pin};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use session_store::Options;

/// The flags of `unpin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Unpinning counts as using the session.\n\nExamples:\n  session unpin oaks")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let session = opened(context, &flags.session, Options::default())?;
    session.unpin()?;
    pin::told(context, "unpin", session.name(), false)
}
