//! Copies of sessions in an object store: S3 and what speaks its language, Google Cloud Storage, Azure, a directory.
//!
//! When agents run on many machines, their sessions belong in one place that survives the machines. There is no server of
//! ours: a copy is a handful of objects, and one small document, the *manifest*, that is replaced only if it is as
//! expected. `docs/format.md` says what stands where, well enough to read a copy with `aws s3 cp` and `zstd`.
//!
//! - [`Remote`] is the store, or a prefix of it. Its functions block; what they do at the same time they do on one
//!   runtime that belongs to the value and ends with it.
//! - [`Remote::push`] sends what is new, [`Remote::pull`] brings in what is, [`Remote::sync`] does whichever is needed.
//! - [`Remote::lease`] keeps other machines out for the time of a turn.
//! - Two histories neither of which continues the other are refused ([`RemoteError::Diverged`]); nothing is overwritten.
//!
//! ```
//! use session_core::Message;
//! use session_store::remote::{PullOptions, PushOptions, Remote, RemoteOptions};
//! use session_store::{NewSession, SessionName, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let (here, there) = (scratch.path().join("here"), scratch.path().join("there"));
//! let remote = Remote::in_memory(RemoteOptions { machine: "oak".into(), ..RemoteOptions::default() })?;
//! let name = SessionName::new("demo")?;
//! let session = Store::open_at(here).create(&NewSession { name: Some(name.clone()), ..NewSession::default() })?;
//! session.append_messages([Message::user("plant three oaks")])?;
//! remote.push(&session, &PushOptions::default())?;
//!
//! let elsewhere = Store::open_at(there);
//! remote.pull(&elsewhere, &name, &PullOptions::default())?;
//! assert_eq!(elsewhere.load(&name)?.messages, [Message::user("plant three oaks")]);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what is there |
//! | --- | --- |
//! | `keys`, `manifest`, `tree`, `sha` | the layout: names, and the two documents |
//! | `cut` | into which segments a history is cut |
//! | `place`, `objects`, `packed`, `refused` | reaching a store, reading and writing objects, compressing, what is told of a failure |
//! | `local`, `files`, `redacted` | what is here: the history, the other files, a redacted history |
//! | `state`, `compare` | what is remembered of a copy, and how both stand to each other |
//! | `push`, `send`, `pull`, `fetch`, `sync`, `copied` | the work, and what is told of it |
//! | `conditional`, `write` | whether a store has conditional writes, and replacing a manifest |
//! | `lease` | keeping other machines out |
//! | `list`, `index`, `verify` | looking at copies |
//! | `remove`, `collect` | removing copies, and what no copy names any more |

mod collect;
mod compare;
mod conditional;
mod contents;
mod copied;
mod cut;
mod error;
mod fetch;
mod files;
mod index;
mod keys;
mod lease;
mod list;
mod listed;
mod local;
mod manifest;
mod objects;
mod options;
mod packed;
mod place;
mod pull;
mod push;
mod redacted;
mod refused;
mod remove;
mod segment;
mod send;
mod sha;
mod state;
mod sync;
mod tree;
mod verify;
mod write;

pub use collect::Collected;
pub use copied::{Change, Copied};
pub use error::{Divergence, HistoryEnd, Refused, RemoteError, RemoteResult};
pub use lease::Lease;
pub use list::{RemoteDetails, RemoteSummaries, RemoteSummary};
pub use listed::{RemoteList, RemoteSession};
pub use objects::Traffic;
pub use options::RemoteOptions;
pub use pull::PullOptions;
pub use push::PushOptions;
pub use remove::{RemoveOptions, Removed};
pub use sync::Synced;
pub use verify::Verified;

use refused::refused;

use crate::Clock;
use objects::Objects;
use session_core::Timestamp;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use tokio::runtime::{Builder, Runtime};

/// An object store, or a prefix of one, that holds copies of sessions. Clones share it.
#[derive(Debug, Clone)]
pub struct Remote {
    inner: Arc<Inner>,
    options: RemoteOptions,
    clock: Clock,
}

#[derive(Debug)]
struct Inner {
    runtime: Runtime,
    objects: Objects,
    place: String,
    conditional: OnceLock<bool>,
}

impl Remote {
    /// The store at a place: `s3://bucket/prefix`, `gs://…`, `az://…`, `file:///dir`, or a directory.
    ///
    /// Credentials, the region and the address of another server than the cloud's come from the environment, as
    /// `object_store` reads it: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`,
    /// `AWS_ENDPOINT_URL`, `AWS_SERVER_SIDE_ENCRYPTION` and so on, `GOOGLE_*`, `AZURE_*`; or from the role of the machine.
    /// They stand in no error and in no object. No request is sent yet.
    ///
    /// # Errors
    /// [`RemoteError::Place`]; [`RemoteError::Runtime`].
    pub fn open(place: &str, options: RemoteOptions) -> RemoteResult<Self> {
        let objects = place::open(place, &options)?;
        Remote::over(objects, place::without_user(place).trim_end_matches('/').to_owned(), options)
    }

    /// A store in the memory of this process, for tests and for trying things out.
    ///
    /// # Errors
    /// [`RemoteError::Runtime`].
    pub fn in_memory(options: RemoteOptions) -> RemoteResult<Self> {
        Remote::over(place::in_memory(), "memory".to_owned(), options)
    }

    fn over(objects: Objects, place: String, options: RemoteOptions) -> RemoteResult<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(RemoteError::Runtime)?;
        let inner = Inner { runtime, objects, place, conditional: OnceLock::new() };
        Ok(Remote { inner: Arc::new(inner), options, clock: Clock::SYSTEM })
    }

    /// The same store, used by another machine.
    #[must_use]
    pub fn with_machine(self, machine: impl Into<String>) -> Self {
        Remote { options: RemoteOptions { machine: machine.into(), ..self.options }, ..self }
    }

    /// The same store with another clock.
    #[must_use]
    pub fn with_clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Remote { clock: Clock::new(now), ..self }
    }

    /// Where it is, without credentials.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    fn objects(&self) -> &Objects {
        &self.inner.objects
    }

    fn machine(&self) -> &str {
        &self.options.machine
    }

    fn now(&self) -> Timestamp {
        self.clock.utc()
    }

    /// Runs requests to their end on this thread.
    fn run<T>(&self, requests: impl Future<Output = T>) -> T {
        self.inner.runtime.block_on(requests)
    }
}
