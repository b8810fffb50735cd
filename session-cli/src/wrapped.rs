//! A command that runs under a lock or as a turn: its exit status is ours.

use crate::exit::Exit;
use crate::failure::Failure;
use nix::sys::signal::{SigHandler, Signal, signal};
use session_store::StoreError;
use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Command;

/// Runs a command to its end. Its exit status, or 128 and the signal that killed it; 127 where there is no such
/// command, 126 where it cannot be run.
///
/// A SIGINT or SIGQUIT from the terminal reaches the command too, which decides what it means; this process stays to
/// clean up after it.
pub(crate) fn run(words: &[OsString], environment: &[(&str, OsString)]) -> Result<Exit, Failure> {
    let [program, arguments @ ..] = words else { return Err(Failure::new(Exit::Usage, "there is no command to run")) };
    let stayed = [Signal::SIGINT, Signal::SIGQUIT].map(|it| (it, dispose(it, SigHandler::SigIgn)));
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    // SAFETY: between fork and exec only signal dispositions are set, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            for it in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGXFSZ] {
                signal(it, SigHandler::SigDfl)?;
            }
            Ok(())
        });
    }
    let status = command.status();
    stayed.into_iter().for_each(|(it, before)| {
        dispose(it, before.unwrap_or(SigHandler::SigDfl));
    });
    match status {
        Ok(status) => {
            let code = status.code().or_else(|| status.signal().map(|number| 128 + number)).unwrap_or(255);
            Ok(Exit::Of(u8::try_from(code).unwrap_or(255)))
        }
        Err(error) => {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            let text = format!("cannot run {}: {error}", program.display());
            Err(Failure::new(Exit::Of(if missing { 127 } else { 126 }), text))
        }
    }
}

fn dispose(it: Signal, handler: SigHandler) -> Option<SigHandler> {
    // SAFETY: only ignoring and defaulting, no handler of ours runs.
    unsafe { signal(it, handler) }.ok()
}

/// A lock or turn that failed: busy stays busy, everything else is 125, so that it is not taken for the command's.
pub(crate) fn failure(error: StoreError) -> Failure {
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Busy => failure,
        _ => Failure { exit: Exit::Wrapper, ..failure },
    }
}
