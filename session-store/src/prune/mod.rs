//! Pruning: sessions that are old, large, empty or without their workspace go to the trash, when somebody asks for it.
//!
//! Nothing is ever deleted by itself. A plan says of each session that the rules choose why it goes, or what keeps it;
//! carrying it out looks again at each one, takes exactly the directory that was looked at, and moves it to the trash.

mod parts;
mod plan;
mod reasons;
mod relatives;
mod run;
mod spills;

pub use parts::{PartPlan, PrunePart};
pub use plan::{Doomed, Kept, PrunePlan, PruneRules};
pub use reasons::{Protection, PruneReason};
pub use run::Pruned;
