//! Restoring: a plan, a safety snapshot, a journal, checked writes, and a look at the result.
//!
//! What is neither in the safety snapshot nor in the target is never touched. What is deleted is in the safety snapshot,
//! and is known to have been absent at the target. What is written was looked at right before.

mod apply;
mod check;
mod dirs;
mod job;
mod limits;
mod mine;
mod plan;
mod planned;
mod put;
mod run;
mod then;
mod types;
mod undo;
mod way;
mod work;

pub use planned::RestorePlan;
pub use types::{
    Conflict, ConflictKind, FailedPath, KeepReason, Kept, PlanSummary, Planned, Restored, Scope, SharedPath,
};
pub(crate) use undo::last_restore;
