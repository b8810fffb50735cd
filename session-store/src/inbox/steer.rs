//! Sending a message to a running turn, and waiting for what becomes of it.

use super::fate::Mark;
use super::{Fate, Inbox, InboxMessage, Recorded, Terms, Unfit};
use crate::{HistoryView, Result};
use chrono::{TimeDelta, Utc};
use session_core::Limits;
use session_proc::{LiveTurn, TurnMarker, Wake};
use std::ffi::OsStr;
use std::time::{Duration, Instant};

/// A message that was delivered, and what is needed to say what has become of it.
///
/// ```
/// use session_core::Message;
/// use session_store::{InboxMessage, NewSession, Outcome, Store, USER_LINE, Waited};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scratch = tempfile::tempdir()?;
/// # let session = Store::open_at(scratch.path().join("sessions")).create(&NewSession::default())?;
/// let sent = session.inbox().steer(InboxMessage::now(USER_LINE, "use tabs"))?;
/// assert_eq!(sent.outcome()?, Outcome::Queued);
///
/// session.steering().take()?;
/// assert!(matches!(sent.wait(None)?, Waited::Settled(Outcome::Delivered(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Sent {
    inbox: Inbox,
    name: String,
    message: InboxMessage,
    /// The end of the history before.
    since: Mark,
}

/// What has become of a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It waits for the running turn, or for the next one, to take it.
    Queued,
    /// A live process has taken it and not said that the history has it.
    Claimed {
        /// Its pid.
        pid: i32,
    },
    /// The history has it.
    Delivered(Recorded),
    /// Nobody took it on its terms, and nobody will.
    Expired {
        /// Why.
        why: String,
    },
    /// It could not be given out, and was moved aside.
    Failed {
        /// Why.
        why: String,
    },
    /// There is no trace of it: see [`Fate::Gone`].
    Gone,
}

/// Why a waiting ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waited {
    /// It is decided what becomes of the message.
    Settled(Outcome),
    /// No turn is live, and the message still waits.
    NoTurn(Outcome),
    /// The time is over, and it is not decided.
    TimedOut(Outcome),
}

impl Waited {
    /// What has become of the message by then.
    pub fn outcome(&self) -> &Outcome {
        match self {
            Waited::Settled(outcome) | Waited::NoTurn(outcome) | Waited::TimedOut(outcome) => outcome,
        }
    }
}

impl Inbox {
    /// Delivers a message as [`Inbox::deliver`] does, and keeps what is needed to say what becomes of it.
    ///
    /// # Errors
    /// As [`Inbox::deliver`]; [`crate::StoreError::Read`] where the history cannot be read. Nothing was delivered.
    pub fn steer(&self, message: InboxMessage) -> Result<Sent> {
        let since = Mark::end_of(&HistoryView::open(&self.paths, Limits::default())?)?;
        let name = self.deliver(&message)?;
        Ok(Sent { inbox: self.clone(), name, message, since })
    }

    fn live_turn(&self) -> Result<Option<LiveTurn>> {
        Ok(TurnMarker::read(&self.paths.proc())?)
    }
}

impl Sent {
    /// The name under which the message was delivered. The id in the history begins with it.
    pub fn id(&self) -> &str {
        &self.name
    }

    /// What has become of the message by now. One that waits against its terms is moved aside by this.
    ///
    /// # Errors
    /// As [`Inbox::fate`]; [`crate::StoreError::Disk`].
    pub fn outcome(&self) -> Result<Outcome> {
        self.outcome_in(self.inbox.live_turn()?.as_ref())
    }

    /// Waits until the message is acknowledged, or it is decided that it will not be; at most so long.
    ///
    /// It ends too when no turn is live and the message waits: nobody would take it. [`Sent::wait_for_any_turn`] goes on.
    /// The waiting blocks in the kernel.
    ///
    /// # Errors
    /// As [`Sent::outcome`].
    pub fn wait(&self, at_most: Option<Duration>) -> Result<Waited> {
        self.wait_while(at_most, |turn| turn.is_some())
    }

    /// The same, also while no turn is live: until a later one has taken the message.
    ///
    /// # Errors
    /// As [`Sent::outcome`].
    pub fn wait_for_any_turn(&self, at_most: Option<Duration>) -> Result<Waited> {
        self.wait_while(at_most, |_| true)
    }

    fn wait_while(&self, at_most: Option<Duration>, is_hope: impl Fn(Option<&LiveTurn>) -> bool) -> Result<Waited> {
        let end = at_most.and_then(|at_most| Instant::now().checked_add(at_most));
        let mut wake = Wake::new();
        loop {
            // Watched first, then looked at: what happens in between wakes. The turn before the message: what a turn takes
            // before it ends is seen to be taken.
            self.watch(&mut wake);
            let turn = self.inbox.live_turn()?;
            if let Some(process) = turn.as_ref().and_then(|turn| turn.process.as_ref()) {
                wake.on_end_of(process)?;
            }
            let outcome = self.outcome_in(turn.as_ref())?;
            match outcome {
                Outcome::Queued if !is_hope(turn.as_ref()) => return Ok(Waited::NoTurn(outcome)),
                Outcome::Queued | Outcome::Claimed { .. } => {}
                Outcome::Delivered(_) | Outcome::Expired { .. } | Outcome::Failed { .. } | Outcome::Gone => {
                    return Ok(Waited::Settled(outcome));
                }
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Waited::TimedOut(outcome));
            }
            wake.wait([left, self.until_expiry()].into_iter().flatten().min())?;
        }
    }

    /// What changes with the message, and with the turn. Directories may come while this waits.
    fn watch(&self, wake: &mut Wake) {
        let own = [self.inbox.dir(), self.inbox.claims()].into_iter().flatten();
        own.chain([self.inbox.paths.proc()]).for_each(|dir| wake.on_entries(&dir));
    }

    fn until_expiry(&self) -> Option<Duration> {
        let left = self.message.terms.expires?.signed_duration_since(Utc::now());
        // Behind it, a little: the time is looked at again then.
        Some(left.max(TimeDelta::zero()).to_std().unwrap_or(Duration::MAX).saturating_add(Duration::from_millis(1)))
    }

    fn outcome_in(&self, turn: Option<&LiveTurn>) -> Result<Outcome> {
        loop {
            let outcome = self.told(self.inbox.fate_since(OsStr::new(&self.name), self.since)?);
            let turn = turn.and_then(|turn| turn.turn_id.as_deref());
            let broken = self.message.terms.broken(&Utc::now().fixed_offset(), turn);
            let (Outcome::Queued, Some(why)) = (&outcome, broken) else { return Ok(outcome) };
            if let Some(why) = self.inbox.expire(&self.name, self.since, why)? {
                return Ok(Outcome::Expired { why });
            }
            // Somebody was faster. Who looks again sees who.
        }
    }

    fn told(&self, fate: Fate) -> Outcome {
        match fate {
            Fate::Waiting | Fate::Claimed { lives: false, .. } => Outcome::Queued,
            Fate::Claimed { by, lives: true } => Outcome::Claimed { pid: by.pid },
            Fate::Recorded(recorded) => Outcome::Delivered(recorded),
            Fate::SetAside { why, .. } if self.message.terms == Terms::default() => Outcome::Failed { why },
            Fate::SetAside { why, .. } => Outcome::Expired { why },
            Fate::Gone => Outcome::Gone,
        }
    }
}

impl Inbox {
    /// Moves a message aside that waits, or whose taker died without recording it. `None`: somebody took it.
    fn expire(&self, name: &str, since: Mark, why: Unfit) -> Result<Option<String>> {
        let Some(path) = self.waiting_path(OsStr::new(name), since)? else { return Ok(None) };
        let text = why.to_string();
        Ok(self.set_aside(&path, OsStr::new(name), why)?.map(|_| text))
    }
}
