//! What others do in the middle of something.

use nix::fcntl::{Flock, FlockArg};
use session_core::{Redact, RedactError};
use std::borrow::Cow;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Something that is done once.
pub(crate) struct Once(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Once {
    pub(crate) fn new(act: impl FnOnce() + Send + 'static) -> Self {
        Once(Mutex::new(Some(Box::new(act))))
    }

    pub(crate) fn act(&self) {
        let act = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        act.into_iter().for_each(|act| act());
    }
}

/// A redactor of nothing, during which something is done once: when it is asked about a line that has this in it.
///
/// It is asked about the lines of an append before the lock of the history is taken, and about those that begin a history
/// while it is held.
pub(crate) struct Redacting {
    line: &'static str,
    once: Once,
}

impl Redacting {
    pub(crate) fn with(line: &'static str, act: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Redacting { line, once: Once::new(act) })
    }
}

impl Redact for Redacting {
    fn text<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, RedactError> {
        Ok(text.into())
    }

    fn json<'a>(&self, json: &'a str) -> Result<Cow<'a, str>, RedactError> {
        if json.contains(self.line) {
            self.once.act();
        }
        Ok(json.into())
    }
}

/// The lock of a file that is there.
pub(crate) fn locked(path: &Path) -> Flock<File> {
    let file = File::options().read(true).append(true).open(path).expect("it is there");
    Flock::lock(file, FlockArg::LockExclusive).expect("it can be locked")
}

/// Whether somebody waits for the lock of a file.
pub(crate) fn is_awaited(path: &Path) -> bool {
    let file = format!(":{} 0 EOF", fs::metadata(path).expect("it is there").ino());
    let locks = fs::read_to_string("/proc/locks").expect("it can be read");
    locks.lines().any(|lock| lock.contains("->") && lock.ends_with(&file))
}
