//! Opening and creating sessions, and what can be had of one without that.

use crate::chain::{self, Member};
use crate::create::{self, NewSession};
use crate::meta::{self, MetaReading};
use crate::{Inbox, LockGuard, Result, Session, Store, StoreError, lock, processes};
use session_core::SessionName;
use session_proc::{ProcError, ProcessId, Registry};

impl Store {
    /// Creates a session and claims its name, in one step: it exists whole or not at all.
    ///
    /// On disk when it returns: the session's directory with its metadata, synced as the durability says, and no
    /// history; the store's directory where it was missing.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the name is taken; the step that failed otherwise.
    #[doc(alias = "GenerateSessionName")]
    pub fn create(&self, new: &NewSession) -> Result<Session> {
        let name = create::create(self, new)?;
        self.session(Member { paths: self.existing(&name)?, name, dangling: None })
    }

    /// Opens a session that exists, or the one that goes on with it: links to successors are followed. Where such a link
    /// leads nowhere, the last session that exists is opened: see [`Session::dangling_successor`].
    ///
    /// A session that is a flat file from before sessions were directories is migrated. Otherwise nothing is created and
    /// nothing changes.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::SuccessorLoop`] and [`StoreError::ChainTooLong`]; [`StoreError::Escapes`]
    /// where the name is a symbolic link; [`StoreError::Read`].
    pub fn open(&self, name: &SessionName) -> Result<Session> {
        self.session(chain::last_member(self, name)?)
    }

    /// Opens a session that exists, and not the one that goes on with it.
    ///
    /// A session that is a flat file from before sessions were directories is migrated. Otherwise nothing is created and
    /// nothing changes.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Escapes`] where the name is a symbolic link; [`StoreError::Read`].
    pub fn open_exactly(&self, name: &SessionName) -> Result<Session> {
        self.session(Member { paths: self.ready(name)?, name: name.clone(), dangling: None })
    }

    /// Opens a session, and creates it where it does not exist, as the reference's `Open` does.
    ///
    /// On disk when it returns: the session with its directories and its metadata.
    ///
    /// # Errors
    /// Those of [`Store::open`] but for `NotFound`, and those of [`Store::create`] but for `Exists`.
    #[doc(alias = "Open")]
    pub fn open_or_create(&self, name: &SessionName) -> Result<Session> {
        match self.open(name) {
            Err(StoreError::NotFound { .. }) => {}
            opened => {
                let session = opened?;
                session.complete()?;
                return Ok(session);
            }
        }
        match self.create(&NewSession { name: Some(name.clone()), ..NewSession::default() }) {
            // Another process was faster.
            Err(StoreError::Exists { .. }) => self.open(name),
            created => created,
        }
    }

    pub(crate) fn session(&self, member: Member) -> Result<Session> {
        let (name, paths, clock) = (member.name.to_string(), member.paths, self.clock().clone());
        let session = Session::new(name, paths, *self.options(), clock, member.dangling)?;
        Ok(session.with_redaction(self.redaction().clone()))
    }

    /// A session's metadata, without opening it. Links to successors are not followed, nothing is created.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Escapes`], [`StoreError::Read`]. Bad content is no error.
    #[doc(alias = "ReadMeta")]
    pub fn read_meta(&self, name: &SessionName) -> Result<MetaReading> {
        meta::read(&self.existing(name)?, name.as_str(), self.options().limits)
    }

    /// The messages that wait for a session's turn. The session is not opened, and nothing is created.
    ///
    /// # Errors
    /// [`StoreError::Escapes`] where a symbolic link has the name.
    #[doc(alias = "InboxDirFor")]
    pub fn inbox(&self, name: &SessionName) -> Result<Inbox> {
        Ok(Inbox::new(self.paths(name)?, name.as_str(), self.options().durability))
    }

    /// The background processes of a session. The session is not opened, and nothing is created.
    ///
    /// # Errors
    /// [`StoreError::Escapes`] where a symbolic link has the name, or stands in the place of the records.
    pub fn registry(&self, name: &SessionName) -> Result<Registry> {
        processes::registry(&self.paths(name)?)
    }

    /// The registry that has a background process: that of the session, or else that of the last session that it goes on
    /// with and that has one of this id. Where none has, the session's own. Nothing is created.
    ///
    /// # Errors
    /// As [`Store::registries`].
    pub fn registry_of(&self, name: &SessionName, id: &ProcessId) -> Result<(SessionName, Registry)> {
        let mut registries = self.registries(name)?;
        let has = |registry: &Registry| !matches!(registry.look(id), Err(ProcError::NoProcess { .. }));
        let at = registries.iter().position(|(_, registry)| has(registry)).unwrap_or_default();
        Ok(registries.swap_remove(at))
    }

    /// The background processes of a session, and of those that it goes on with, the last one first: a compaction leaves
    /// processes where they were started. Nothing is created.
    ///
    /// # Errors
    /// As [`Store::registry`]; failed reads.
    pub fn registries(&self, name: &SessionName) -> Result<Vec<(SessionName, Registry)>> {
        let paths = self.paths(name)?;
        let mut registries = vec![(name.clone(), processes::registry(&paths)?)];
        for (name, paths) in chain::predecessors(&paths, name.as_str(), self.options().limits)? {
            registries.push((name, processes::registry(&paths)?));
        }
        Ok(registries)
    }

    /// Takes the lock of a session, without opening it. Links to successors are not followed.
    ///
    /// # Errors
    /// As [`Session::lock`], and [`StoreError::NotFound`].
    #[doc(alias = "AcquireLock")]
    pub fn lock(&self, name: &SessionName) -> Result<LockGuard> {
        lock::acquire(&self.existing(name)?, name.as_str(), self.options().wait)
    }
}
