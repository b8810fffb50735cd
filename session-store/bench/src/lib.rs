//! What the benchmarks of the session store measure against.
//!
//! - [`floor`] has what the system itself takes for the same bytes: nobody who reads or writes them can be faster.
//! - [`sqlite`] has the same events in a table, as a store would keep them that uses a database.
//! - [`scratch`] has the directories and the histories.
//!
//! It is a crate of its own so that no other has SQLite among what it is built from.

#![expect(clippy::missing_panics_doc, reason = "a benchmark that cannot go on panics")]

pub mod floor;
pub mod scratch;
pub mod sqlite;
