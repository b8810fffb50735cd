//! A session store for coding agents: directories, histories, locks, metadata, inbox and spilled output.
//!
//! A *session* is a directory that holds a conversation and everything else that outlives one turn of an agent. An agent
//! may run each turn in a process of its own and lose nothing between them. The Go program that the format comes from may
//! work on the same directory at the same time.
//!
//! - [`Store`] is the directory that holds the sessions: create, open, list, load, delete, restore, examine.
//! - [`Session`] is one of them, open: append, read, change metadata, run a turn, drain the inbox, spill.
//! - [`LockGuard`] is the session's lock, held; [`Turn`] a turn that runs under it; [`Steering`] brings it the messages of
//!   the inbox.
//! - A session goes back ([`Session::rewind`]), is forked ([`Store::fork`]), goes on in another one ([`Store::compact`],
//!   [`Store::lineage`]), and is renamed ([`Store::rename`]). Checkpoints of its workspace are handed in as a
//!   [`Checkpointer`](session_core::checkpoint::Checkpointer).
//! - A session that another program made comes in whole ([`Store::import`]). With the feature `bundle`, sessions are put
//!   into one file, and come out of it elsewhere as they were (`Store::bundle`, `Store::import_bundle`).
//! - With the feature `remote`, copies of sessions go to an object store and come from there: see the module `remote`.
//! - [`HistoryView`] is a history as it stood at one moment, read forwards or backwards.
//!
//! What it promises: an append answers when its events are on the disk ([`Options::durability`]), whole and once; reading
//! takes no lock, writes nothing and never fails because of content; nothing is ever deleted by itself. What it does not
//! do: judge bytes (that is [`session_core`]), know what a checkpoint is, print, log, or leave a thread behind: those that
//! help to list, to search and to read a large history have ended when the call returns. Of the feature `remote`, a
//! `Remote` has a runtime of its own, whose threads end with the value.
//!
//! ```
//! use session_core::Message;
//! use session_store::{NewSession, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! let store = Store::open_at(scratch.path().join("sessions"));
//! let session = store.create(&NewSession { title: "Plant three oaks".into(), ..NewSession::default() })?;
//!
//! let lock = session.lock()?;
//! let turn = session.begin_turn(&lock, "turn-1")?;
//! session.append_messages([Message::user("plant three oaks"), Message::assistant("digging")])?;
//! let from_the_inbox = session.steering().take()?.messages;
//! turn.end("done", None)?;
//! lock.release()?;
//!
//! assert_eq!(session.load()?.messages.len(), 2 + from_the_inbox.len());
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "bundle")]
mod bundle;
mod candidate;
mod chain;
mod clock;
mod compact;
mod create;
mod directory;
mod disk_usage;
mod doctor;
mod env;
mod error;
mod file_name;
mod flat;
mod flock;
mod fork;
mod history;
mod import;
mod import_origin;
mod inbox;
#[cfg(feature = "bundle")]
mod inner_files;
mod lineage;
mod list;
mod lock;
mod meta;
mod name;
mod opening;
mod options;
mod part;
mod paths;
mod processes;
mod prune;
mod quarantine;
mod redaction;
mod relocate;
#[cfg(feature = "remote")]
pub mod remote;
mod rename;
mod rewind;
mod rewind_record;
mod rewrite;
mod search;
mod secrets;
mod session;
mod spill;
mod staging;
mod stamp;
mod store;
mod trash;
mod workspace;

#[cfg(feature = "bundle")]
pub use bundle::{
    BundleContents, BundleError, BundleFault, BundleImport, BundleLimits, BundlePlan, BundleSecrets, BundledContents,
    BundledSession, ImportedFromBundle, is_bundle,
};
pub use candidate::NameFault;
pub use compact::{Compacted, Compaction};
pub use create::NewSession;
pub use disk_usage::{DiskBytes, DiskMeter, DiskUsage, SessionPart};
pub use doctor::{Checkup, Examination, Finding, FindingCode, Fix, Repair, Repaired, Severity};
pub use env::{FROM_UI_VAR, default_dir, from_ui};
pub use error::{Result, StoreError};
pub use flat::{FlatFile, SessionForm};
pub use fork::{Forked, NewFork};
pub use history::{Appended, History, HistoryReader, HistoryView, Isolated};
pub use import::NewImport;
pub use import_origin::ImportOrigin;
pub use inbox::{
    Access, Claimed, Drained, Drainer, Failed, Fate, Inbox, InboxMessage, Outcome, PROCESS_EVENT, Pending, Recorded,
    Sent, Terms, USER_LINE, Unfit, Waited, inbox_ids, record_inbox_ids, recorded_inbox_ids,
};
#[cfg(feature = "bundle")]
pub use inner_files::{LeftOut, LeftOutWhy};
pub use lineage::{Lineage, LinkLoop, Origin, Relative};
pub use list::{ActiveTurn, ActiveTurns, Damage, Empties, ListNote, ListSubject, SessionInfo, SessionState};
pub use lock::{LockGuard, LockHolder};
pub use meta::{MetaDamage, MetaReading, MetaSource};
pub use options::{Durability, LongLines, Options, Wait};
pub use paths::SessionPaths;
pub use prune::{Doomed, Kept, PartPlan, Protection, PrunePart, PrunePlan, PruneReason, PruneRules, Pruned};
pub use relocate::{Relocated, Relocation};
pub use rename::Renamed;
pub use rewind::{Refusal, Rewind, RewindForce, RewindParts, RewindPlan, Rewound, RewoundMessage, UndoPlan};
pub use search::{
    Case, Form, Found, HitsOfASession, Liveness, Query, QueryError, SearchOptions, Searched, Unsearched, Words,
};
pub use secrets::{ScrubBackup, Scrubbed, SecretHit, SecretScan};
pub use session::{Session, Steered, Steering, Turn, TurnEnd, TurnRepair};
pub use session_core::{SessionName, TitleSource};
pub use session_proc::LiveTurn;
pub use spill::{Preview, PreviewSize, Spill, Spilled};
pub use store::Store;
pub use trash::{Deletion, EmptiedTrash, TrashEntry, UnreadableTrash};

pub(crate) use clock::Clock;
pub(crate) use redaction::Redaction;

/// What the front page of the repository shows of Rust compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct FrontPage;
