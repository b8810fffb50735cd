//! The one place that every operation passes before it touches the disk.

use crate::pass::Pass;
use crate::{DiskError, Op};
use std::path::Path;

#[cfg(not(feature = "faults"))]
#[inline]
pub(crate) fn pass(_op: Op, _path: &Path) -> Result<Pass, DiskError> {
    Ok(Pass::Whole)
}

#[cfg(feature = "faults")]
pub(crate) fn pass(op: Op, path: &Path) -> Result<Pass, DiskError> {
    crate::faults::judge(op, path)
}
