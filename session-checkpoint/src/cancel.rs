//! Stopping long work, and watching it.

use crate::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a snapshot has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Files that were read and hashed because they are new or may have changed.
    pub files: u64,
    /// Bytes of those files.
    pub bytes: u64,
}

type Watch = dyn Fn(Progress) + Send + Sync;

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    files: AtomicU64,
    bytes: AtomicU64,
}

/// A token that stops work: by [`cancel`](Cancel::cancel) from any thread, or at a deadline. It also carries the
/// callback that is told about progress. Clones share one state.
#[derive(Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
    deadline: Option<Instant>,
    watch: Option<Arc<Watch>>,
}

impl Cancel {
    /// A token that stops nothing until it is told to.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same token with a deadline this far from now.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.deadline = Instant::now().checked_add(timeout);
        self
    }

    /// The same token with a callback, called from the working threads after each file that was read. It should
    /// return at once.
    #[must_use]
    pub fn with_progress(mut self, watch: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.watch = Some(Arc::new(watch));
        self
    }

    /// Stops the work that carries this token, at its next file or directory.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was [cancelled](Cancel::cancel). A deadline that has passed is something else.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() {
            return Err(Error::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Error::DeadlineExceeded),
            _ => Ok(()),
        }
    }

    pub(crate) fn read_file(&self, bytes: u64) {
        let files = self.shared.files.fetch_add(1, Ordering::Relaxed) + 1;
        let bytes = self.shared.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(watch) = &self.watch {
            watch(Progress { files, bytes });
        }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
