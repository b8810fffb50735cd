//! The paths of the files inside a session, and which of the files are the session's wherever it is.
//!
//! Most of what stands in a session's directory is the session. The rest belongs to the machine that it is on: who holds
//! a lock, which process runs the turn, what a cache knows of a workspace. Whoever copies a session elsewhere asks here.

use crate::layout;
use std::fmt;

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 4_096;
/// The longest part of one, as file systems have it.
const MAX_PART_BYTES: usize = 255;

/// The path of a file inside a session, relative to its directory: parts of 1 to 255 bytes of UTF-8 with a `/` between
/// them, none of them `.` or `..`, without `\`, NUL or other control characters, 4,096 bytes at most.
///
/// A value of this type is safe to join to a session's directory as long as no part of the path is a symbolic link.
///
/// ```
/// use session_core::SessionPath;
/// assert!(SessionPath::new("tmp/0001-shell.txt").is_ok());
/// assert!(SessionPath::new("../other/history.jsonl").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionPath(String);

/// A text that is no path inside a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is no path inside a session: {rule}")]
pub struct SessionPathError {
    /// The text.
    pub path: String,
    /// The rule that it breaks.
    pub rule: PathRule,
}

/// The rules of a path inside a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathRule {
    /// It has at most [`MAX_PATH_BYTES`] bytes.
    TooLong,
    /// It does not start with `/`.
    Absolute,
    /// No part of it is empty, or longer than 255 bytes.
    Part,
    /// No part of it is `.` or `..`.
    Dots,
    /// It has no `\`.
    Separator,
    /// It has no NUL and no other control character.
    Control,
    /// It is UTF-8.
    Encoding,
}

impl fmt::Display for PathRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PathRule::TooLong => "it is too long",
            PathRule::Absolute => "it starts at the root",
            PathRule::Part => "a part of it is empty or too long",
            PathRule::Dots => "a part of it leads elsewhere",
            PathRule::Separator => "it has a backslash",
            PathRule::Control => "it has a control character",
            PathRule::Encoding => "it is not UTF-8",
        })
    }
}

/// Whose a file in a session's directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belongs {
    /// The session's, byte for byte.
    Session,
    /// The session's, but for what it says of a process that runs on this machine: a record of a background process, or
    /// what else is known of one.
    Process,
    /// The session's, but for the process in its name: a message of the inbox that a process has taken.
    Claim,
    /// That of this machine and of what runs on it, or a cache. A copy of the session goes without it.
    Machine,
}

impl SessionPath {
    /// Checks a path.
    ///
    /// # Errors
    /// The rule that the path breaks.
    pub fn new(path: impl Into<String>) -> Result<Self, SessionPathError> {
        let path = path.into();
        let is_part = |part: &str| (1..=MAX_PART_BYTES).contains(&part.len());
        let rule = match path.as_str() {
            text if text.len() > MAX_PATH_BYTES => Some(PathRule::TooLong),
            text if text.starts_with('/') => Some(PathRule::Absolute),
            text if !text.split('/').all(is_part) => Some(PathRule::Part),
            text if text.split('/').any(|part| matches!(part, "." | "..")) => Some(PathRule::Dots),
            text if text.contains('\\') => Some(PathRule::Separator),
            text if text.chars().any(char::is_control) => Some(PathRule::Control),
            _ => None,
        };
        match rule {
            Some(rule) => Err(SessionPathError { path, rule }),
            None => Ok(SessionPath(path)),
        }
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands in a directory of this name directly inside the session.
    pub fn is_in(&self, dir: &str) -> bool {
        self.0.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Whose the file is.
    pub fn belongs(&self) -> Belongs {
        let (dir, rest) = self.0.split_once('/').unwrap_or(("", &self.0));
        let last = self.0.rsplit('/').next().unwrap_or(&self.0);
        let is_machines = match dir {
            _ if last.starts_with(layout::TEMPORARY) => true,
            "" => matches!(rest, layout::LOCK | layout::META_LOCK | layout::REWIND | layout::BUNDLE),
            layout::PROC => matches!(rest, layout::TURN_PID | layout::TURN | layout::TURN_START),
            layout::CHECKPOINTS => is_checkpoint_machines(rest),
            layout::REMOTE => true,
            _ => false,
        };
        match dir {
            _ if is_machines => Belongs::Machine,
            layout::PROC if is_of_process(rest) => Belongs::Process,
            layout::INBOX if rest.split_once('/').is_some_and(|(dir, _)| dir == layout::CLAIMS) => Belongs::Claim,
            _ => Belongs::Session,
        }
    }
}

impl fmt::Display for SessionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<std::path::Path> for SessionPath {
    fn as_ref(&self) -> &std::path::Path {
        self.0.as_ref()
    }
}

fn is_of_process(name: &str) -> bool {
    !name.contains('/') && (name.ends_with(".json") || name.starts_with('.') && name.ends_with(".id"))
}

/// Of the checkpoints: the lock, what is known of a workspace's files, a restore under way; and of a repository what git
/// would run, or follow elsewhere.
fn is_checkpoint_machines(path: &str) -> bool {
    let (dir, rest) = path.split_once('/').unwrap_or(("", path));
    match dir {
        "" => matches!(rest, "lock" | "statcache" | "restore.journal"),
        ".index" => true,
        "repo.git" | ".git" => is_repository_machines(rest),
        _ => false,
    }
}

fn is_repository_machines(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    let last = path.rsplit('/').next().unwrap_or(path);
    matches!(first, "config" | "config.worktree" | "hooks" | "worktrees" | "modules" | "commondir" | "gitdir")
        || matches!(path, "objects/info/alternates" | "objects/info/http-alternates")
        || last.ends_with(".lock")
        || first == "objects" && last.starts_with("tmp_")
}

#[cfg(test)]
mod tests;
