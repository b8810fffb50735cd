//! `session turn`

use crate::commands::checkpoint::attach::{Missing, attached, tell_failure};
use crate::commands::opened;
#[cfg(feature = "remote")]
use crate::commands::remote::leased;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wrapped::{self, Signals};
use crate::{span, target};
use chrono::Utc;
use session_checkpoint::Cancel;
use session_core::checkpoint::{ChangesOf, Checkpointer as _};
use session_core::{RUN_ID_VAR, SessionName};
use session_store::{Options, Session, StoreError, Turn, Wait};
use std::ffi::OsString;
use std::time::Duration;

/// The flags of `turn`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The session is locked and marked as having a live turn while CMD runs. CMD finds the session's name, directory \
and run id in KVIT_SESSION, KVIT_SESSION_DIR and KVIT_RUN_ID, and the store in KVIT_CODER_SESSIONS_DIR, where `session` looks for it. When CMD has ended, the background processes that were started meanwhile are \
stopped, unless they are persistent.\n\nSIGINT, SIGQUIT, SIGTERM and SIGHUP reach CMD, which decides what they mean; the cleaning up follows in any \
case. If this program is killed, so is CMD; the next turn stops what it left, and a notice in the history says so. The exit status is CMD's; 125 when the turn itself failed, 5 when another \
turn is live.\n\nExamples:\n  session turn @ -- ./agent --prompt 'plant three oaks'"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// How long to wait for a turn that is live [default: not at all]
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    wait: Option<Duration>,
    /// Take a checkpoint of the workspace before CMD and after it
    #[arg(long)]
    checkpoint: bool,
    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: leased::LeaseFlags,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let options = Options { wait: flags.wait.map_or(Wait::No, Wait::UpTo), ..Options::default() };
    let session = opened(context, &flags.session, options)?;
    let lock = session.lock().map_err(wrapped::failure)?;
    // From here on there is something to clean up.
    let signals = Signals::hold()?;
    #[cfg(feature = "remote")]
    let leased = flags.remote.begin(context, &session, &lock, flags.wait.unwrap_or_default())?;
    let id = format!("{}-{}", Utc::now().format("%Y%m%dT%H%M%S%3fZ"), std::process::id());
    let before = take(flags, context, &session, ChangesOf::Others);
    let turn = session.begin_turn_at(&lock, &id, before).map_err(wrapped::failure)?;
    if turn.repair().is_some() {
        context.out.note("note: the turn before this one crashed; a notice in the history says what was found");
    }
    let ran = signals.run(&flags.command, &environment(context, &session, &turn));
    let outcome = match &ran.exit {
        _ if ran.was_asked => "interrupted",
        Ok(Exit::Of(0)) => "done",
        Ok(_) | Err(_) => "failed",
    };
    let after = take(flags, context, &session, ChangesOf::Session);
    let end = turn.end(outcome, after).map_err(wrapped::failure)?;
    for survivor in end.stopped.iter().flat_map(|stopped| &stopped.survivors) {
        context.out.note(&format!("warning: it could not be stopped: {survivor}"));
    }
    #[cfg(feature = "remote")]
    leased.map_or(Ok(()), |leased| leased.end(&session))?;
    lock.release().map_err(wrapped::failure)?;
    ran.exit
}

/// Takes a checkpoint, if one is wanted. That none could be taken keeps no turn from running, and is told.
fn take(flags: &Flags, context: &Context, session: &Session, changes_of: ChangesOf) -> Option<u64> {
    if !flags.checkpoint {
        return None;
    }
    let name = SessionName::new(session.name()).ok()?;
    // A person who stops the command does not stop the checkpoint of what it has left.
    let own = attached(context, &name, Missing::Make, Cancel::new());
    let taken = own.and_then(|own| {
        let taken = own.map(|mut own| own.take("", changes_of)).transpose();
        taken.map_err(|source| StoreError::Checkpoint { path: session.paths().checkpoints(), source }.into())
    });
    taken.unwrap_or_else(|failure| {
        context.out.note(&format!("warning: no checkpoint was taken: {}", failure.text));
        context.out.diagnostics(tell_failure(context, &name, &failure.text).as_slice());
        None
    })
}

fn environment(context: &Context, session: &Session, turn: &Turn<'_>) -> Vec<(&'static str, OsString)> {
    let run_id = session_core::run_id(session.name());
    let mut environment = vec![
        context.store_variable(),
        ("KVIT_SESSION", session.name().into()),
        ("KVIT_SESSION_DIR", session.dir().as_os_str().to_owned()),
        (RUN_ID_VAR, OsString::from(run_id)),
    ];
    environment.extend(turn.mark());
    environment
}
