//! Sleeping until a file changes or a process ends.

use crate::{Identity, ProcError, signal};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Some file systems do not tell of changes, and nobody tells of the end of another user's process. Then this is how
/// often somebody looks.
const UNTOLD: Duration = Duration::from_secs(1);
/// However often something changes, it is not looked at more often.
const PAUSE: Duration = Duration::from_millis(20);

/// What happens to the entries of a directory, and to itself.
const ENTRIES: AddWatchFlags = AddWatchFlags::IN_CREATE
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVE)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF)
    .union(AddWatchFlags::IN_ONLYDIR);
/// What happens to the bytes of a file, and to itself. Its removal is a change of its attributes while it is open.
const CONTENT: AddWatchFlags = AddWatchFlags::IN_MODIFY
    .union(AddWatchFlags::IN_ATTRIB)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF);

/// Wakes when something may have happened to what it was told to watch.
///
/// The kernel tells (`inotify`, `pidfd`); where it cannot, this wakes once a second. It says only that it is time to look
/// again: whoever waits looks, waits, and looks again, and misses nothing that happens between the two.
///
/// ```
/// use session_proc::Wake;
/// use std::time::Duration;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let mut wake = Wake::new();
/// wake.on_entries(dir.path());
/// std::fs::write(dir.path().join("news"), "")?;
/// while !dir.path().join("news").exists() {
///     wake.wait(Some(Duration::from_secs(60)))?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Wake {
    /// `None` where the kernel has no more instances to give.
    told: Option<Inotify>,
    process: Option<Process>,
    last: Option<Instant>,
}

#[derive(Debug)]
struct Process {
    identity: Identity,
    /// `None` once it has ended, and where the kernel does not tell.
    held: Option<OwnedFd>,
}

impl Default for Wake {
    fn default() -> Self {
        Wake::new()
    }
}

impl Wake {
    /// Watches nothing yet.
    pub fn new() -> Self {
        let told = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok();
        Wake { told, process: None, last: None }
    }

    /// Watches which entries a directory has. Saying so again costs little, and finds the directory that has the path now.
    /// One that is not there is not watched.
    pub fn on_entries(&mut self, dir: &Path) {
        self.add(dir, ENTRIES);
    }

    /// Watches the bytes of a file, as [`Wake::on_entries`] watches a directory.
    pub fn on_content(&mut self, file: &Path) {
        self.add(file, CONTENT);
    }

    fn add(&mut self, path: &Path, flags: AddWatchFlags) {
        if let Some(told) = &self.told {
            // What the kernel does not tell is seen by looking.
            told.add_watch(path, flags).ok();
        }
    }

    /// Watches the end of one process, instead of the one before.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn on_end_of(&mut self, process: &Identity) -> Result<(), ProcError> {
        if self.process.as_ref().is_none_or(|known| known.identity != *process) {
            self.process = Some(Process { identity: process.clone(), held: signal::watch(process)? });
        }
        Ok(())
    }

    /// Sleeps until something has happened, or may have: at most for the time given, and for a second. No news is
    /// missed between two calls.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn wait(&mut self, at_most: Option<Duration>) -> Result<(), ProcError> {
        let sleep = at_most.map_or(UNTOLD, |at_most| at_most.min(UNTOLD));
        if let Some(last) = self.last {
            thread::sleep(PAUSE.saturating_sub(last.elapsed()).min(sleep));
        }
        let held = self.process.as_ref().and_then(|process| process.held.as_ref());
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        fds.extend(self.told.as_ref().map(|told| PollFd::new(told.as_fd(), PollFlags::POLLIN)));
        fds.extend(held.map(|held| PollFd::new(held.as_fd(), PollFlags::POLLIN)));
        let timeout = PollTimeout::try_from(sleep).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(ProcError::Wait { source: errno.into() }),
        }
        let is_over = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
        let has_ended = held.is_some() && fds.last().is_some_and(is_over);
        if let Some(process) = &mut self.process
            && has_ended
        {
            // From now on it would wake us all the time.
            process.held = None;
        }
        if let Some(told) = &self.told {
            // What it is about is seen by looking.
            told.read_events().ok();
        }
        self.last = Some(Instant::now());
        Ok(())
    }
}
