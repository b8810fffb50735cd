//! `session lock`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wrapped::{self, Signals};
use crate::{span, target};
use session_store::{Options, Wait};
use std::ffi::OsString;
use std::time::Duration;

/// The flags of `lock`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A signal that asks this program to end reaches CMD; if this program is killed, so is CMD. `session` \
in it works in the same store, which KVIT_CODER_SESSIONS_DIR names. The exit status is CMD's; 125 when the lock itself failed, 5 when another holds it.\n\n\
Examples:\n  session lock @ --wait 10s -- cp -r \"$(session path @)\" backup"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// How long to wait for a lock that another holds [default: not at all]
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    wait: Option<Duration>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let options = Options { wait: flags.wait.map_or(Wait::No, Wait::UpTo), ..Options::default() };
    let session = opened(context, &flags.session, options)?;
    let guard = session.lock().map_err(wrapped::failure)?;
    let ran = Signals::hold()?.run(&flags.command, &[context.store_variable()]);
    guard.release().map_err(wrapped::failure)?;
    ran.exit
}
