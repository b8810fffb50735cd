//! `session pin`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_store::Options;

/// The flags of `pin`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Pinning counts as using the session. `session unpin` takes the pin away.\n\nExamples:\n  session pin oaks"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let session = opened(context, &flags.session, Options::default())?;
    session.pin()?;
    told(context, "pin", session.name(), true)
}

/// What both verbs print.
pub(super) fn told(context: &Context, verb: &str, session: &str, pinned: bool) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        pinned: bool,
    }
    context.out.answer(verb, &Document { session, pinned }, |_| Ok(()))
}
