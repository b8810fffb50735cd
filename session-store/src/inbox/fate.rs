//! What has become of a message.

use super::claims::{ClaimName, Lives, name_of};
use super::drain::was_there;
use super::entry::{Content, NOT_DELIVERED, look, reason_path};
use super::{Inbox, Pending, inbox_ids};
use crate::{HistoryView, Result, StoreError};
use session_core::{Item, Limits};
use session_disk::remove_file;
use session_proc::Identity;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// How often it is looked for a message that is nowhere. It may be on its way from one place to the next, behind whoever
/// looks.
const LOOKS: usize = 3;

/// The length of what [`Inbox::set_aside`] adds to a name.
const SUFFIX: usize = 17;

/// Where a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It waits in the inbox.
    Waiting,
    /// Somebody has taken it and not said that it is recorded.
    Claimed {
        /// The process to which it belongs.
        by: Identity,
        /// Whether that lives. If not, the next drain gives the message out again.
        lives: bool,
    },
    /// The history has it.
    Recorded(Recorded),
    /// It was moved aside, and nobody will get it.
    SetAside {
        /// Where it is now.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// There is no trace of it: it was cancelled, or taken by a program that does not record what it takes, as the
    /// reference.
    Gone,
}

/// The place at which a history records a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The id of the message in the event's `x.inbox`.
    pub id: String,
    /// The offset of the event's line.
    pub offset: u64,
}

/// The end of a history at some time. What is before it stays what it is, as long as it is the same file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    file: Option<(u64, u64)>,
    offset: u64,
}

impl Mark {
    pub(super) fn end_of(history: &HistoryView) -> Result<Self> {
        Ok(Mark { file: history.identity(), offset: history.whole_bytes()? })
    }
}

/// Where a message was found that is not in the history.
enum Found {
    Waiting,
    Claimed { claim: ClaimName, lives: bool },
}

impl Inbox {
    /// What has become of the message that was delivered under a name. The history is read from its end, until the message
    /// is found.
    ///
    /// That a message is in the history is said only once whoever recorded it has acknowledged it or died: before, the
    /// append may still fail.
    ///
    /// # Errors
    /// [`StoreError::Read`], [`StoreError::Process`].
    pub fn fate(&self, name: &OsStr) -> Result<Fate> {
        self.fate_since(name, Mark::default())
    }

    /// The same for a message that was delivered after a mark was set: the history before it is not read.
    pub(super) fn fate_since(&self, name: &OsStr, since: Mark) -> Result<Fate> {
        for _ in 0..LOOKS {
            // In the order in which a message goes from place to place.
            match self.find(name)? {
                Some(Found::Waiting) => return Ok(Fate::Waiting),
                Some(Found::Claimed { claim, lives }) => {
                    let recorded = if lives { None } else { self.recorded(name, since)? };
                    return Ok(recorded.map_or(Fate::Claimed { by: claim.owner(), lives }, Fate::Recorded));
                }
                None => {}
            }
            if let Some(recorded) = self.recorded(name, since)? {
                return Ok(Fate::Recorded(recorded));
            }
            if let Some(aside) = self.aside(name)? {
                return Ok(aside);
            }
        }
        Ok(Fate::Gone)
    }

    /// A message that is still in the inbox, taken or not.
    fn find(&self, name: &OsStr) -> Result<Option<Found>> {
        if is_name(name) && !matches!(look(&self.dir()?.join(name)), Content::NotOurs) {
            return Ok(Some(Found::Waiting));
        }
        let claim = self.claim_names()?.into_iter().find(|claim| name_of(&claim.id) == Path::new(name));
        let Some(claim) = claim else { return Ok(None) };
        let lives = Lives::default().owner_of(&claim)?;
        Ok(Some(Found::Claimed { claim, lives }))
    }

    /// Every message that is still in the inbox, with where it is: those that somebody has taken, then those that wait.
    /// Nothing is changed.
    ///
    /// # Errors
    /// [`StoreError::Read`], [`StoreError::Process`].
    pub fn undelivered(&self) -> Result<Vec<(Pending, Fate)>> {
        let mut lives = Lives::default();
        let mut found = Vec::new();
        let claims = self.claims()?;
        for claim in self.claim_names()? {
            let message = match look(&claims.join(claim.to_string())) {
                Content::NotOurs => continue,
                Content::Message(message) => Some(message),
                Content::MayBeWritten | Content::Unfit(_) => None,
            };
            let fate = Fate::Claimed { by: claim.owner(), lives: lives.owner_of(&claim)? };
            found.push((Pending { name: name_of(&claim.id).into(), message }, fate));
        }
        found.extend(self.list()?.into_iter().map(|pending| (pending, Fate::Waiting)));
        Ok(found)
    }

    /// The file of a message that nobody will record who has not taken it first: that of one that waits, or of a claim
    /// whose owner died before it recorded it. Who takes it renames it.
    pub(super) fn waiting_path(&self, name: &OsStr, since: Mark) -> Result<Option<PathBuf>> {
        Ok(match self.find(name)? {
            Some(Found::Waiting) => Some(self.dir()?.join(name)),
            Some(Found::Claimed { claim, lives: false }) if self.recorded(name, since)?.is_none() => {
                Some(self.claims()?.join(claim.to_string()))
            }
            Some(Found::Claimed { .. }) | None => None,
        })
    }

    fn recorded(&self, name: &OsStr, since: Mark) -> Result<Option<Recorded>> {
        let history = HistoryView::open(&self.paths, Limits::default())?;
        let since = if history.identity() == since.file { since.offset } else { 0 };
        for item in history.backwards()? {
            match item.map_err(StoreError::read(history.path()))? {
                Item::Defect(_) => {}
                Item::Record(record) if record.place.offset < since => break,
                Item::Record(record) => {
                    let id = inbox_ids(&record.event).into_iter().find(|id| name_of(id) == Path::new(name));
                    if let Some(id) = id {
                        return Ok(Some(Recorded { id, offset: record.place.offset }));
                    }
                }
            }
        }
        Ok(None)
    }

    fn aside(&self, name: &OsStr) -> Result<Option<Fate>> {
        let Some(name) = name.to_str() else { return Ok(None) };
        let dir = self.failed()?;
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::read(&dir)(error)),
        };
        for entry in entries {
            let path = entry.map_err(StoreError::read(&dir))?.path();
            let kept = path.file_name().and_then(|kept| kept.to_str()).unwrap_or_default();
            if kept.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && rest.len() == SUFFIX) {
                // It is written after the move, and may be missing.
                let reason = fs::read_to_string(reason_path(&path)).unwrap_or_default();
                let why =
                    reason.trim_end().rsplit_once(NOT_DELIVERED).map_or_else(String::new, |(_, why)| why.to_owned());
                return Ok(Some(Fate::SetAside { path, why }));
            }
        }
        Ok(None)
    }

    /// Takes back a message that nobody has recorded: one that waits, or whose taker died. `None`: there is none of that
    /// name, or somebody has taken it: [`Inbox::fate`] knows more.
    ///
    /// On disk when it returns: the file is gone, synced with the durability of data. Taking back and taking are one
    /// operation of the kernel each, so that only one of the two happens.
    ///
    /// # Errors
    /// [`StoreError::Disk`]: the message is still there; [`StoreError::Read`], [`StoreError::Process`].
    pub fn cancel(&self, name: &OsStr) -> Result<Option<Pending>> {
        let Some(path) = self.waiting_path(name, Mark::default())? else { return Ok(None) };
        let message = match look(&path) {
            Content::NotOurs => return Ok(None),
            Content::Message(message) => Some(message),
            Content::MayBeWritten | Content::Unfit(_) => None,
        };
        if !was_there(remove_file(&path))? {
            return Ok(None);
        }
        path.parent().map_or(Ok(()), |dir| self.sync_dir(dir))?;
        Ok(Some(Pending { name: name.to_owned(), message }))
    }
}

/// Whether a text is a name that a message of the inbox can have: one component, not hidden.
fn is_name(name: &OsStr) -> bool {
    let mut components = Path::new(name).components();
    let is_one =
        matches!((components.next(), components.next()), (Some(Component::Normal(part)), None) if part == name);
    is_one && !name.as_encoded_bytes().starts_with(b".")
}
