//! Taking messages out of the inbox.

use super::claims::{ClaimName, Lives, name_of, new_id};
use super::entry::{Content, Failed, look, names};
use super::{Inbox, InboxMessage};
use crate::{Result, StoreError};
use chrono::Utc;
use session_core::layout::{CLAIMS, INBOX};
use session_disk::{remove_file, rename};
use session_proc::{Identity, TurnMarker};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;

/// By what right a process takes messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It holds the session's lock.
    LockHolder,
    /// It is the process of the live turn, or descends from it.
    Turn,
    /// A person has said so.
    Forced,
}

/// A process that may take messages, and whose they are until they are acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drainer {
    owner: Identity,
    /// The id of the live turn.
    turn: Option<String>,
}

/// About how many bytes of messages one [`Inbox::claim`] hands out, so that what a sender piles up does not fill the
/// memory.
const CLAIM_BYTES: usize = 8 << 20;

/// A message that was taken. It is to be appended to the history with its id, and then acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claimed {
    /// The id of this message, and of no other.
    pub id: String,
    /// What it says.
    pub message: InboxMessage,
}

/// What [`Inbox::claim`] found.
#[derive(Debug, Default)]
#[must_use = "the messages are claimed, and wait for their record and their acknowledgement"]
pub struct Drained {
    /// The messages, in order: those that another had taken and never recorded, then those that waited, by name.
    pub messages: Vec<Claimed>,
    /// Files that were moved aside because they cannot be delivered.
    pub failed: Vec<Failed>,
    /// Ids of messages that another had taken and recorded before it died. They were removed.
    pub recorded: Vec<String>,
    /// Whether messages were left for the next call because these are many.
    pub has_more: bool,
    /// Why it ended early. What is above was done all the same; the rest still waits.
    pub error: Option<StoreError>,
    /// How many bytes the messages have.
    pub(crate) bytes: usize,
}

impl Drained {
    fn push(&mut self, claimed: Claimed) {
        self.bytes += claimed.message.text.len();
        self.messages.push(claimed);
    }

    /// Whether the rest is for the next call. Asked where there is a rest.
    fn is_full(&mut self) -> bool {
        self.has_more |= self.bytes >= CLAIM_BYTES;
        self.has_more
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.failed.is_empty() && self.recorded.is_empty() && self.error.is_none()
    }
}

impl Inbox {
    /// Says whether this process may take messages by that right. `None`: there is no live turn that it could belong to,
    /// so it needs the session's lock.
    ///
    /// What a process of the live turn takes belongs to the turn. Otherwise it belongs to `caller`: this process, or the
    /// one on whose behalf it runs, if that is the one that will go on with the message.
    ///
    /// # Errors
    /// [`StoreError::NotOfTheTurn`] for [`Access::Turn`] where the live turn is another's, [`StoreError::Process`].
    pub fn drainer(&self, access: Access, caller: &Identity) -> Result<Option<Drainer>> {
        let live = TurnMarker::read(&self.paths.proc())?;
        let turn = live.as_ref().and_then(|turn| turn.turn_id.clone());
        if let Some(process) = live.as_ref().and_then(|turn| turn.process.as_ref())
            && process.is_or_begot_this_process()?
        {
            return Ok(Some(Drainer { owner: process.clone(), turn }));
        }
        match (access, live) {
            (Access::LockHolder | Access::Forced, _) => Ok(Some(Drainer { owner: caller.clone(), turn })),
            (Access::Turn, None) => Ok(None),
            (Access::Turn, Some(live)) => Err(StoreError::NotOfTheTurn { name: self.name.clone(), pid: live.pid }),
        }
    }

    /// Takes all messages that wait, and those whose taker died; if they are very many, the first of them
    /// ([`Drained::has_more`]). A message that has expired, or is for another turn, is moved aside instead.
    ///
    /// `recorded` is asked at most once, with the ids of the latter: those that it returns are in the history and are
    /// not handed out again. [`super::recorded_inbox_ids`] knows.
    ///
    /// On disk when it returns: each message under the name of its claim; with the durability of data the directories
    /// are synced, so that a message that is recorded from here on does not wait again after a power cut.
    ///
    /// # Errors
    /// What kept it from doing anything. Once it has done something, an error is part of the result.
    pub fn claim(
        &self,
        drainer: &Drainer,
        recorded: impl FnOnce(&BTreeSet<String>) -> Result<BTreeSet<String>>,
    ) -> Result<Drained> {
        let mut drained = Drained::default();
        let done = self
            .take_over(drainer, recorded, &mut drained)
            .and_then(|()| self.take(drainer, &mut drained))
            .and_then(|()| self.sync_claims(&drained));
        match done {
            Err(error) if drained.is_empty() => Err(error),
            Err(error) => Ok(Drained { error: Some(error), ..drained }),
            Ok(()) => Ok(drained),
        }
    }

    /// The claims of the dead.
    fn take_over(
        &self,
        drainer: &Drainer,
        recorded: impl FnOnce(&BTreeSet<String>) -> Result<BTreeSet<String>>,
        drained: &mut Drained,
    ) -> Result<()> {
        let mut lives = Lives::default();
        let mut orphans = Vec::new();
        for claim in self.claim_names()? {
            if !lives.owner_of(&claim)? {
                orphans.push(claim);
            }
        }
        if orphans.is_empty() {
            return Ok(());
        }
        let recorded = recorded(&orphans.iter().map(|claim| claim.id.clone()).collect())?;
        let claims = self.claims()?;
        for orphan in orphans {
            let from = claims.join(orphan.to_string());
            if recorded.contains(&orphan.id) {
                if was_there(remove_file(&from))? {
                    drained.recorded.push(orphan.id);
                }
                continue;
            }
            if drained.is_full() {
                continue;
            }
            let mine = ClaimName::new(orphan.id, &drainer.owner);
            // The name is this process's alone, so nothing is replaced.
            if was_there(rename(&from, &claims.join(mine.to_string())))? {
                self.hand_out(mine, None, drainer, drained)?;
            }
        }
        Ok(())
    }

    /// What waits.
    fn take(&self, drainer: &Drainer, drained: &mut Drained) -> Result<()> {
        let (dir, mut claims) = (self.dir()?, None);
        for name in names(&dir)? {
            if drained.is_full() {
                break;
            }
            let from = dir.join(&name);
            match look(&from) {
                Content::NotOurs | Content::MayBeWritten => {}
                Content::Unfit(why) => drained.failed.extend(self.set_aside(&from, &name, why)?),
                Content::Message(_) => {
                    let claims = match &mut claims {
                        Some(claims) => claims,
                        none => none.insert(self.make_dir(&[INBOX, CLAIMS])?),
                    };
                    let claim = ClaimName::new(new_id(&name), &drainer.owner);
                    // No other claim has this id, so nothing is replaced; and of two who want the message one gets it.
                    if was_there(rename(&from, &claims.join(claim.to_string())))? {
                        self.hand_out(claim, Some(name), drainer, drained)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a message that is this process's now. Only what is read here is handed out: before, it could change.
    fn hand_out(
        &self,
        claim: ClaimName,
        name: Option<OsString>,
        drainer: &Drainer,
        drained: &mut Drained,
    ) -> Result<()> {
        let path = self.claims()?.join(claim.to_string());
        let why = match look(&path) {
            Content::Message(message) => {
                match message.terms.broken(&Utc::now().fixed_offset(), drainer.turn.as_deref()) {
                    None => {
                        drained.push(Claimed { id: claim.id, message });
                        return Ok(());
                    }
                    Some(why) => why,
                }
            }
            Content::MayBeWritten => return self.give_back(&claim),
            Content::NotOurs => return Ok(()),
            Content::Unfit(why) => why,
        };
        let name = name.unwrap_or_else(|| name_of(&claim.id).into());
        drained.failed.extend(self.set_aside(&path, &name, why)?);
        Ok(())
    }

    fn sync_claims(&self, drained: &Drained) -> Result<()> {
        if !drained.messages.is_empty() {
            self.sync_dir(&self.claims()?)?;
            self.sync_dir(&self.dir()?)?;
        }
        Ok(())
    }
}

/// Whether the file was there for what was done to it.
pub(super) fn was_there(done: Result<(), session_disk::DiskError>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}
