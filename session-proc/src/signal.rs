//! Signals: checked first, sent through a pidfd, and refused where they would hit the wrong one.

use crate::identity::own_pid;
use crate::{Identity, Liveness, ProcError, procfs};
use nix::libc;
use nix::sys::signal as unix;
use nix::unistd::{Pid, getsid};
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
use std::fmt;
use std::os::fd::{AsRawFd as _, OwnedFd};

/// Sends to the whole group whose number the process has (Linux 6.9 and later).
const PIDFD_SIGNAL_PROCESS_GROUP: libc::c_uint = 1 << 2;

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal(unix::Signal);

impl Signal {
    /// Asks a process to end.
    pub const TERM: Signal = Signal(unix::Signal::SIGTERM);
    /// Lets a stopped process go on.
    pub(crate) const CONT: Signal = Signal(unix::Signal::SIGCONT);
    /// Ends a process that does not listen.
    pub const KILL: Signal = Signal(unix::Signal::SIGKILL);

    /// Finds a signal by its name, with or without `SIG`, in any case: `TERM`, `sigint`. `None`: there is none.
    pub fn from_name(name: &str) -> Option<Signal> {
        let name = name.to_ascii_uppercase();
        let full = if name.starts_with("SIG") { name } else { format!("SIG{name}") };
        full.parse().ok().map(Signal)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// The name of a signal by its number, as the kernel tells it.
pub(crate) fn name(number: i32) -> String {
    unix::Signal::try_from(number).map_or_else(|_| format!("SIG{number}"), |signal| signal.as_str().to_owned())
}

/// Why a process that should have ended was not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreached {
    /// This user may not signal it.
    NotPermitted,
    /// It is the calling process, one that this descends from, one in its process group or session, or nobody (a pid up
    /// to 1).
    Refused,
    /// Nothing proves that it belongs to the background process.
    Unverified,
    /// It was killed, and has not ended yet: the kernel waits for a device or a disk.
    StillThere,
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unreached::NotPermitted => "this user may not signal it",
            Unreached::Refused => "whoever asks belongs to it",
            Unreached::Unverified => "nothing proves that it belongs to the session",
            Unreached::StillThere => "it was killed and has not ended yet",
        })
    }
}

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Yes,
    /// The process has ended, or its pid is another one's.
    Gone,
    No(Unreached),
}

/// By what a process is known to be a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// By numbers, or by what it descends from: what is of the caller's session may be so by chance, and is refused.
    Number,
    /// It carries a mark that the caller does not carry: it is a target also beside the caller, in one terminal.
    Mark,
}

/// Sends a signal to a process, if that is still the one that is meant.
pub(crate) fn send(target: &Identity, signal: Signal, proof: Proof) -> Result<Sent, ProcError> {
    let Some(stat) = procfs::stat(target.pid)? else { return Ok(Sent::Gone) };
    let is_beside = proof == Proof::Number && is_own(target.pid, stat.session);
    if target.pid <= 1 || is_beside || target.is_or_begot(own_pid())? {
        return Ok(Sent::No(Unreached::Refused));
    }
    let Some(pidfd) = hold(target)? else { return Ok(Sent::Gone) };
    let sent = match &pidfd {
        Held::Descriptor(pidfd) => pidfd_send_signal(pidfd, to_rustix(signal)).map_err(rustix::io::Errno::raw_os_error),
        Held::Number => unix::kill(Pid::from_raw(target.pid), signal.0).map_err(|errno| errno as i32),
    };
    Ok(judge(sent))
}

/// Sends a signal to the group of a leader that is not reaped yet: at once to all that are in it, so that nobody
/// slips through by forking.
pub(crate) fn send_group(leader: &Identity, signal: Signal) -> Result<Sent, ProcError> {
    let Some(stat) = procfs::stat(leader.pid)? else { return Ok(Sent::Gone) };
    if is_own(leader.pid, stat.session) || leader.is_or_begot(own_pid())? {
        return Ok(Sent::No(Unreached::Refused));
    }
    let Some(held) = hold(leader)? else { return Ok(Sent::Gone) };
    let by_number = || unix::killpg(Pid::from_raw(leader.pid), signal.0).map_err(|errno| errno as i32);
    let sent = match &held {
        Held::Descriptor(pidfd) => match signal_group(pidfd, signal) {
            Err(libc::EINVAL) => by_number(),
            sent => sent,
        },
        Held::Number => by_number(),
    };
    Ok(judge(sent))
}

/// Opens a descriptor on a process to be told of its end. `None`: it is not the one that is meant, or the kernel has
/// no such descriptors.
pub(crate) fn watch(target: &Identity) -> Result<Option<OwnedFd>, ProcError> {
    Ok(match hold(target)? {
        Some(Held::Descriptor(pidfd)) => Some(pidfd),
        Some(Held::Number) | None => None,
    })
}

enum Held {
    /// It is this process and stays this process.
    Descriptor(OwnedFd),
    /// The kernel has no pidfds, or does not let us: the pid was right a moment ago.
    Number,
}

/// Takes hold of a process, and then checks that it is the one that is meant.
fn hold(target: &Identity) -> Result<Option<Held>, ProcError> {
    let pid = (target.pid > 1).then(|| rustix::process::Pid::from_raw(target.pid)).flatten();
    let Some(pid) = pid else { return Ok(None) };
    let held = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => Held::Descriptor(pidfd),
        Err(rustix::io::Errno::SRCH) => return Ok(None),
        Err(_) => Held::Number,
    };
    match target.liveness()? {
        Liveness::Live | Liveness::Zombie => Ok(Some(held)),
        Liveness::Gone | Liveness::Reused | Liveness::OtherBoot => Ok(None),
    }
}

fn signal_group(pidfd: &OwnedFd, signal: Signal) -> Result<(), i32> {
    let no_info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: the descriptor is open, and the kernel makes the information itself where there is none.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal.0 as libc::c_int,
            no_info,
            PIDFD_SIGNAL_PROCESS_GROUP,
        )
    };
    if answer == 0 { Ok(()) } else { Err(nix::errno::Errno::last_raw()) }
}

fn judge(sent: Result<(), i32>) -> Sent {
    match sent {
        Ok(()) => Sent::Yes,
        Err(libc::ESRCH) => Sent::Gone,
        Err(_) => Sent::No(Unreached::NotPermitted),
    }
}

/// The calling process, its group and its session are nobody's background process. Process and group lie within the
/// session, which so answers for them.
pub(crate) fn is_own(pid: i32, session: i32) -> bool {
    pid <= 1 || getsid(None).is_ok_and(|own_session| own_session.as_raw() == session)
}

fn to_rustix(signal: Signal) -> rustix::process::Signal {
    rustix::process::Signal::from_named_raw(signal.0 as i32).expect("both crates know the signals of the kernel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names() {
        assert_eq!(Signal::from_name("term"), Some(Signal::TERM));
        assert_eq!(Signal::from_name("SIGKILL"), Some(Signal::KILL));
        assert_eq!((Signal::from_name("oak"), Signal::from_name("")), (None, None));
        assert_eq!((name(9), name(64)), ("SIGKILL".to_owned(), "SIG64".to_owned()));
        for signal in unix::Signal::iterator() {
            assert_eq!(to_rustix(Signal(signal)).as_raw(), signal as i32);
        }
    }

    #[test]
    fn who_is_not_reached_is_told_why() {
        let reasons = [
            (Unreached::NotPermitted, "this user may not signal it"),
            (Unreached::Refused, "whoever asks belongs to it"),
            (Unreached::Unverified, "nothing proves that it belongs to the session"),
            (Unreached::StillThere, "it was killed and has not ended yet"),
        ];
        for (reason, why) in reasons {
            assert_eq!(reason.to_string(), why);
        }
        assert_eq!(
            [Signal::TERM, Signal::CONT, Signal::KILL].map(|signal| signal.to_string()),
            ["SIGTERM", "SIGCONT", "SIGKILL"]
        );
    }

    #[test]
    fn nobody_signals_itself() {
        let own = Identity::own().expect("/proc is readable");
        for proof in [Proof::Number, Proof::Mark] {
            assert_eq!(send(&own, Signal::KILL, proof).expect("/proc is readable"), Sent::No(Unreached::Refused));
        }
        assert_eq!(send_group(&own, Signal::KILL).expect("/proc is readable"), Sent::No(Unreached::Refused));
        let init = Identity::of(1).expect("/proc is readable").expect("somebody is pid 1");
        for proof in [Proof::Number, Proof::Mark] {
            assert_eq!(send(&init, Signal::KILL, proof).expect("/proc is readable"), Sent::No(Unreached::Refused));
        }
    }
}
