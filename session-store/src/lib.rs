//! A session store for coding agents.
//!
//! TODO

mod error;
mod flock;
mod history;
mod lock;
mod options;
mod paths;
mod small_file;

pub use error::{Result, StoreError};
pub use history::{Appended, History, HistoryReader, HistoryView, Isolated};
pub use lock::LockHolder;
pub use options::{Durability, LongLines, Options, Wait};
pub use paths::SessionPaths;
