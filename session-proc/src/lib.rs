//! Processes of a session: who runs its turn, and what runs in its background.
//!
//! A pid in a file is a number that the kernel gives to another process as soon as the first one is gone. This crate
//! is the one place that knows which process such a number means:
//!
//! - [`Identity`] names a process for good: pid, start time and boot. [`Liveness`] says what became of it. A zombie
//!   is dead; a process of another user is as live as one's own.
//! - [`TurnMarker`] marks the running turn of a session, in files that the reference reads and writes too, and
//!   [`TurnMarker::read`] finds the live turn.
//! - [`Registry`] starts commands that outlive the turn, and answers what became of them: their state, their output
//!   by a cursor, what happened since anybody asked, who belongs to them. It stops all of that and nothing else.
//! - [`Wake`] sleeps until a file changes or a process ends.
//! - [`supervise`] is the `main` of the small process that stays with a command when its starter is gone.
//!
//! It knows a session's `proc/` directory and nothing of histories, locks or inboxes. It starts no thread, and it
//! uses no cgroup, which would need privileges; that a supervisor is given orphans (a *subreaper*) needs none.
//!
//! # A turn
//!
//! ```
//! use session_proc::{Identity, TurnMarker};
//!
//! # fn main() -> Result<(), session_proc::ProcError> {
//! # let session = tempfile::tempdir().expect("a scratch directory");
//! let proc_dir = session.path().join("proc");
//! let marker = TurnMarker::start(&proc_dir, "turn-1")?;
//!
//! let turn = TurnMarker::read(&proc_dir)?.expect("the turn has been marked");
//! assert_eq!((turn.turn_id.as_deref(), turn.process), (Some("turn-1"), Some(Identity::own()?)));
//!
//! marker.end()?;
//! assert_eq!(TurnMarker::read(&proc_dir)?, None);
//! # Ok(())
//! # }
//! ```
//!
//! # A background process
//!
//! ```
//! use session_proc::{Registry, Start, Stop, Until, Waited};
//!
//! # fn main() -> Result<(), session_proc::ProcError> {
//! # let session = tempfile::tempdir().expect("a scratch directory");
//! # let proc_dir = session.path().join("proc");
//! // A program with an executable of its own names a supervisor: `with_supervisor`.
//! let registry = Registry::open(&proc_dir)?;
//! let server = registry.start(&Start::new("echo ready; exec sleep 600", session.path()).name("server"))?;
//!
//! let ready = Until::Match { pattern: "^ready$".to_owned(), from: 0 };
//! assert!(matches!(registry.wait(&server.id, &ready, None)?, Waited::Matched { .. }));
//!
//! let stopped = registry.stop(&server.id, &Stop::default())?;
//! assert!(stopped.survivors.is_empty());
//! assert_eq!(registry.events()?[0].text, "Background process bg1 (server) was killed.\nIts last output:\nready\n");
//! # Ok(())
//! # }
//! ```

mod error;
mod procfs;
mod small_file;

mod identity;
mod turn;

mod dir_lock;
mod dossier;
mod entry;
mod id;
mod record;
mod registry;
mod settle;
mod status;
mod trim;

mod claim;
mod launch;
mod mark;
mod spawn;
mod start;
mod supervise;
mod supervised;

mod cut;
mod log_writer;
mod output;

mod wake;

mod events;
mod pattern;
mod watch;

mod members;
mod signal;
mod stop;
mod target;

mod live;
mod lost;
mod portable;
mod prune;

pub use dossier::{Gone, Lifetime};
pub use error::ProcError;
pub use events::{Event, EventKind, Tuning};
pub use id::ProcessId;
pub use identity::{Identity, Liveness};
pub use live::{LiveProcess, live_processes};
pub use lost::{Lost, LostWhy, MarkedProcesses};
pub use members::{Bond, Member};
pub use output::{Excess, OUTPUT_BYTES, Output};
pub use portable::{PortableProcess, ProcessFile};
pub use prune::Prune;
pub use record::State;
pub use registry::{Listing, Registry};
pub use signal::{Signal, Unreached};
pub use start::{LOG_CAP_BYTES, Start, Supervisor};
pub use status::Status;
pub use stop::{Stop, Stopped, Which};
pub use supervise::supervise;
pub use target::Survivor;
pub use turn::{LeftTurn, LiveTurn, Standing, TurnMarker};
pub use wake::Wake;
pub use watch::{Until, Waited, Watch};
