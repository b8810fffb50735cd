//! What the tests and benchmarks of the session store share.
//!
//! - [`Histories`] makes up histories like those of real agents: any size, the same for the same seed.
//! - [`Table`] times two acts in alternation and prints their ratio, because on a shared machine only ratios hold.
//! - [`s3`] is a small S3 server on loopback that counts its requests and breaks when it is told to.
//! - [`refusing`] has the kernel refuse a system call.
//! - [`usually`] chooses how much of a slow family is tried.
//!
//! It knows nothing of the other crates: what it writes is the format as `docs/format.md` describes it, so that a
//! reader that reads it was not measured by its own writer.

#![expect(clippy::missing_panics_doc, reason = "a test or a benchmark that cannot go on panics")]

mod history;
mod long;
mod refused;
pub mod s3;
mod text;
mod times;

pub use history::{Histories, Shape};
pub use long::{is_long, usually};
pub use refused::{Call, refusing};
pub use times::{Sample, Table, cpu_seconds, median, peak_memory_bytes, timed};
