//! Processes that do not outlive their test, and waiting that ends.

use session_proc::Identity;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// A child in a process group of its own. Dropping it kills the group.
pub(crate) struct Job(pub(crate) Child);

impl Job {
    pub(crate) fn shell(script: &str) -> Job {
        Job::run(Command::new("/bin/sh").arg("-c").arg(script))
    }

    /// A process that does nothing for longer than any test takes.
    pub(crate) fn idle() -> Job {
        Job::run(Command::new("sleep").arg("600"))
    }

    pub(crate) fn run(command: &mut Command) -> Job {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        Job(command.spawn().expect("the system has this program"))
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.0.id()).expect("pids are below 2^22")
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity::of(self.pid()).expect("/proc is readable").expect("the child is not reaped")
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(self.pid());
        // The leader is not reaped yet, so the group is still this one; it may be empty.
        nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL).ok();
        drop(self.0.wait());
    }
}

/// Asks until the answer is yes.
pub(crate) fn eventually(what: &str, mut answer: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !answer() {
        assert!(Instant::now() < end, "still waiting: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
