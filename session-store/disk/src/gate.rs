//! The one place that every operation passes before it touches the disk.

use crate::{DiskError, Op};
use std::path::Path;

/// What the gate lets an operation do.
pub(crate) enum Pass {
    /// Go ahead.
    Whole,
    /// Write only the first half of the bytes, then fail. Only a test asks for it.
    #[cfg_attr(not(feature = "faults"), expect(dead_code, reason = "only a test writes short on purpose"))]
    Half { error: DiskError },
}

#[cfg(not(feature = "faults"))]
#[inline]
pub(crate) fn pass(_op: Op, _path: &Path) -> Result<Pass, DiskError> {
    Ok(Pass::Whole)
}

#[cfg(feature = "faults")]
pub(crate) fn pass(op: Op, path: &Path) -> Result<Pass, DiskError> {
    crate::faults::judge(op, path)
}
