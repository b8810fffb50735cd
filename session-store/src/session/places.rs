//! The session's inbox, its background processes, and its place for output that is too large for a message.

use crate::{Access, Drained, Inbox, Result, Session, Spill, processes, recorded_inbox_ids};
use session_proc::{Identity, Registry};

impl Session {
    /// Messages for the running turn.
    pub fn inbox(&self) -> Inbox {
        Inbox::new(self.paths.clone(), &self.name, self.options.durability)
    }

    /// The session's background processes. Name a supervisor before anything is started:
    /// [`Registry::with_supervisor`](session_proc::Registry::with_supervisor).
    ///
    /// # Errors
    /// [`crate::StoreError::Escapes`] where a symbolic link stands in the place of their records.
    pub fn registry(&self) -> Result<Registry> {
        processes::registry(&self.paths)
    }

    /// The place for tool output that is too large for a message.
    pub fn spill(&self) -> Spill {
        Spill::new(self.paths.clone(), &self.name, self.options.durability)
    }

    /// Takes the messages that wait in the inbox, for this process. Who may: the holder of the session's lock through this
    /// handle, or a process of the live turn; where no turn is live, the lock is taken for the time of this call.
    ///
    /// The caller appends each message with its id ([`crate::record_inbox_ids`]) and acknowledges it then
    /// ([`Inbox::acknowledge`]). If it dies before, the message is handed out again.
    ///
    /// On disk when it returns: see [`Inbox::claim`].
    ///
    /// # Errors
    /// [`crate::StoreError::NotOfTheTurn`] where the live turn is another's; as [`Session::lock`]; as [`Inbox::claim`].
    pub fn drain_inbox(&self) -> Result<Drained> {
        self.drain_inbox_for(&Identity::own()?, Access::Turn)
    }

    /// The same on behalf of another process: outside of a turn, what is taken belongs to `caller`, which goes on with it
    /// after this process has ended. [`Access::Forced`] takes also what is another turn's.
    ///
    /// # Errors
    /// As [`Session::drain_inbox`].
    pub fn drain_inbox_for(&self, caller: &Identity, access: Access) -> Result<Drained> {
        self.verify()?;
        let held = self.held_now();
        held.as_ref().map_or(Ok(()), |held| held.check())?;
        let inbox = self.inbox();
        let recorded = |ids: &_| recorded_inbox_ids(&self.view()?, ids);
        let access = if held.is_some() { Access::LockHolder } else { access };
        if let Some(drainer) = inbox.drainer(access, caller)? {
            return inbox.claim(&drainer, recorded);
        }
        let lock = self.lock()?;
        // A turn may have started, and ended, since: now nobody else can be draining.
        let drained = match inbox.drainer(Access::LockHolder, caller)? {
            Some(drainer) => inbox.claim(&drainer, recorded),
            None => Ok(Drained::default()),
        };
        lock.release()?;
        drained
    }
}
