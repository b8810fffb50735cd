//! Processes of a session: who runs its turn, and what runs in its background.
//!
//! A pid in a file is a number that the kernel gives to another process as soon as the first one is gone. This crate
//! is the one place that knows which process such a number means:
//!
//! - [`Identity`] names a process for good: pid, start time and boot. [`Liveness`] says what became of it. A zombie
//!   is dead; a process of another user is as live as one's own.
//! - [`TurnMarker`] marks the running turn of a session, in files that the reference reads and writes too, and
//!   [`TurnMarker::read`] finds the live turn.
//! - [`live_processes`] tells which background processes run.
//!
//! It knows a session's `proc/` directory and nothing of histories, locks or inboxes, and it starts no thread.
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

mod error;
mod identity;
mod live;
mod procfs;
mod small_file;
mod turn;

pub use error::ProcError;
pub use identity::{Identity, Liveness};
pub use live::{LiveProcess, live_processes};
pub use turn::{LiveTurn, Standing, TurnMarker};
