//! A session store for coding agents.
//!
//! TODO

mod chain;
mod clock;
mod create;
mod env;
mod error;
mod flock;
mod history;
mod lock;
mod meta;
mod name;
mod options;
mod paths;
mod session;
mod small_file;
mod store;

pub use create::NewSession;
pub use env::{FROM_UI_VAR, default_dir, from_ui};
pub use error::{Result, StoreError};
pub use history::{Appended, History, HistoryReader, HistoryView, Isolated};
pub use lock::{LockGuard, LockHolder};
pub use meta::{MetaDamage, MetaReading, MetaSource};
pub use options::{Durability, LongLines, Options, Wait};
pub use paths::SessionPaths;
pub use session::Session;
pub use session_core::{SessionName, TitleSource};
pub use store::Store;

pub(crate) use clock::Clock;
