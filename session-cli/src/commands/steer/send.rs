//! Sending a message to the running turn.

use super::Flags;
use crate::commands::opened_by_name;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, when};
use crate::target;
use chrono::TimeDelta;
use serde::Serialize;
use session_core::layout::MAX_INBOX_BYTES;
use session_proc::{LiveTurn, TurnMarker};
use session_store::{InboxMessage, Options, Outcome, Session, StoreError, Terms, USER_LINE, Waited};
use std::io::Read as _;
use std::time::Duration;

pub(super) fn run(flags: &Flags, context: &Context, text: &str) -> Result<Exit, Failure> {
    let text = if text == "-" { from_stdin()? } else { text.to_owned() };
    if text.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "there is nothing to say in the message"));
    }
    let session = receiver(flags, context)?;
    let turn = live_turn(&session)?;
    check(flags, session.name(), turn.as_ref())?;
    let now = InboxMessage::now(USER_LINE, text);
    let ttl = flags.ttl.map(|ttl| TimeDelta::from_std(ttl).unwrap_or(TimeDelta::MAX));
    let expires = ttl.and_then(|ttl| now.at.checked_add_signed(ttl));
    let terms = Terms { expires, turn: flags.expect_turn.clone() };
    let sent = session.inbox().steer(InboxMessage { terms, ..now })?;
    // Without --wait this is one look.
    let at_most = flags.wait.unwrap_or(Some(Duration::ZERO));
    let waited = if flags.queue { sent.wait_for_any_turn(at_most)? } else { sent.wait(at_most)? };
    let exit = told(flags, context, &waited);
    let outcome = waited.outcome();
    let recorded = if let Outcome::Delivered(recorded) = outcome { Some(recorded) } else { None };
    let document = Document {
        session: session.name(),
        id: sent.id(),
        result: word(outcome),
        turn: turn.as_ref().and_then(|turn| turn.turn_id.as_deref()),
        pid: turn.as_ref().map(|turn| turn.pid),
        expires: expires.as_ref().map(when::machine),
        recorded_as: recorded.map(|recorded| recorded.id.as_str()),
        offset: recorded.map(|recorded| recorded.offset),
    };
    let mut rows = Rows::new(&["SESSION", "ID", "RESULT"]);
    rows.push([document.session, document.id, document.result].map(str::to_owned).to_vec());
    context.out.answer("steer", &document, |out| out.rows(&rows))?;
    Ok(exit)
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    id: &'a str,
    result: &'a str,
    /// The turn that was live when the message was sent.
    turn: Option<&'a str>,
    pid: Option<i32>,
    expires: Option<String>,
    /// The id in the history, and the offset of the event.
    recorded_as: Option<&'a str>,
    offset: Option<u64>,
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Queued => "queued",
        Outcome::Claimed { .. } => "claimed",
        Outcome::Delivered(_) => "delivered",
        Outcome::Expired { .. } => "expired",
        Outcome::Failed { .. } => "failed",
        Outcome::Gone => "gone",
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    // One that is too long is refused where its length is known.
    let mut input = std::io::stdin().lock().take(MAX_INBOX_BYTES + 1);
    input.read_to_string(&mut text).map_err(|error| Failure::input("standard input", &error))?;
    Ok(text)
}

/// The session that was named, or the one that has a live turn.
fn receiver(flags: &Flags, context: &Context) -> Result<Session, Failure> {
    if let Some(text) = &flags.session {
        // A live turn is what is asked for.
        return opened_by_name(context, &target::resolve(context, text)?, Options::default());
    }
    let active = context.store.active_turns()?;
    active.unreadable.iter().for_each(|error| context.out.note(&format!("warning: {error}")));
    match &active.turns[..] {
        [only] => Ok(context.store.open(&only.session)?),
        [] => Err(Failure::new(Exit::Busy, "no session has a live turn")
            .hint("-s SESSION --queue leaves the message for that session's next turn")),
        several => {
            let names: Vec<&str> = several.iter().map(|active| active.session.as_str()).collect();
            let text = format!("{} sessions have a live turn", several.len());
            Err(Failure::new(Exit::NotFound, text).hint(format!("say which with -s: {}", names.join(", "))))
        }
    }
}

fn live_turn(session: &Session) -> Result<Option<LiveTurn>, Failure> {
    Ok(TurnMarker::read(&session.paths().proc()).map_err(StoreError::from)?)
}

/// Whether the turn that is live is one that is meant.
fn check(flags: &Flags, session: &str, turn: Option<&LiveTurn>) -> Result<(), Failure> {
    let Some(turn) = turn else {
        return if flags.queue {
            Ok(())
        } else {
            Err(Failure::new(Exit::Busy, format!("session {session} has no live turn"))
                .hint("--queue leaves the message for its next turn"))
        };
    };
    match &flags.expect_turn {
        Some(expected) if turn.turn_id.as_ref() != Some(expected) => {
            let live = turn.turn_id.as_deref().unwrap_or("one without an id");
            let text = format!("the live turn of session {session} is {live}, not {expected}");
            Err(Failure::new(Exit::Busy, text).hint("nothing was sent; `session active --json` shows the turns"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Says what is worth a word, and the exit status.
fn told(flags: &Flags, context: &Context, waited: &Waited) -> Exit {
    let note = |text: &str| context.out.note(&format!("note: {text}"));
    let waits = flags.wait.is_some();
    match waited {
        Waited::Settled(Outcome::Delivered(_)) => Exit::Done,
        Waited::Settled(outcome) => {
            note(&match outcome {
                Outcome::Expired { why } | Outcome::Failed { why } => format!("the message was not delivered: {why}"),
                Outcome::Gone => {
                    "the message was cancelled, or taken by a program that does not record what it takes".to_owned()
                }
                Outcome::Delivered(_) | Outcome::Queued | Outcome::Claimed { .. } => String::new(),
            });
            Exit::No
        }
        Waited::NoTurn(_) => {
            note("the turn has ended; the next one takes the message, --cancel takes it back");
            if waits { Exit::No } else { Exit::Done }
        }
        Waited::TimedOut(_) => {
            if waits {
                Exit::TimedOut
            } else {
                Exit::Done
            }
        }
    }
}
