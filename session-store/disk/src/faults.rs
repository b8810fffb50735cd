//! Breaking the disk on purpose, for tests: the n-th operation of this thread fails, writes short, or is the last
//! moment of the process.
//!
//! ```
//! use session_disk::faults::{self, Fault};
//! # let dir = tempfile::tempdir().expect("a scratch directory");
//! let path = dir.path().join("x");
//! let run = faults::with(Fault::Fail { at: 2 }, || {
//!     session_disk::replace(&path, b"new", session_disk::Durability::Data)
//! });
//! assert!(run.result.is_err() && run.hit && !path.exists());
//! ```

use crate::pass::Pass;
use crate::{DiskError, Op};
use nix::sys::signal::{Signal, raise};
use std::cell::RefCell;
use std::io;
use std::path::Path;

/// What is to go wrong. Operations are counted from 0, per thread, from the start of [`with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: the run only counts its operations.
    None,
    /// Operation `at` fails with `EIO`; the others work.
    Fail {
        /// Which operation.
        at: u64,
    },
    /// Operation `at` fails with `ENOSPC`; if it is a write, half of its bytes are in the file first.
    Full {
        /// Which operation.
        at: u64,
    },
    /// Operation `at` and all later ones do nothing and fail: what is on the disk stays as a death of the process
    /// at that point would leave it, clean-up code included.
    Stop {
        /// Which operation.
        at: u64,
    },
    /// The process kills itself with `SIGKILL` just before operation `at`: nothing is cleaned up, no lock is given
    /// back by code. For a child process that a test looks at afterwards.
    Kill {
        /// Which operation.
        at: u64,
    },
}

struct Plan {
    fault: Fault,
    count: u64,
    hit: bool,
    seen: Vec<Op>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// The outcome of a run under a fault.
#[derive(Debug)]
pub struct Run<T> {
    /// What the closure returned.
    pub result: T,
    /// Whether the fault was reached: a loop over all `at` ends at the first run that did not reach it.
    pub hit: bool,
    /// The operations that were attempted, in order.
    pub ops: Vec<Op>,
}

/// Runs `act` on this thread with a fault planned. Plans do not nest and do not reach other threads.
///
/// # Panics
/// When a plan is already active on this thread.
pub fn with<T>(fault: Fault, act: impl FnOnce() -> T) -> Run<T> {
    struct Clear;
    impl Drop for Clear {
        fn drop(&mut self) {
            PLAN.with_borrow_mut(|plan| *plan = None);
        }
    }
    PLAN.with_borrow_mut(|plan| {
        assert!(plan.is_none(), "fault plans do not nest");
        *plan = Some(Plan { fault, count: 0, hit: false, seen: Vec::new() });
    });
    let clear = Clear;
    let result = act();
    let plan = PLAN.with_borrow_mut(Option::take).expect("the plan was set above and only this function takes it");
    drop(clear);
    Run { result, hit: plan.hit, ops: plan.seen }
}

pub(crate) fn judge(op: Op, path: &Path) -> Result<Pass, DiskError> {
    PLAN.with_borrow_mut(|plan| {
        let Some(plan) = plan else { return Ok(Pass::Whole) };
        let n = plan.count;
        plan.count += 1;
        plan.seen.push(op);
        let error = |code| DiskError::new(op, path, io::Error::from_raw_os_error(code));
        match plan.fault {
            Fault::Fail { at } if n == at => {
                plan.hit = true;
                Err(error(nix::libc::EIO))
            }
            Fault::Full { at } if n == at => {
                plan.hit = true;
                let error = error(nix::libc::ENOSPC);
                if op == Op::Write { Ok(Pass::Half { error }) } else { Err(error) }
            }
            Fault::Stop { at } if n >= at => {
                plan.hit = true;
                Err(error(nix::libc::EIO))
            }
            Fault::Kill { at } if n == at => {
                // It does not return; if it could not be raised, the operation fails instead.
                raise(Signal::SIGKILL).map_err(|_| error(nix::libc::EIO))?;
                Err(error(nix::libc::EIO))
            }
            Fault::None | Fault::Kill { .. } | Fault::Fail { .. } | Fault::Full { .. } | Fault::Stop { .. } => {
                Ok(Pass::Whole)
            }
        }
    })
}
