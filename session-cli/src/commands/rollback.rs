//! `session rollback`

use crate::commands::appended;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use chrono::Utc;
use session_core::Event;

/// The flags of `rollback`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  session rollback @ 2    the last two messages are no longer live; they stay in the file"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// How many messages leave the end of the conversation
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    dropped: i64,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    appended(context, "rollback", &flags.session, Event::rollback(Utc::now().fixed_offset(), flags.dropped))
}
