//! A session store for coding agents.
//!
//! TODO

mod error;
mod file_name;
mod flock;
mod history;
mod inbox;
mod lock;
mod options;
mod paths;
mod small_file;
mod spill;

pub use error::{Result, StoreError};
pub use history::{Appended, History, HistoryReader, HistoryView, Isolated};
pub use inbox::{
    Access, Claimed, Drained, Drainer, Failed, Inbox, InboxMessage, PROCESS_EVENT, Pending, USER_LINE, Unfit,
    inbox_ids, record_inbox_ids, recorded_inbox_ids,
};
pub use lock::LockHolder;
pub use options::{Durability, LongLines, Options, Wait};
pub use paths::SessionPaths;
pub use spill::{Preview, PreviewSize, Spill, Spilled};
