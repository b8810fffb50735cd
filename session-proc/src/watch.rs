//! Waiting for what a background process does, without looking all the time.

use crate::id::Paths;
use crate::pattern::{self, Searched};
use crate::{ProcError, ProcessId, Registry, Status, Wake};
use std::time::{Duration, Instant};

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

impl Until {
    /// That a line of the output, from its beginning on, matches a regular expression. It is read here: who starts a
    /// process to wait for a line of it knows before that it can.
    ///
    /// # Errors
    /// [`ProcError::Pattern`] for one that is no regular expression.
    pub fn matching(pattern: &str) -> Result<Until, ProcError> {
        pattern::compile(pattern)?;
        Ok(Until::Match { pattern: pattern.to_owned(), from: 0 })
    }
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
        let mut watch = Watch { wake: wake(&self.paths(id)) };
        watch.follow(&self.look(id)?)?;
        Ok(watch)
    }
}

/// Wakes when something has happened to a process: it wrote, ended, or its record changed.
#[derive(Debug)]
pub struct Watch {
    wake: Wake,
}

impl Watch {
    /// Sleeps until something has happened, or may have: see [`Wake::wait`].
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn wait(&mut self, at_most: Option<Duration>) -> Result<(), ProcError> {
        self.wake.wait(at_most)
    }

    /// Takes hold of the process once it is known who it is.
    fn follow(&mut self, status: &Status) -> Result<(), ProcError> {
        status.process.as_ref().map_or(Ok(()), |process| self.wake.on_end_of(process))
    }
}

fn wake(paths: &Paths) -> Wake {
    let mut wake = Wake::new();
    wake.on_entries(&paths.dir);
    // The log is there as soon as the id is; one of the reference's may be created later.
    wake.on_content(&paths.log());
    wake
}
