//! A command that runs under a lock or as a turn: its exit status is ours, and it dies with us.

use crate::exit::Exit;
use crate::failure::{Failure, disk_fault};
use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use nix::unistd::{Pid, getpgid, getpgrp, getpid, getppid};
use session_store::StoreError;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};

/// What asks the command to end.
const PASSED_ON: [Signal; 4] = [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP];
/// `si_code` of a signal that the kernel sent: one from the terminal.
const SI_KERNEL: i32 = 0x80;

/// The signals that ask this process to end, held back from now on: they reach the command, and this process stays to
/// clean up after it. One that was ignored before stays ignored.
#[derive(Debug)]
pub(crate) struct Signals {
    fd: SignalFd,
    before: SigSet,
}

/// What became of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Its exit status, or 128 and the signal that killed it; 127 where there is no such command, 126 where it cannot be
    /// run.
    pub(crate) exit: Result<Exit, Failure>,
    /// Whether this process was asked to end meanwhile.
    pub(crate) was_asked: bool,
}

impl Signals {
    /// Holds them back. They stay so until this process ends.
    pub(crate) fn hold() -> Result<Self, Failure> {
        let refused = |errno: Errno| Failure::new(Exit::Wrapper, format!("cannot hold signals back: {errno}"));
        let mut mask: SigSet = PASSED_ON.into_iter().collect();
        mask.add(Signal::SIGCHLD);
        // Where children are ignored the kernel reaps them, and nobody learns how they ended.
        // SAFETY: the default is no handler of ours.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }.map_err(refused)?;
        let before = mask.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK).map_err(refused)?;
        let fd = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC).map_err(refused)?;
        Ok(Signals { fd, before })
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, words: &[OsString], environment: &[(&str, OsString)]) -> Ran {
        let [program, arguments @ ..] = words else {
            let failure = Failure::new(Exit::Usage, "there is no command to run");
            return Ran { exit: Err(failure), was_asked: false };
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
        let (before, parent) = (self.before, getpid());
        // SAFETY: between fork and exec only system calls are made, which is all that is allowed there.
        unsafe { command.pre_exec(move || prepare(&before, parent)) };
        match command.spawn() {
            Ok(child) => self.wait(child),
            Err(error) => {
                let missing = error.kind() == io::ErrorKind::NotFound;
                let text = format!("cannot run {}: {error}", program.display());
                let failure = Failure::new(Exit::Of(if missing { 127 } else { 126 }), text);
                Ran { exit: Err(failure), was_asked: false }
            }
        }
    }

    /// Waits for the command, and passes on what this process is told.
    fn wait(&self, mut child: Child) -> Ran {
        let mut was_asked = false;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ran { exit: Ok(exit_of(status)), was_asked },
                Ok(None) => {}
                Err(error) => {
                    let failure = Failure::new(Exit::Wrapper, format!("cannot wait for the command: {error}"));
                    return Ran { exit: Err(failure), was_asked };
                }
            }
            // It blocks. A signal that has interrupted it comes again.
            if let Ok(Some(news)) = self.fd.read_signal() {
                was_asked |= pass_on(&news, &child);
            }
        }
    }
}

/// Gives the command a process like the one that this program was given, but for its life: it ends with its parent.
fn prepare(before: &SigSet, parent: Pid) -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before the kernel knew whom to tell: then the command must not begin.
    if getppid() != parent {
        return Err(Errno::ESRCH.into());
    }
    before.thread_set_mask()?;
    // SAFETY: the default is no handler of ours.
    unsafe { signal(Signal::SIGXFSZ, SigHandler::SigDfl)? };
    Ok(())
}

/// Passes a signal on to the command, unless it has got it by itself. True for one that asks for an end.
fn pass_on(news: &siginfo, child: &Child) -> bool {
    let Some(signal) = PASSED_ON.into_iter().find(|signal| u32::try_from(*signal as i32) == Ok(news.ssi_signo)) else {
        return false;
    };
    let child = Pid::from_raw(i32::try_from(child.id()).expect("the kernel's pids are positive numbers of 31 bits"));
    // The terminal tells the whole foreground group.
    let has_it = news.ssi_code == SI_KERNEL && getpgid(Some(child)) == Ok(getpgrp());
    if !has_it {
        // It is our child and not reaped, so the number is its own. One that has ended needs no signal.
        kill(child, signal).ok();
    }
    true
}

fn exit_of(status: ExitStatus) -> Exit {
    let code = status.code().or_else(|| status.signal().map(|number| 128 + number)).unwrap_or(255);
    Exit::Of(u8::try_from(code).unwrap_or(255))
}

/// A lock or turn that failed: busy stays busy, everything else is 125, so that it is not taken for the command's.
pub(crate) fn failure(error: StoreError) -> Failure {
    let is_of_the_disk = disk_fault(&error).is_some();
    let failure = Failure::from(error);
    match failure.exit {
        Exit::Busy if !is_of_the_disk => failure,
        _ => Failure { exit: Exit::Wrapper, ..failure },
    }
}
