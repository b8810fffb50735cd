//! `session steer`

mod pending;
mod send;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{span, target};
use std::ffi::OsString;
use std::time::Duration;

/// The flags of `steer`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The message waits in the session's inbox until the turn takes it. The answer is one of: queued, claimed (the turn \
has it and not yet recorded it), delivered (the history has it), expired, failed, gone (cancelled, or taken by a program that records \
nothing).\n\nWithout --wait the exit status is 0 once the message is queued. With it: 0 delivered, 1 not, 124 not yet.\n\n\
Examples:\n  session steer 'use tabs'\n  git diff | session steer -s oaks --wait=30s -\n  session steer -s oaks --queue 'then water them'\n  \
session steer --list"
)]
pub(crate) struct Flags {
    /// The message; - reads it from standard input
    #[arg(required_unless_present_any = ["list", "cancel"], conflicts_with_all = ["list", "cancel"])]
    text: Option<String>,
    /// The session [default: the one that has a live turn]
    #[arg(short, long, add = target::completer())]
    session: Option<String>,
    /// Wait until the history has the message, or the turn ends without it; at most so long
    #[arg(long, value_name = "DUR", value_parser = span::duration, num_args = 0..=1, require_equals = true)]
    #[arg(conflicts_with_all = ["list", "cancel"])]
    wait: Option<Option<Duration>>,
    /// Leave the message for the next turn where none is live
    #[arg(long, conflicts_with_all = ["list", "cancel"])]
    queue: bool,
    /// Only for this turn: refused where another one is live, expired when it ends
    #[arg(long, value_name = "ID", conflicts_with_all = ["queue", "list", "cancel"])]
    expect_turn: Option<String>,
    /// Not later than so long from now
    #[arg(long, value_name = "DUR", value_parser = span::duration, conflicts_with_all = ["list", "cancel"])]
    ttl: Option<Duration>,
    /// List the messages that wait, of one session or of all
    #[arg(long, conflicts_with = "cancel")]
    list: bool,
    /// Take back a message that nobody has taken
    #[arg(long, value_name = "ID")]
    cancel: Option<OsString>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    match (&flags.cancel, &flags.text) {
        (Some(id), _) => pending::cancel(context, flags.session.as_deref(), id),
        (None, Some(text)) => send::run(flags, context, text),
        (None, None) => pending::list(context, flags.session.as_deref()),
    }
}
