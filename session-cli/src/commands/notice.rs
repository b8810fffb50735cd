//! `session notice`

use crate::commands::appended;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use chrono::Utc;
use session_core::Event;

/// The flags of `notice`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session notice @ 'interrupted by the user'")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// What happened to the turn
    text: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    appended(context, "notice", &flags.session, Event::notice(Utc::now().fixed_offset(), flags.text.as_str()))
}
