//! The session's inbox, its background processes, and its place for output that is too large for a message.

use crate::chain::predecessors;
use crate::{Access, Drained, Drainer, HistoryView, Inbox, Result, Session, Spill, processes, recorded_inbox_ids};
use session_proc::{Identity, Registry};

impl Session {
    /// Messages for the running turn.
    pub fn inbox(&self) -> Inbox {
        Inbox::new(self.paths.clone(), &self.name, self.options.durability)
    }

    /// The session's background processes. Name a supervisor before anything is started
    /// ([`Registry::with_supervisor`](session_proc::Registry::with_supervisor)): as a rule the agent's own program, under
    /// a verb that nobody types.
    ///
    /// ```no_run
    /// use session_proc::{Start, Supervisor, supervise};
    /// use session_store::{NewSession, Store};
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     // First, while there is one thread.
    ///     let mut args = std::env::args_os().skip(1);
    ///     if args.next().is_some_and(|verb| verb == "__supervise") {
    ///         return Ok(supervise(args)?);
    ///     }
    ///     let session = Store::open_default()?.create(&NewSession::default())?;
    ///     let supervisor = Supervisor::new(std::env::current_exe()?, ["__supervise"]);
    ///     let registry = session.registry()?.with_supervisor(supervisor);
    ///     registry.start(&Start::new("exec make watch", "/w").name("watch"))?;
    ///     Ok(())
    /// }
    /// ```
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
    /// What waits in a session that this one goes on with is taken too: a message that came too late for it is for this one.
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
        let access = if held.is_some() { Access::LockHolder } else { access };
        if let Some(drainer) = inbox.drainer(access, caller)? {
            return self.claim(&inbox, &drainer);
        }
        let lock = self.lock()?;
        // A turn may have started, and ended, since: now nobody else can be draining.
        let drained = match inbox.drainer(Access::LockHolder, caller)? {
            Some(drainer) => self.claim(&inbox, &drainer),
            None => Ok(Drained::default()),
        };
        match (drained, lock.release()) {
            // What was taken is taken: a caller that did not learn of it could not record it.
            (Ok(drained), Err(error)) if !drained.is_empty() => {
                Ok(Drained { error: drained.error.or(Some(error)), ..drained })
            }
            (drained, released) => drained.and_then(|drained| released.map(|()| drained)),
        }
    }

    fn claim(&self, inbox: &Inbox, drainer: &Drainer) -> Result<Drained> {
        let adopted = self.adopt(inbox);
        let mut drained = inbox.claim(drainer, |ids| recorded_inbox_ids(&self.view()?, ids))?;
        // What was left behind elsewhere must not keep anybody from what waits here.
        drained.error = drained.error.or(adopted.err());
        Ok(drained)
    }

    /// Takes what was left behind in the sessions that this one goes on with.
    pub(crate) fn adopt(&self, inbox: &Inbox) -> Result<()> {
        for (name, paths) in predecessors(&self.paths, &self.name, self.options.limits)? {
            let recorded = |ids: &_| recorded_inbox_ids(&HistoryView::open(&paths, self.options.limits)?, ids);
            inbox.adopt(&Inbox::new(paths.clone(), name.as_str(), self.options.durability), recorded)?;
        }
        Ok(())
    }
}
