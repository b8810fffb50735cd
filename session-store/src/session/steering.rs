//! The running turn's side of the inbox: from a message that waits to one that the history has.

use crate::{Claimed, Failed, InboxMessage, Result, Session, StoreError, record_inbox_ids};
use session_core::{Event, Message};

/// The messages for the running turn, on their way into the history.
///
/// [`Steering::take`] takes what waits, appends it to the conversation and acknowledges it, so that each message is in the
/// history exactly once, whoever dies when. The loop of an agent calls it before each request to the model, and once more
/// before it ends the turn: what comes later waits for the next turn.
///
/// ```
/// use session_core::{Message, Role};
/// # use session_store::{InboxMessage, NewSession, Store, USER_LINE};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let scratch = tempfile::tempdir()?;
/// # let session = Store::open_at(scratch.path().join("sessions")).create(&NewSession::default())?;
/// # let ask_the_model = |conversation: &[Message]| Message::assistant(format!("{} so far", conversation.len()));
/// # session.append_messages([Message::user("plant three oaks")])?;
/// # session.inbox().deliver(&InboxMessage::now(USER_LINE, "use tabs"))?;
/// let lock = session.lock()?;
/// let turn = session.begin_turn(&lock, "turn-1")?;
/// let mut steering = session.steering();
/// let mut conversation = session.load()?.messages;
/// loop {
///     let news = steering.take()?.messages;
///     if news.is_empty() && conversation.last().is_some_and(|message| message.role == Role::Assistant) {
///         break;
///     }
///     conversation.extend(news);
///     conversation.push(ask_the_model(&conversation));
///     session.append_messages(conversation.last().cloned())?;
/// }
/// turn.end("done", None)?;
/// # assert_eq!(session.load()?.messages, conversation);
/// # assert_eq!(conversation.iter().map(|m| m.content.text().into_owned()).collect::<Vec<_>>(), ["plant three oaks", "use tabs", "2 so far"]);
/// # Ok(())
/// # }
/// ```
///
/// What was taken and could not be appended is kept, and comes first the next time; dropping this lets it wait again.
#[derive(Debug)]
pub struct Steering<'a> {
    session: &'a Session,
    /// Taken, and not in the history.
    held: Vec<Claimed>,
    /// In the history, and not acknowledged.
    recorded: Vec<String>,
}

/// What [`Steering::take`] did.
#[derive(Debug, Default)]
#[must_use = "the conversation goes on with these messages"]
#[non_exhaustive]
pub struct Steered {
    /// The messages, as they now stand at the end of the conversation.
    pub messages: Vec<Message>,
    /// Files that were moved aside because they cannot be delivered, or have expired.
    pub failed: Vec<Failed>,
    /// What went wrong. The messages above stand all the same, and what is left to do is done the next time.
    pub error: Option<StoreError>,
}

impl Session {
    /// The messages for the turn that this handle runs, or for this process: see [`Session::drain_inbox`] on who may take
    /// them. Nothing is taken yet.
    pub fn steering(&self) -> Steering<'_> {
        Steering { session: self, held: Vec::new(), recorded: Vec::new() }
    }
}

impl Steering<'_> {
    /// Takes the messages that wait, appends each as one of the user's, and acknowledges them.
    ///
    /// On disk when it returns: the events, each with its message's id, synced as the durability says; the messages are no
    /// longer in the inbox.
    ///
    /// # Errors
    /// As [`Session::drain_inbox`] and [`Session::append`]: what kept it from doing anything. Once it has done something, an
    /// error is part of the result. What was taken and not appended is kept for the next call.
    pub fn take(&mut self) -> Result<Steered> {
        self.take_as(|message| Message::user(&message.text))
    }

    /// The same; `into` says how a message stands in the conversation.
    ///
    /// # Errors
    /// As [`Steering::take`].
    pub fn take_as(&mut self, into: impl FnMut(&InboxMessage) -> Message) -> Result<Steered> {
        let mut steered = Steered { error: self.acknowledge().err(), ..Steered::default() };
        let drained = self.session.drain_inbox()?;
        self.held.extend(drained.messages);
        steered.failed = drained.failed;
        steered.error = steered.error.or(drained.error);
        steered.messages = self.record(into, &mut steered.error);
        steered.error = steered.error.or(self.acknowledge().err());
        match steered.error {
            Some(error) if steered.messages.is_empty() && steered.failed.is_empty() => Err(error),
            error => Ok(Steered { error, ..steered }),
        }
    }

    /// Appends what is held, and says what stands. Who dies meanwhile leaves whole events, each of which names its message.
    fn record(&mut self, into: impl FnMut(&InboxMessage) -> Message, failed: &mut Option<StoreError>) -> Vec<Message> {
        let now = self.session.clock.utc();
        let mut messages: Vec<Message> = self.held.iter().map(|claimed| &claimed.message).map(into).collect();
        let events = self.held.iter().zip(&messages).map(|(claimed, message)| {
            let mut event = Event::message(now, message.clone());
            record_inbox_ids(&mut event, [claimed.id.as_str()]);
            event
        });
        let standing = match self.session.append(&events.collect::<Vec<_>>()) {
            Ok(_) => messages.len(),
            Err(error) => {
                let standing = if let StoreError::Append { whole_events, .. } = &error { *whole_events } else { 0 };
                *failed = failed.take().or(Some(error));
                standing
            }
        };
        messages.truncate(standing);
        self.recorded.extend(self.held.drain(..standing).map(|claimed| claimed.id));
        messages
    }

    fn acknowledge(&mut self) -> Result<()> {
        if !self.recorded.is_empty() {
            let acknowledged = self.session.inbox().acknowledge(self.recorded.iter().map(String::as_str));
            match acknowledged {
                // Whoever removed it knew that it is recorded.
                Ok(()) | Err(StoreError::NoSuchClaim { .. }) => self.recorded.clear(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for Steering<'_> {
    /// Lets what is held wait again. Should that fail, it waits from the end of this process on.
    fn drop(&mut self) {
        let inbox = self.session.inbox();
        drop(self.acknowledge());
        if !self.held.is_empty() {
            drop(inbox.release(self.held.iter().map(|claimed| claimed.id.as_str())));
        }
    }
}
