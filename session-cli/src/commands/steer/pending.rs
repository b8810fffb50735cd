//! Messages that nobody has recorded: listing them, and taking one back.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, when};
use crate::target;
use chrono::Utc;
use serde::{Serialize, Serializer};
use session_core::{SessionName, Timestamp};
use session_store::{Fate, Pending};
use std::ffi::OsStr;

/// The sessions that are meant: the one that was named, or all.
fn sessions(context: &Context, session: Option<&str>) -> Result<Vec<SessionName>, Failure> {
    match session {
        Some(text) => Ok(vec![target::resolve(context, text)?]),
        None => Ok(context.store.names()?),
    }
}

pub(super) fn list(context: &Context, session: Option<&str>) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document {
        messages: Vec<Message>,
    }
    let mut messages = Vec::new();
    for name in sessions(context, session)? {
        let undelivered = context.store.inbox(&name)?.undelivered()?;
        messages.extend(undelivered.into_iter().map(|(pending, fate)| Message::of(&name, pending, &fate)));
    }
    let rows = if context.out.is_terminal() { for_a_person(&messages) } else { for_a_pipe(&messages) };
    context.out.answer(
        "steer-list",
        &Document { messages },
        |out| if rows.is_empty() { Ok(()) } else { out.rows(&rows) },
    )
}

fn for_a_pipe(messages: &[Message]) -> Rows {
    let mut rows = Rows::new(&["SESSION", "ID", "STATE", "AT", "EXPIRES", "TURN", "TEXT"]);
    for message in messages {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let time = |ts: &Option<Timestamp>| ts.as_ref().map(when::machine).unwrap_or_default();
        let Message { session, id, state, at, expires, turn, text: said, .. } = message;
        let fields =
            [session.clone(), id.clone(), (*state).to_owned(), time(at), time(expires), text(turn), text(said)];
        rows.push(fields.to_vec());
    }
    rows
}

fn for_a_person(messages: &[Message]) -> Rows {
    let now = Utc::now();
    let mut rows = Rows::new(&["SESSION", "ID", "STATE", "SENT", "EXPIRES", "TEXT"]);
    for message in messages {
        let sent = message.at.as_ref().map(|at| when::relative(at, now)).unwrap_or_default();
        let expires = match (&message.expires, &message.turn) {
            (Some(expires), _) => when::ahead(expires, now),
            (None, Some(_)) => "with its turn".to_owned(),
            (None, None) => String::new(),
        };
        let text = message.text.clone().unwrap_or_default();
        rows.push(vec![message.session.clone(), message.id.clone(), message.state.to_owned(), sent, expires, text]);
    }
    rows
}

#[derive(Serialize)]
struct Message {
    session: String,
    id: String,
    state: &'static str,
    kind: Option<String>,
    text: Option<String>,
    #[serde(serialize_with = "machine")]
    at: Option<Timestamp>,
    #[serde(serialize_with = "machine")]
    expires: Option<Timestamp>,
    turn: Option<String>,
}

fn machine<S: Serializer>(ts: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    ts.as_ref().map(when::machine).serialize(serializer)
}

impl Message {
    fn of(session: &SessionName, pending: Pending, fate: &Fate) -> Self {
        let terms = pending.message.as_ref().map(|message| &message.terms);
        let expires = terms.and_then(|terms| terms.expires);
        let state = match fate {
            Fate::Waiting if expires.is_some_and(|expires| expires <= Utc::now()) => "expired",
            Fate::Waiting => "queued",
            fate => state(fate),
        };
        Message {
            session: session.to_string(),
            id: pending.name.to_string_lossy().into_owned(),
            state,
            at: pending.message.as_ref().map(|message| message.at),
            expires,
            turn: terms.and_then(|terms| terms.turn.clone()),
            kind: pending.message.as_ref().map(|message| message.kind.clone()),
            text: pending.message.map(|message| message.text),
        }
    }
}

fn state(fate: &Fate) -> &'static str {
    match fate {
        Fate::Waiting => "queued",
        Fate::Claimed { .. } => "claimed",
        Fate::Recorded(_) => "delivered",
        Fate::SetAside { .. } => "expired",
        Fate::Gone => "gone",
        _ => "unknown",
    }
}

pub(super) fn cancel(context: &Context, session: Option<&str>, id: &OsStr) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: Option<&'a str>,
        id: &'a str,
        result: &'a str,
    }
    let sessions = sessions(context, session)?;
    let mut cancelled = None;
    for name in &sessions {
        if context.store.inbox(name)?.cancel(id)?.is_some() {
            cancelled = Some(name.as_str());
            break;
        }
    }
    // What kept one that was named from being taken back can be said; nobody looks through all histories for the others.
    let (session, result) = match (cancelled, session, &sessions[..]) {
        (Some(session), _, _) => (Some(session), "cancelled"),
        (None, Some(_), [only]) => (Some(only.as_str()), state(&context.store.inbox(only)?.fate(id)?)),
        (None, _, _) => (None, "gone"),
    };
    let shown = id.to_string_lossy();
    let row = [session.unwrap_or_default(), &*shown, result].map(str::to_owned).to_vec();
    let mut rows = Rows::new(&["SESSION", "ID", "RESULT"]);
    rows.push(row);
    context.out.answer("steer-cancel", &Document { session, id: &shown, result }, |out| out.rows(&rows))?;
    Ok(if cancelled.is_some() { Exit::Done } else { Exit::No })
}
