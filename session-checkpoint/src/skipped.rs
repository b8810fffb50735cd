//! What a snapshot did not store, and why.

use crate::rel_path::RelPath;
use serde::{Deserialize, Serialize};

/// Why something is not stored as the other files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkipReason {
    /// The file is larger than the limit. It was not read.
    TooBig,
    /// The file or directory could not be read. The snapshot is not complete.
    Unreadable,
    /// A FIFO, socket or device. It was not opened.
    Special,
    /// The file kept changing while it was read. What was read last *is* stored.
    Unstable,
    /// The name is one that git, or this store, keeps for itself.
    ReservedName,
    /// Another file system is mounted there.
    OtherFs,
    /// The name says that it holds a secret.
    Secret,
    /// A checkpoint store or a directory that the caller excluded by its place.
    CheckpointStore,
}

impl SkipReason {
    /// Whether the snapshot lacks something that belongs into it because of this.
    pub const fn makes_incomplete(self) -> bool {
        matches!(self, SkipReason::Unreadable)
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            SkipReason::TooBig => 1,
            SkipReason::Unreadable => 2,
            SkipReason::Special => 3,
            SkipReason::Unstable => 4,
            SkipReason::ReservedName => 5,
            SkipReason::OtherFs => 6,
            SkipReason::Secret => 7,
            SkipReason::CheckpointStore => 8,
        }
    }

    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            1 => SkipReason::TooBig,
            2 => SkipReason::Unreadable,
            3 => SkipReason::Special,
            4 => SkipReason::Unstable,
            5 => SkipReason::ReservedName,
            6 => SkipReason::OtherFs,
            7 => SkipReason::Secret,
            8 => SkipReason::CheckpointStore,
            _ => return None,
        })
    }
}

/// One thing that is not stored as the other files are. A restore never writes or deletes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skipped {
    /// Where it is.
    pub path: RelPath,
    /// Why.
    pub reason: SkipReason,
    /// Its size in bytes where it is a file.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_code_of_its_own_that_reads_back() {
        let reasons = [
            (SkipReason::TooBig, 1),
            (SkipReason::Unreadable, 2),
            (SkipReason::Special, 3),
            (SkipReason::Unstable, 4),
            (SkipReason::ReservedName, 5),
            (SkipReason::OtherFs, 6),
            (SkipReason::Secret, 7),
            (SkipReason::CheckpointStore, 8),
        ];
        for (reason, code) in reasons {
            // They stand in caches that earlier versions wrote.
            assert_eq!((reason.code(), SkipReason::from_code(code)), (code, Some(reason)));
            assert_eq!(reason.makes_incomplete(), reason == SkipReason::Unreadable, "{reason:?}");
        }
        assert_eq!((SkipReason::from_code(0), SkipReason::from_code(9)), (None, None));
    }
}
