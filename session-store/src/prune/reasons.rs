//! Why a session goes, and why one stays.

use session_core::{SessionName, Timestamp, format_time};
use std::fmt;

/// Why a session is pruned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PruneReason {
    /// Its newest event is older than the rule allows.
    Older {
        /// The time of that event; without one, when its history was last written, or it was created.
        updated: Timestamp,
    },
    /// There are so many newer ones.
    NotAmongNewest {
        /// How many are kept.
        keep: usize,
    },
    /// It takes more room than the rule allows.
    Larger {
        /// The room that it takes on the disk.
        allocated_bytes: u64,
    },
    /// Its conversation has no message.
    Empty,
    /// The directory that it worked in is gone.
    WorkspaceGone {
        /// That directory.
        workspace: String,
    },
}

impl fmt::Display for PruneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PruneReason::Older { updated } => write!(f, "last used {}", format_time(updated)),
            PruneReason::NotAmongNewest { keep } => write!(f, "not among the newest {keep}"),
            PruneReason::Larger { allocated_bytes } => write!(f, "it takes {allocated_bytes} bytes"),
            PruneReason::Empty => f.write_str("it is empty"),
            PruneReason::WorkspaceGone { workspace } => write!(f, "its workspace {workspace} is gone"),
        }
    }
}

/// Why a session stays although the rules choose it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// Its turn runs.
    LiveTurn {
        /// The process.
        pid: i32,
    },
    /// Background processes of it run.
    Processes {
        /// Their ids.
        ids: Vec<String>,
    },
    /// Somebody pinned it.
    Pinned,
    /// It is a member of a chain of which another member stays.
    Chain {
        /// That member.
        with: SessionName,
    },
    /// A session that stays was forked from it.
    ForkBase {
        /// The fork.
        fork: SessionName,
    },
    /// Something of it cannot be read, so nobody can say what would go.
    Damaged {
        /// What is wrong.
        what: String,
    },
    /// A rewind of it has not ended.
    Rewind,
    /// One of its checkpoints is pinned.
    PinnedCheckpoint {
        /// Its number.
        turn: u64,
    },
    /// Its newest event claims a time that has not come yet: a clock is wrong, this one or the writer's.
    Ahead {
        /// The time.
        updated: Timestamp,
    },
}

impl Protection {
    /// A stable name, for machines.
    pub fn as_str(&self) -> &'static str {
        match self {
            Protection::LiveTurn { .. } => "live-turn",
            Protection::Processes { .. } => "processes",
            Protection::Pinned => "pinned",
            Protection::Chain { .. } => "chain",
            Protection::ForkBase { .. } => "fork-base",
            Protection::Damaged { .. } => "damaged",
            Protection::Rewind => "rewind",
            Protection::PinnedCheckpoint { .. } => "pinned-checkpoint",
            Protection::Ahead { .. } => "time-ahead",
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protection::LiveTurn { pid } => write!(f, "its turn runs, process {pid}"),
            Protection::Processes { ids } => write!(f, "its processes run: {}", ids.join(", ")),
            Protection::Pinned => f.write_str("it is pinned"),
            Protection::Chain { with } => write!(f, "it is of one chain with {with}, which stays"),
            Protection::ForkBase { fork } => write!(f, "{fork}, which stays, was forked from it"),
            Protection::Damaged { what } => write!(f, "it is damaged: {what}"),
            Protection::Rewind => f.write_str("a rewind of it has not ended"),
            Protection::PinnedCheckpoint { turn } => write!(f, "its checkpoint {turn} is pinned"),
            Protection::Ahead { updated } => {
                write!(f, "its newest event claims to be of {}", format_time(updated))
            }
        }
    }
}
