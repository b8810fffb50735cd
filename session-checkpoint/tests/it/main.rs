//! The integration tests: real directories, real processes, real kills, and stock git as the judge of the store.
//!
//! Names that begin with `ckNN` carry the number of a case in `docs/checkpoints.md`; those with `cNN` the number of a
//! fault that users of systems like this one met.

mod basics;
mod support;
