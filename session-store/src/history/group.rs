//! One sync for all who wait for one.

use session_disk::{DiskError, Op};
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The syncs of one open file. Of the threads that ask at once, one syncs for all whose bytes were written before it
/// began; the others wait for it, and what it is told is told to each of them.
#[derive(Debug, Default)]
pub(super) struct SharedSync {
    progress: Mutex<Progress>,
    settled: Condvar,
}

#[derive(Debug, Default)]
struct Progress {
    /// How many have asked, and for how many of them, from the first, a sync has ended.
    asked: u64,
    settled: u64,
    is_running: bool,
    /// Whose sync failed, and why. The system tells of a failure once: who syncs again afterwards is told that all is
    /// well.
    failed: HashMap<u64, Cause>,
}

/// A cause that several can be told.
#[derive(Debug, Clone, Copy)]
enum Cause {
    Code(i32),
    Kind(io::ErrorKind),
}

impl Cause {
    fn of(error: &io::Error) -> Self {
        error.raw_os_error().map_or(Cause::Kind(error.kind()), Cause::Code)
    }

    fn error(self, path: &Path) -> DiskError {
        let source = match self {
            Cause::Code(code) => io::Error::from_raw_os_error(code),
            Cause::Kind(kind) => kind.into(),
        };
        DiskError { op: Op::Sync, path: path.to_owned(), source }
    }
}

impl SharedSync {
    /// Returns when what this thread wrote before is on the disk. `path` is for the error.
    pub(super) fn run(&self, path: &Path, sync: impl FnOnce() -> Result<(), DiskError>) -> Result<(), DiskError> {
        let mut progress = self.progress();
        progress.asked += 1;
        let own = progress.asked;
        while progress.is_running && progress.settled < own {
            progress = self.settled.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        if progress.settled >= own {
            return progress.failed.remove(&own).map_or(Ok(()), |cause| Err(cause.error(path)));
        }
        progress.is_running = true;
        let through = progress.asked;
        drop(progress);
        // Should it panic, the others must not wait for ever.
        let running = Running(self);
        let synced = sync();
        let mut progress = self.progress();
        if let Err(error) = &synced {
            let cause = Cause::of(&error.source);
            let others = (progress.settled + 1..=through).filter(|&other| other != own);
            progress.failed.extend(others.map(|other| (other, cause)).collect::<Vec<_>>());
        }
        progress.settled = through;
        drop(progress);
        drop(running);
        synced
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sync that runs. Dropping it lets the next one begin.
struct Running<'a>(&'a SharedSync);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.progress().is_running = false;
        self.0.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::SharedSync;
    use session_disk::{DiskError, Op};
    use std::io;
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc;
    use std::thread;

    fn full() -> DiskError {
        DiskError { op: Op::Sync, path: "h".into(), source: io::Error::from_raw_os_error(28) }
    }

    /// One thread syncs and is held; seven more ask; then it goes on. Gives what each was told, and how many syncs ran.
    fn eight(outcome: fn(u32) -> Result<(), DiskError>) -> (Vec<Result<(), i32>>, u32) {
        let (shared, syncs) = (SharedSync::default(), AtomicU32::new(0));
        let (begun, has_begun) = mpsc::channel();
        let (go, may_go) = mpsc::channel::<()>();
        let ask = |wait: Option<mpsc::Receiver<()>>, begun: Option<mpsc::Sender<()>>| {
            shared.run(Path::new("h"), || {
                let number = syncs.fetch_add(1, Ordering::SeqCst);
                begun.map_or(Ok(()), |begun| begun.send(())).expect("somebody waits");
                wait.map_or(Ok(()), |wait| wait.recv()).expect("somebody sends");
                outcome(number)
            })
        };
        let told = thread::scope(|scope| {
            let first = scope.spawn(|| ask(Some(may_go), Some(begun)));
            has_begun.recv().expect("the first one begins");
            let others: Vec<_> = (0..7).map(|_| scope.spawn(|| ask(None, None))).collect();
            while shared.progress().asked < 8 {
                thread::yield_now();
            }
            go.send(()).expect("the first one waits");
            let all = std::iter::once(first).chain(others).map(|asked| asked.join().expect("it does not panic"));
            all.map(|told| told.map_err(|error| error.source.raw_os_error().unwrap_or(0))).collect()
        });
        (told, syncs.into_inner())
    }

    #[test]
    fn who_asks_while_a_sync_runs_shares_the_next_one() {
        assert_eq!(eight(|_| Ok(())), (vec![Ok(()); 8], 2));
    }

    #[test]
    fn a_failure_is_told_to_everybody_whose_bytes_it_was_about() {
        let (told, syncs) = eight(|number| if number == 1 { Err(full()) } else { Ok(()) });
        assert_eq!((told[0], &told[1..], syncs), (Ok(()), &[Err(28); 7][..], 2));
        let (told, syncs) = eight(|number| if number == 0 { Err(full()) } else { Ok(()) });
        assert_eq!((told[0], &told[1..], syncs), (Err(28), &[Ok(()); 7][..], 2));
    }
}
