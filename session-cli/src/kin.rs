//! Whose process this one is.

use crate::failure::Failure;
use session_proc::Identity;
use session_store::StoreError;

/// Whether this process is the one with this pid, or descends from it. One that is gone has no descendants.
pub(crate) fn is_kin(pid: i32) -> Result<bool, Failure> {
    let begot = |other: Identity| other.is_or_begot_this_process();
    Ok(Identity::of(pid).and_then(|other| other.map_or(Ok(false), begot)).map_err(StoreError::from)?)
}
