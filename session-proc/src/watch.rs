//! Waiting without looking all the time.

use crate::id::Paths;
use crate::pattern::{self, Searched};
use crate::{ProcError, ProcessId, Registry, Status, signal};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

/// Some file systems do not tell of changes, and nobody tells of the end of another user's process. Then this is how
/// often somebody looks.
const UNTOLD: Duration = Duration::from_secs(1);
/// However fast a process writes, it is not looked at more often.
const PAUSE: Duration = Duration::from_millis(20);

/// What to wait for. The end of the process ends every waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// That it ends.
    Exit,
    /// That a line of its output matches.
    Match {
        /// The regular expression.
        pattern: String,
        /// From where on in the output: a cursor, 0 for the beginning. A line that started before it counts from there.
        from: u64,
    },
}

/// How a waiting ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// The process has ended.
    Ended(Status),
    /// A line matched.
    Matched {
        /// The line, cut if it is long.
        line: String,
        /// The process as it was then.
        status: Status,
    },
    /// Neither came in time.
    TimedOut(Status),
}

impl Registry {
    /// Waits until a process ends, a line of its output matches, or the time is over; without a time, for ever.
    ///
    /// The waiting blocks in the kernel. Writes nothing.
    ///
    /// # Errors
    /// [`ProcError::Pattern`] for one that is no regular expression; otherwise as [`Registry::look`].
    pub fn wait(&self, id: &ProcessId, until: &Until, timeout: Option<Duration>) -> Result<Waited, ProcError> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut search = match until {
            Until::Exit => None,
            Until::Match { pattern, from } => {
                Some((pattern::compile(pattern)?, Searched { line_start: *from, has_matched: false }))
            }
        };
        let mut watch = self.watch(id)?;
        loop {
            // In this order: what was written before the end is seen before the end is.
            let status = self.look(id)?;
            if let Some((pattern, searched)) = &mut search {
                let (matches, further) = pattern::search(&self.paths(id), pattern, *searched)?;
                *searched = further;
                if let Some(line) = matches.lines.into_iter().next() {
                    return Ok(Waited::Matched { line, status });
                }
            }
            if status.state.is_final() {
                return Ok(Waited::Ended(status));
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Waited::TimedOut(status));
            }
            watch.follow(&status)?;
            watch.wait(left)?;
        }
    }

    /// Watches a process, for callers that read its output as it comes.
    ///
    /// # Errors
    /// As [`Registry::look`].
    pub fn watch(&self, id: &ProcessId) -> Result<Watch, ProcError> {
        let mut watch = Watch { told: tell(&self.paths(id)), process: None, has_ended: false, last: None };
        watch.follow(&self.look(id)?)?;
        Ok(watch)
    }
}

/// Wakes when something has happened to a process: it wrote, ended, or its record changed.
#[derive(Debug)]
pub struct Watch {
    /// The kernel tells of changes in the log and the records; `None` where it cannot.
    told: Option<Inotify>,
    process: Option<OwnedFd>,
    has_ended: bool,
    last: Option<Instant>,
}

impl Watch {
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
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        fds.extend(self.told.as_ref().map(|told| PollFd::new(told.as_fd(), PollFlags::POLLIN)));
        fds.extend(self.process.as_ref().map(|process| PollFd::new(process.as_fd(), PollFlags::POLLIN)));
        let timeout = PollTimeout::try_from(sleep).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(ProcError::Wait { source: errno.into() }),
        }
        let is_over = |fd: &PollFd<'_>| fd.any().unwrap_or(true);
        if self.process.is_some() && fds.last().is_some_and(is_over) {
            // From now on it would wake us all the time.
            self.process = None;
            self.has_ended = true;
        }
        if let Some(told) = &self.told {
            // What it is about is seen by looking.
            told.read_events().ok();
        }
        self.last = Some(Instant::now());
        Ok(())
    }

    /// Takes hold of the process once it is known who it is.
    fn follow(&mut self, status: &Status) -> Result<(), ProcError> {
        if let (None, false, Some(process)) = (&self.process, self.has_ended, &status.process) {
            self.process = signal::watch(process)?;
        }
        Ok(())
    }
}

fn tell(paths: &Paths) -> Option<Inotify> {
    let told = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
    told.add_watch(&paths.dir, AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CREATE).ok()?;
    // The log is there as soon as the id is; one of the reference's may be created later.
    told.add_watch(&paths.log(), AddWatchFlags::IN_MODIFY).ok();
    Some(told)
}
