//! The session's lock.

use std::fmt;

/// Who holds a lock, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LockHolder {
    /// The process.
    pub pid: Option<i32>,
    /// Its command.
    pub command: Option<String>,
    /// Since when.
    pub since: Option<session_core::Timestamp>,
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        match (&self.command, &self.since) {
            (Some(command), Some(since)) => write!(f, " ({command}, since {})", session_core::format_time(since)),
            (Some(command), None) => write!(f, " ({command})"),
            (None, Some(since)) => write!(f, " (since {})", session_core::format_time(since)),
            (None, None) => Ok(()),
        }
    }
}
