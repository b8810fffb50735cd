//! How a store behaves.

use session_core::Limits;
pub use session_disk::Durability;
use std::time::Duration;

/// How a store behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// How far a call's bytes must have come before it answers.
    pub durability: Durability,
    /// How long to wait for a lock that another holds.
    pub wait: Wait,
    /// Whether lines are written that the reference could not read: see [`session_core::layout::MAX_REFERENCE_LINE`].
    pub long_lines: LongLines,
    /// What readers accept.
    pub limits: Limits,
}

/// How long to wait for a lock that another holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wait {
    /// Not at all.
    #[default]
    No,
    /// At most so long.
    UpTo(Duration),
}

/// Whether lines are written that the reference could not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LongLines {
    /// They are refused before anything is written.
    #[default]
    Refuse,
    /// They are written; the reference cannot load the session from then on.
    Write,
}
