//! The inbox and the spilled output of an open session.

use crate::{Access, Drained, Inbox, Result, Session, Spill, Store, recorded_inbox_ids};
use session_core::SessionName;
use session_proc::Identity;

impl Session {
    /// The messages that wait for the session's turn.
    #[doc(alias = "InboxDir")]
    pub fn inbox(&self) -> Inbox {
        Inbox::new(self.paths.clone(), &self.name, self.options.durability)
    }

    /// Where output goes that is too large for a message.
    #[doc(alias = "TmpDir")]
    pub fn spill(&self) -> Spill {
        Spill::new(self.paths.clone(), &self.name, self.options.durability)
    }

    /// Takes the messages that wait, and those that a process took and died before it recorded them. Each is to be
    /// appended with its id ([`crate::record_inbox_ids`]) and then acknowledged ([`Inbox::acknowledge`]).
    ///
    /// During a live turn the turn's process and those that descend from it may do this, and what they take belongs to
    /// the turn. Otherwise it takes the session's lock, unless this handle holds it, and what is taken belongs to
    /// `caller`: as a rule this process.
    ///
    /// On disk when it returns: each message under the name of its claim, synced as the durability says.
    ///
    /// # Errors
    /// [`crate::StoreError::NotOfTheTurn`] where the live turn is another's, unless forced; [`crate::StoreError::Locked`];
    /// [`crate::StoreError::Deleted`]; what kept it from doing anything.
    pub fn drain(&self, access: Access, caller: &Identity) -> Result<Drained> {
        let inbox = self.inbox();
        let access = if self.held_now().is_some() { Access::LockHolder } else { access };
        let (drainer, _lock) = match inbox.drainer(access, caller)? {
            Some(drainer) => (Some(drainer), None),
            None => {
                let lock = self.lock()?;
                (inbox.drainer(Access::LockHolder, caller)?, Some(lock))
            }
        };
        match drainer {
            Some(drainer) => inbox.claim(&drainer, |wanted| recorded_inbox_ids(&self.view()?, wanted)),
            None => Ok(Drained::default()),
        }
    }
}

impl Store {
    /// The messages that wait for a session's turn. The session is not opened, and nothing is created.
    ///
    /// # Errors
    /// [`crate::StoreError::Escapes`] where a symbolic link has the name.
    #[doc(alias = "InboxDirFor")]
    pub fn inbox(&self, name: &SessionName) -> Result<Inbox> {
        Ok(Inbox::new(self.paths(name)?, name.as_str(), self.options().durability))
    }
}
