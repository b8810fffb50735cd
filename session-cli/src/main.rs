//! `session`: the command line of the session store.
//!
//! It is thin: a verb parses its flags, makes a few calls of the libraries, and prints. What is decided here is only
//! how things look, which exit status says what, and what advice goes with an error.

mod cli;
mod commands;
mod confirm;
mod context;
mod exit;
mod failure;
mod follow;
mod global;
mod input;
mod interrupt;
mod kin;
mod output;
mod page;
mod progress;
mod shell;
mod span;
mod supervisor;
mod tally;
mod target;
mod view;
mod wrapped;

use clap::{CommandFactory as _, Parser as _};
use cli::Cli;
use context::Context;
use exit::Exit;
use failure::Failure;
use std::panic;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(exit) = supervisor::serve() {
        return ExitCode::from(exit.code());
    }
    clap_complete::CompleteEnv::with_factory(Cli::command).complete();
    ignore_file_size_signal();
    let exit = panic::catch_unwind(run).unwrap_or_else(|_| {
        output::say("hint: this is a bug; please report it with the lines above");
        Exit::Bug
    });
    ExitCode::from(exit.code())
}

fn run() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and the version are no errors; a message that cannot be printed leaves nothing to say.
            drop(error.print());
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    let done = Context::new(&cli.global).and_then(|context| cli.verb.run(&context));
    done.unwrap_or_else(|failure| tell(&failure))
}

fn tell(failure: &Failure) -> Exit {
    if !failure.text.is_empty() {
        output::say(&format!("error: {}", failure.text));
    }
    if let Some(hint) = &failure.hint {
        output::say(&format!("hint: {hint}"));
    }
    failure.exit
}

/// A write over the limit of the file size is to fail with an error like one on a full disk, not to kill.
fn ignore_file_size_signal() {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: ignoring a signal installs no handler, so that nothing can run in the middle of anything.
    if let Err(error) = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) } {
        output::say(&format!("warning: cannot ignore SIGXFSZ: {error}"));
    }
}
