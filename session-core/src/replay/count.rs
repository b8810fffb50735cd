//! How much of a history is live.

/// How many live messages a history holds, and how far it was whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Live messages: always as many as [`crate::Conversation::read`] gives.
    pub messages: u64,
    /// Events of any kind, live or not.
    pub events: u64,
    /// How many defects are skipped ([`crate::Defect::is_skipped`]). One line can have several.
    pub skipped: u64,
    /// How many defects are repaired ([`crate::Outcome::Repaired`]). One line can have several.
    pub repaired: u64,
    /// As [`crate::Conversation::uncertain`].
    pub uncertain: bool,
}

/// A count of the first part of a history that can be put aside, and goes on when more lines stand behind that part.
///
/// ```
/// use session_core::{Counter, Limits};
/// let message = br#"{"kind":"message","message":{"role":"user","content":"a"}}
/// "#;
/// let mut counter = Counter::default();
/// counter.read(&message[..], Limits::default())?;
/// counter.read(&message[..], Limits::default())?;
/// assert_eq!(counter.count.messages, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counter {
    /// What was counted so far.
    pub count: Count,
    /// How many messages were live when a line was last skipped: a rollback that reaches behind it is uncertain.
    pub gap: Option<u64>,
}
