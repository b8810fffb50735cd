//! Ctrl-C during work that must be ended and not cut off, and while another program has the terminal.

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
    _handling: Handling,
}

/// How Ctrl-C is handled. As it was before again, when this is dropped.
#[derive(Debug)]
#[must_use = "what was there before is put back as soon as this is dropped"]
pub(crate) struct Handling {
    before: SigAction,
}

/// Starts to watch.
pub(crate) fn watch() -> Result<Watch, Failure> {
    CANCEL.get_or_init(Cancel::new);
    let flags = SaFlags::SA_RESETHAND | SaFlags::SA_RESTART;
    let action = SigAction::new(SigHandler::Handler(stop), flags, SigSet::empty());
    // SAFETY: the handler loads a pointer and stores a flag, which is async-signal-safe.
    let handling = unsafe { Handling::by(&action) };
    let handling = handling.map_err(|error| Failure::input("the handler of SIGINT", &io::Error::from(error)))?;
    Ok(Watch { _handling: handling })
}

/// Leaves Ctrl-C to another program, which this one waits for.
pub(crate) fn ignore() -> nix::Result<Handling> {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: ignoring a signal installs no handler, so that nothing can run in the middle of anything.
    unsafe { Handling::by(&action) }
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

impl Handling {
    /// # Safety
    /// As for `sigaction`: a handler may only do what is async-signal-safe.
    unsafe fn by(action: &SigAction) -> nix::Result<Self> {
        // SAFETY: as the caller says.
        let before = unsafe { sigaction(Signal::SIGINT, action) }?;
        Ok(Handling { before })
    }

    /// Handles it in this process as before. For a process between fork and exec: it is one system call.
    pub(crate) fn as_before(before: &SigAction) -> io::Result<()> {
        // SAFETY: this puts back what was there before.
        unsafe { sigaction(Signal::SIGINT, before) }.map(drop)?;
        Ok(())
    }

    /// What was there before.
    pub(crate) fn before(&self) -> SigAction {
        self.before
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        let back = Handling::as_before(&self.before);
        back.expect("the call that set it was given the same signal, and worked");
    }
}
