//! Housekeeping: fewer packs, fewer turns, a look at the store's health and size, and sharing with a fork.

mod fork;
pub(crate) mod import;
mod maintain;
mod prune;
mod reach;
mod rewrite;
mod select;
mod sizes;
mod usage;
mod verify;

pub use fork::{Forked, fork};
pub use maintain::Maintenance;
pub use prune::{Pruned, Retention};
pub use usage::Usage;
pub use verify::{DamagedPack, TurnHealth, Verification, VerifyDepth};
