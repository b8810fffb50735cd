//! Ctrl-C during work that must be ended and not cut off.

use crate::failure::Failure;
use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use session_checkpoint::Cancel;
use std::io;
use std::sync::OnceLock;

/// The one token of this process: who was stopped once does not go on with something else.
static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// While this lives, a first Ctrl-C stops the work that carries its token, and a second one kills the process, which
/// the work survives as well as any other death.
#[derive(Debug)]
#[must_use = "Ctrl-C kills again as soon as this is dropped"]
pub(crate) struct Watch {
    before: SigAction,
}

/// Starts to watch.
pub(crate) fn watch() -> Result<Watch, Failure> {
    CANCEL.get_or_init(Cancel::new);
    let flags = SaFlags::SA_RESETHAND | SaFlags::SA_RESTART;
    let action = SigAction::new(SigHandler::Handler(stop), flags, SigSet::empty());
    // SAFETY: the handler loads a pointer and stores a flag, which is async-signal-safe.
    let before = unsafe { sigaction(Signal::SIGINT, &action) };
    let before = before.map_err(|error| Failure::input("the handler of SIGINT", &io::Error::from(error)))?;
    Ok(Watch { before })
}

extern "C" fn stop(_: c_int) {
    if let Some(cancel) = CANCEL.get() {
        cancel.cancel();
    }
}

impl Watch {
    /// The token for the work.
    pub(crate) fn cancel(&self) -> Cancel {
        CANCEL.get_or_init(Cancel::new).clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // SAFETY: this puts back what was there before.
        let back = unsafe { sigaction(Signal::SIGINT, &self.before) };
        back.expect("the call that set it was given the same signal, and worked");
    }
}
