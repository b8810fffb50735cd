//! `session turn`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{span, target, wrapped};
use chrono::Utc;
use session_core::RUN_ID_VAR;
use session_store::{Options, Wait};
use std::ffi::OsString;
use std::time::Duration;

/// The flags of `turn`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The session is locked and marked as having a live turn while CMD runs. CMD finds the session's name, directory \
and run id in KVIT_SESSION, KVIT_SESSION_DIR and KVIT_RUN_ID. The exit status is CMD's; 125 when the turn itself failed, 5 when another \
turn is live.\n\nExamples:\n  session turn @ -- ./agent --prompt 'plant three oaks'"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// How long to wait for a turn that is live [default: not at all]
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    wait: Option<Duration>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let options = Options { wait: flags.wait.map_or(Wait::No, Wait::UpTo), ..Options::default() };
    let session = opened(context, &flags.session, options)?;
    let lock = session.lock().map_err(wrapped::failure)?;
    let id = format!("{}-{}", Utc::now().format("%Y%m%dT%H%M%S%3fZ"), std::process::id());
    let turn = session.begin_turn(&lock, &id).map_err(wrapped::failure)?;
    let dir = session.dir().as_os_str().to_owned();
    let run_id = session_core::run_id(session.name());
    let environment =
        [("KVIT_SESSION", session.name().into()), ("KVIT_SESSION_DIR", dir), (RUN_ID_VAR, OsString::from(run_id))];
    let exit = wrapped::run(&flags.command, &environment);
    let outcome = match &exit {
        Ok(Exit::Of(0)) => "done",
        _ => "failed",
    };
    turn.end(outcome, None).map_err(wrapped::failure)?;
    lock.release().map_err(wrapped::failure)?;
    exit
}
