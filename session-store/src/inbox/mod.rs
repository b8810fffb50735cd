//! Messages for the running turn: a directory of small files, one a message.
//!
//! A message is delivered by anybody, claimed by the turn, recorded in the history, and acknowledged. Each step is one
//! rename or one removal, so that at any moment a message is in one of three places and none is lost:
//!
//! - `inbox/<name>`: it waits. [`Inbox::deliver`] puts it there in one piece.
//! - `inbox/.claims/<id>@<owner>`: somebody took it and is about to record it. [`Inbox::claim`] hands it out. If the
//!   owner dies, the next claim hands it out again, unless the history says that it was recorded.
//! - nowhere: the history has it. [`Inbox::acknowledge`] removes it.
//!
//! What cannot be delivered is moved to `inbox/.failed`, with a reason. Directories, links, FIFOs and names that start
//! with a dot are left alone. Two messages that say the same are two messages.

mod acknowledge;
mod adopt;
mod claims;
mod drain;
mod entry;
mod examine;
mod fate;
mod message;
mod recorded;
mod steer;
mod terms;
mod unfit;

#[cfg(feature = "bundle")]
pub(crate) use claims::unowned;
pub use drain::{Access, Claimed, Drained, Drainer};
pub use entry::Failed;
pub(crate) use entry::{REASON, count};
pub(crate) use examine::{Taken, TakenState};
pub use fate::{Fate, Recorded};
pub use message::{InboxMessage, PROCESS_EVENT, USER_LINE};
pub use recorded::{inbox_ids, record_inbox_ids, recorded_inbox_ids};
pub use steer::{Outcome, Sent, Waited};
pub use terms::Terms;
pub use unfit::Unfit;

use crate::directory::{make_own, own};
use crate::{Durability, Result, SessionPaths, StoreError};
use claims::delivered_name;
use entry::{Content, look, names};
use session_core::layout::{CLAIMS, FAILED, INBOX, MAX_INBOX_BYTES};
use session_disk::{DiskError, create_new, publish, remove_file, temp_name, write};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// How many names are tried for a message before it is given up.
const NAMES: usize = 16;

/// The inbox of one session. Nothing is read or created before it is used.
///
/// Where the inbox, or a directory of it, is a symbolic link, everything is refused with [`StoreError::Escapes`]: what is
/// behind it is not the session's.
///
/// ```
/// use session_store::{Access, HistoryView, Inbox, InboxMessage, SessionPaths, USER_LINE, recorded_inbox_ids};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// let paths = SessionPaths::new(dir.path());
/// let inbox = Inbox::new(paths.clone(), "demo", Default::default());
/// inbox.deliver(&InboxMessage::now(USER_LINE, "use tabs"))?;
///
/// // Whoever holds the session's lock claims what waits, appends it with its id, and acknowledges it.
/// let drainer = inbox.drainer(Access::LockHolder, &session_proc::Identity::own()?)?.expect("the lock is enough");
/// let drained = inbox.claim(&drainer, |ids| recorded_inbox_ids(&HistoryView::open(&paths, Default::default())?, ids))?;
/// assert_eq!(drained.messages[0].message.text, "use tabs");
/// inbox.acknowledge(drained.messages.iter().map(|claimed| &*claimed.id))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Inbox {
    paths: SessionPaths,
    name: String,
    durability: Durability,
}

/// A file that waits in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// Its name.
    pub name: OsString,
    /// What it says; `None` for one that cannot be delivered as it is.
    pub message: Option<InboxMessage>,
}

impl Inbox {
    /// The inbox of the session at `paths`. `name` is for errors.
    pub fn new(paths: SessionPaths, name: impl Into<String>, durability: Durability) -> Self {
        Inbox { paths, name: name.into(), durability }
    }

    /// Delivers a message, and says under which name it waits.
    ///
    /// On disk when it returns: the message, in one piece; with [`Durability::Data`] synced. The inbox is created where
    /// it is missing, the session's directory never.
    ///
    /// # Errors
    /// [`StoreError::MessageTooLarge`] for one that the reference would delete unread, [`StoreError::Deleted`] where
    /// there is no session, [`StoreError::Escapes`] where the inbox is a symbolic link, [`StoreError::Disk`]. Nothing was
    /// delivered.
    pub fn deliver(&self, message: &InboxMessage) -> Result<String> {
        let bytes = message.to_json();
        if bytes.len() as u64 > MAX_INBOX_BYTES {
            let path = self.paths.inbox();
            return Err(StoreError::MessageTooLarge { bytes: bytes.len() as u64, limit: MAX_INBOX_BYTES, path });
        }
        let inbox = self.make_dir(&[INBOX])?;
        let temp = temp_name(&inbox.join("message"));
        let published = self.write_whole(&temp, &bytes).and_then(|()| publish_in(&inbox, &temp, message));
        if published.is_err() {
            // The first error is the one to tell; a dot-name in the inbox is nobody's message.
            drop(remove_file(&temp));
        }
        let name = published?;
        let path = inbox.join(&name);
        match self.sync_dir(&inbox) {
            // It may be retried, so it must not be there already; if it was claimed meanwhile, it was delivered.
            Err(error) if remove_file(&path).is_ok() => Err(error.into()),
            Err(error) if path.exists() => Err(error.into()),
            _ => Ok(name),
        }
    }

    /// What waits, in the order in which it will be claimed. Nothing is changed. A missing inbox is empty.
    ///
    /// # Errors
    /// [`StoreError::Read`] where the inbox itself cannot be read, [`StoreError::Escapes`] where it is a symbolic link.
    pub fn list(&self) -> Result<Vec<Pending>> {
        let mut pending = Vec::new();
        let dir = self.dir()?;
        for name in names(&dir)? {
            match look(&dir.join(&name)) {
                Content::NotOurs => {}
                Content::Message(message) => pending.push(Pending { name, message: Some(message) }),
                Content::MayBeWritten | Content::Unfit(_) => pending.push(Pending { name, message: None }),
            }
        }
        Ok(pending)
    }

    fn dir(&self) -> Result<PathBuf> {
        own(&self.paths, &[INBOX])
    }

    fn claims(&self) -> Result<PathBuf> {
        own(&self.paths, &[INBOX, CLAIMS])
    }

    fn failed(&self) -> Result<PathBuf> {
        own(&self.paths, &[INBOX, FAILED])
    }

    fn write_whole(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        let file = create_new(path)?;
        write(&file, path, bytes)?;
        self.durability.sync_data(&file, path)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        self.durability.sync_dir(dir)
    }

    /// Creates a directory in one that must exist.
    fn make_dir(&self, names: &[&str]) -> Result<PathBuf> {
        make_own(&self.paths, names, self.durability).map_err(|error| error.or_deleted(&self.name))
    }
}

/// Gives a finished message a name that is free.
fn publish_in(inbox: &Path, temp: &Path, message: &InboxMessage) -> Result<String, DiskError> {
    let mut tries = 0;
    loop {
        let name = delivered_name(message.at.timestamp_nanos_opt());
        match publish(temp, &inbox.join(&name)) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAMES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
