//! What the lock file says about who holds it. It is information; only the kernel knows whether a lock is held.

use crate::flock::Deadline;
use chrono::Utc;
use serde::{Deserialize, Serialize};
use session_core::{Timestamp, format_time, parse_time};
use session_proc::Liveness;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process;
use std::time::Duration;

/// No text of ours or of the reference's comes near this.
const MAX_TEXT_BYTES: usize = 4096;
/// How long a new holder is given to write its text.
const WRITING: Duration = Duration::from_millis(20);

/// Who holds a lock, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LockHolder {
    /// The process.
    pub pid: Option<i32>,
    /// Its command: escape it before it reaches a terminal, as this type's `Display` does.
    pub command: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// Our text, one line of JSON.
#[derive(Serialize, Deserialize)]
struct Text {
    pid: i32,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    since: Option<String>,
}

impl LockHolder {
    /// This process, from now on.
    pub(super) fn this_process(now: Timestamp) -> Self {
        let command = std::env::args_os().next();
        let command = command.as_deref().map(Path::new).and_then(Path::file_name);
        LockHolder {
            pid: i32::try_from(process::id()).ok(),
            command: command.map(|name| name.to_string_lossy().into_owned()),
            since: Some(now),
        }
    }

    /// Who holds the lock at `path`: what its text says, if that process lives; nobody known otherwise. A new holder is
    /// given a moment to write its text.
    pub(super) fn find(path: &Path) -> Self {
        let look = || Ok(File::open(path).ok().and_then(|file| LockHolder::read(&file)).filter(LockHolder::is_live));
        Deadline::after(WRITING).poll(look).ok().flatten().unwrap_or_default()
    }

    /// What an open lock file says: the reference's bare process id, or ours.
    pub(super) fn read(file: &File) -> Option<Self> {
        let mut bytes = [0; MAX_TEXT_BYTES];
        let len = file.read_at(&mut bytes, 0).ok()?;
        let text = std::str::from_utf8(&bytes[..len]).ok()?.trim();
        if let Ok(pid) = text.parse() {
            return Some(LockHolder { pid: Some(pid), ..LockHolder::default() });
        }
        let Text { pid, command, since } = serde_json::from_str(text).ok()?;
        Some(LockHolder { pid: Some(pid), command, since: since.as_deref().and_then(parse_time) })
    }

    pub(super) fn to_text(&self) -> String {
        let since = self.since.as_ref().map(format_time);
        let text = Text { pid: self.pid.unwrap_or_default(), command: self.command.clone(), since };
        let mut line = serde_json::to_string(&text).expect("strings and a number always serialize");
        line.push('\n');
        line
    }

    /// Whether the text is the reference's, which writes nothing but the process id.
    pub(super) fn is_reference(&self) -> bool {
        self.command.is_none() && self.since.is_none()
    }

    /// Whether its process runs. In doubt it does.
    pub(super) fn is_live(&self) -> bool {
        let Some(pid) = self.pid else { return false };
        let since = self.since.map_or_else(Utc::now, |since| since.to_utc());
        Liveness::by_start(pid, since).map_or(true, Liveness::is_live)
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        let command = self.command.as_deref().map(str::escape_debug);
        match (command, &self.since) {
            (Some(command), Some(since)) => write!(f, " ({command}, since {})", format_time(since)),
            (Some(command), None) => write!(f, " ({command})"),
            (None, Some(since)) => write!(f, " (since {})", format_time(since)),
            (None, None) => Ok(()),
        }
    }
}
