//! The integration tests: real directories, real processes, real kills, and stock git as the judge of the store.
//!
//! Names that begin with `ckNN` carry the number of a case in `docs/checkpoints.md`; those with `cNN` the number of a
//! fault that users of systems like this one met.

mod ahead;
mod attached;
mod attribution;
mod basics;
mod capture;
mod child;
mod conflicts;
mod crash;
mod damage;
mod diffs;
mod disk_full;
mod dropped;
mod external;
mod faults;
mod foreign;
mod forks;
mod fuzz;
mod housekeeping;
mod ignored;
mod interrupted;
mod isolation;
mod kinds;
mod limits;
mod meanwhile;
mod reference;
mod support;
mod unprivileged;
mod upkeep;
