//! What an operation may do.

use crate::DiskError;

/// What the gate lets an operation do.
pub(crate) enum Pass {
    /// Go ahead.
    Whole,
    /// Write only the first half of the bytes, then fail. Only a test asks for it.
    #[cfg_attr(not(feature = "faults"), expect(dead_code, reason = "only a test writes short on purpose"))]
    Half { error: DiskError },
}
