//! What is looked at, and what was found.

use super::Finding;
use session_core::SessionName;
use session_core::checkpoint::{CheckpointDepth, Checkpointers};

/// What the doctor looks at, and how closely.
#[derive(Clone, Copy, Default)]
pub struct Checkup<'a> {
    /// The sessions; `None` for all, and the store itself.
    pub sessions: Option<&'a [SessionName]>,
    /// How closely checkpoints are looked at.
    pub depth: CheckpointDepth,
    /// Who knows checkpoints. Without it they are not looked at, and no rewind that changes files can be ended.
    pub checkpoints: Option<&'a dyn Checkpointers>,
    /// Told the name of each session before it is looked at.
    pub progress: Option<&'a dyn Fn(&str)>,
}

/// What an examination found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Examination {
    /// How many sessions were looked at.
    pub sessions: u64,
    /// What was found: about the store first, then by session.
    pub findings: Vec<Finding>,
}
