//! A session store for coding agents.
//!
//! TODO

mod chain;
mod clock;
mod create;
mod doctor;
mod env;
mod error;
mod file_name;
mod flat;
mod flock;
mod history;
mod inbox;
mod list;
mod lock;
mod meta;
mod name;
mod options;
mod paths;
mod session;
mod small_file;
mod spill;
mod store;
mod trash;

pub use create::NewSession;
pub use doctor::{Examination, Finding, FindingCode, Severity};
pub use env::{FROM_UI_VAR, default_dir, from_ui};
pub use error::{Result, StoreError};
pub use flat::{FlatFile, SessionForm};
pub use history::{Appended, History, HistoryReader, HistoryView, Isolated};
pub use inbox::{
    Access, Claimed, Drained, Drainer, Failed, Inbox, InboxMessage, PROCESS_EVENT, Pending, USER_LINE, Unfit,
    inbox_ids, record_inbox_ids, recorded_inbox_ids,
};
pub use list::{ActiveTurn, ActiveTurns, Damage, Empties, ListNote, ListSubject, NameFault, SessionInfo, SessionState};
pub use lock::{LockGuard, LockHolder};
pub use meta::{MetaDamage, MetaReading, MetaSource};
pub use options::{Durability, LongLines, Options, Wait};
pub use paths::SessionPaths;
pub use session::{Session, Turn};
pub use session_core::{SessionName, TitleSource};
pub use session_proc::LiveTurn;
pub use spill::{Preview, PreviewSize, Spill, Spilled};
pub use store::Store;
pub use trash::{Deletion, EmptiedTrash, TrashEntry};

pub(crate) use clock::Clock;
