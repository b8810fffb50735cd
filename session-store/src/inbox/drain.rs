//! Taking messages out of the inbox.

use super::claims::{ClaimName, name_of, new_id};
use super::entry::{Content, Failed, look, names};
use super::{Inbox, InboxMessage, NAMES};
use crate::{Result, StoreError};
use session_disk::{publish, remove_file, rename};
use session_proc::{Identity, TurnMarker};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::process;

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
}

/// A message that was taken. It is to be appended to the history with its id, and then acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The id of this message, and of no other.
    pub id: String,
    /// What it says.
    pub message: InboxMessage,
}

/// What [`Inbox::claim`] found.
#[derive(Debug, Default)]
pub struct Drained {
    /// The messages, in order: those that another had taken and never recorded, then those that waited, by name.
    pub messages: Vec<Claimed>,
    /// Files that were moved aside because they cannot be delivered.
    pub failed: Vec<Failed>,
    /// Ids of messages that another had taken and recorded before it died. They were removed.
    pub recorded: Vec<String>,
    /// Why it ended early. What is above was done all the same; the rest still waits.
    pub error: Option<StoreError>,
}

impl Drained {
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
        let turn = TurnMarker::read(&self.paths.proc())?;
        let own_pid = i32::try_from(process::id()).unwrap_or(i32::MAX);
        if let Some(process) = turn.as_ref().and_then(|turn| turn.process.as_ref())
            && process.is_or_begot(own_pid)?
        {
            return Ok(Some(Drainer { owner: process.clone() }));
        }
        match (access, turn) {
            (Access::LockHolder | Access::Forced, _) => Ok(Some(Drainer { owner: caller.clone() })),
            (Access::Turn, None) => Ok(None),
            (Access::Turn, Some(turn)) => Err(StoreError::NotOfTheTurn { name: self.name.clone(), pid: turn.pid }),
        }
    }

    /// Takes all messages that wait, and those whose taker died.
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
        let mut orphans = Vec::new();
        for claim in self.claim_names()? {
            if !claim.owner().liveness()?.is_live() {
                orphans.push(claim);
            }
        }
        if orphans.is_empty() {
            return Ok(());
        }
        let recorded = recorded(&orphans.iter().map(|claim| claim.id.clone()).collect())?;
        for orphan in orphans {
            let from = self.claims().join(orphan.to_string());
            if recorded.contains(&orphan.id) {
                if was_there(remove_file(&from))? {
                    drained.recorded.push(orphan.id);
                }
                continue;
            }
            let mine = ClaimName::new(orphan.id, &drainer.owner);
            // The name is this process's alone, so nothing is replaced.
            if was_there(rename(&from, &self.claims().join(mine.to_string())))? {
                self.hand_out(mine, None, drained)?;
            }
        }
        Ok(())
    }

    /// What waits.
    fn take(&self, drainer: &Drainer, drained: &mut Drained) -> Result<()> {
        let mut has_claims = false;
        for name in names(&self.dir())? {
            let from = self.dir().join(&name);
            match look(&from) {
                Content::NotOurs | Content::MayBeWritten => {}
                Content::Unfit(why) => drained.failed.extend(self.set_aside(&from, &name, why)?),
                Content::Message(_) => {
                    if !std::mem::replace(&mut has_claims, true) {
                        self.make_dir(&self.claims(), &self.dir())?;
                    }
                    let claim = ClaimName::new(new_id(&name), &drainer.owner);
                    if was_there(publish(&from, &self.claims().join(claim.to_string())))? {
                        self.hand_out(claim, Some(name), drained)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a message that is this process's now. Only what is read here is handed out: before, it could change.
    fn hand_out(&self, claim: ClaimName, name: Option<OsString>, drained: &mut Drained) -> Result<()> {
        let path = self.claims().join(claim.to_string());
        match look(&path) {
            Content::Message(message) => drained.messages.push(Claimed { id: claim.id, message }),
            Content::MayBeWritten => self.give_back(&claim)?,
            Content::NotOurs => {}
            Content::Unfit(why) => {
                let name = name.unwrap_or_else(|| name_of(&claim.id).into());
                drained.failed.extend(self.set_aside(&path, &name, why)?);
            }
        }
        Ok(())
    }

    fn sync_claims(&self, drained: &Drained) -> Result<()> {
        if !drained.messages.is_empty() {
            self.sync_dir(&self.claims())?;
            self.sync_dir(&self.dir())?;
        }
        Ok(())
    }

    /// Removes messages that the history has recorded.
    ///
    /// On disk when it returns: the files are gone. That is not synced: a message that comes back after a power cut is
    /// found in the history.
    ///
    /// # Errors
    /// [`StoreError::NoSuchClaim`] for an id that names no claimed message, after all others were removed;
    /// [`StoreError::Disk`].
    pub fn acknowledge<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let claims = self.claim_names()?;
        let mut missing = None;
        for id in ids {
            let claim = claims.iter().find(|claim| claim.id == id);
            let removed = match claim {
                Some(claim) => was_there(remove_file(&self.claims().join(claim.to_string())))?,
                None => false,
            };
            if !removed {
                missing.get_or_insert(id);
            }
        }
        missing.map_or(Ok(()), |id| Err(self.no_such_claim(id)))
    }

    /// Lets a claimed message wait again, for a caller that cannot record it after all.
    ///
    /// On disk when it returns: the message, in the inbox; synced with the durability of data.
    ///
    /// # Errors
    /// [`StoreError::NoSuchClaim`], [`StoreError::Disk`].
    pub fn release(&self, id: &str) -> Result<()> {
        let claims = self.claim_names()?;
        let claim = claims.iter().find(|claim| claim.id == id).ok_or_else(|| self.no_such_claim(id))?;
        self.give_back(claim)?;
        self.sync_dir(&self.dir())?;
        Ok(self.sync_dir(&self.claims())?)
    }

    fn give_back(&self, claim: &ClaimName) -> Result<()> {
        let from = self.claims().join(claim.to_string());
        let mut name = name_of(&claim.id).to_owned();
        for _ in 0..NAMES {
            match publish(&from, &self.dir().join(&name)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // It has waited longest: it comes first.
                    name = super::delivered_name(Some(0)).into();
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(self.no_such_claim(&claim.id)),
                given_back => return Ok(given_back?),
            }
        }
        Err(self.no_such_claim(&claim.id))
    }

    fn no_such_claim(&self, id: &str) -> StoreError {
        StoreError::NoSuchClaim { id: id.to_owned(), path: self.claims() }
    }

    /// The claims, by id.
    fn claim_names(&self) -> Result<Vec<ClaimName>> {
        let names = names(&self.claims())?;
        let mut claims: Vec<ClaimName> =
            names.iter().map(OsString::as_os_str).filter_map(|name: &OsStr| ClaimName::parse(name)).collect();
        claims.sort();
        Ok(claims)
    }
}

/// Whether the file was there for what was done to it.
fn was_there(done: Result<(), session_disk::DiskError>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}
