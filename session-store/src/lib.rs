//! A session store for coding agents.
//!
//! TODO

mod error;
mod lock;
mod options;
mod paths;

pub use error::{Result, StoreError};
pub use lock::LockHolder;
pub use options::{Durability, LongLines, Options, Wait};
pub use paths::SessionPaths;
