//! What the exit status says.

/// The exit statuses, as the manual lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// The answer is no: no hit, findings, nothing to do.
    No,
    /// Wrong usage, or bad input.
    Usage,
    /// Done in part: something was unreadable or left out.
    Partial,
    /// No such session, or several.
    NotFound,
    /// Locked, a live turn, or not in the state needed.
    Busy,
    /// Refused for safety.
    Refused,
    /// A bug in this program.
    Bug,
    /// Timed out.
    TimedOut,
    /// `lock` or `turn` themselves failed.
    Wrapper,
    /// A person stopped it.
    Interrupted,
    /// The status of the command that `lock` or `turn` ran.
    Of(u8),
}

impl Exit {
    /// The number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::NotFound => 4,
            Exit::Busy => 5,
            Exit::Refused => 6,
            Exit::Bug => 70,
            Exit::TimedOut => 124,
            Exit::Wrapper => 125,
            Exit::Interrupted => 130,
            Exit::Of(code) => code,
        }
    }
}
