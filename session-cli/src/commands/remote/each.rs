//! Doing the same with several sessions, and telling what became of each.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::output::{Diagnostic, Rows, size};
use crate::progress::Bar;
use anstyle::Style;
use serde::Serialize;
use session_core::SessionName;
use session_store::remote::{Change, Copied, RemoteError, Traffic};

/// What became of one session.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    session: String,
    copy: String,
    verb: &'static str,
    change: &'static str,
    generation: u64,
    history_bytes: u64,
    new_bytes: u64,
    files: u64,
    conflicts: Vec<String>,
    requests: u64,
    sent_bytes: u64,
    received_bytes: u64,
}

impl Outcome {
    fn of(verb: Verb, copied: Copied) -> (Self, Option<RemoteError>) {
        let Traffic { requests, sent_bytes, received_bytes, .. } = copied.traffic;
        let outcome = Outcome {
            session: copied.session.to_string(),
            copy: copied.copy.to_string(),
            verb: verb.word(),
            change: word(copied.change),
            generation: copied.generation,
            history_bytes: copied.history_bytes,
            new_bytes: copied.new_bytes,
            files: copied.files,
            conflicts: copied.conflicts,
            requests,
            sent_bytes,
            received_bytes,
        };
        (outcome, copied.not_remembered)
    }
}

/// What was done with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Push,
    Pull,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Verb::Push => "push",
            Verb::Pull => "pull",
        }
    }
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Nothing => "same",
        Change::Made => "made",
        Change::Added => "added",
        Change::Replaced => "replaced",
        Change::Ahead => "ahead",
        _ => "changed",
    }
}

#[derive(Serialize)]
struct Document<'a> {
    copies: &'a [Outcome],
}

/// Does `act` with each session. What is wrong with one of several keeps no other from it.
pub(crate) fn each(
    context: &Context,
    verb: &str,
    names: &[SessionName],
    mut act: impl FnMut(&SessionName) -> Result<Vec<(Verb, Copied)>, Failure>,
) -> Result<Exit, Failure> {
    let (mut outcomes, mut failed, mut told) = (Vec::new(), Vec::new(), Vec::new());
    let bar = Bar::new(context.out.is_quiet());
    for (number, name) in names.iter().enumerate() {
        bar.say(|| format!("{name}, {} of {}", number + 1, names.len()));
        match act(name) {
            Ok(done) => {
                for (verb, copied) in done {
                    let session = copied.session.clone();
                    let (outcome, not_remembered) = Outcome::of(verb, copied);
                    outcomes.push(outcome);
                    let why = |error: RemoteError| {
                        let text = format!("done, but the state of the copy is not remembered: {}", causes(&error));
                        diagnostic("not-remembered", &session, text)
                    };
                    told.extend(not_remembered.map(why));
                }
            }
            Err(failure) if names.len() == 1 => return Err(failure),
            Err(failure) => failed.push(diagnostic("not-copied", name, failure.text)),
        }
    }
    drop(bar);
    for outcome in &outcomes {
        let name = SessionName::new(&outcome.session)?;
        let conflict = |path: &String| {
            diagnostic("conflict", &name, format!("{path} was changed here and there: both stay as they are"))
        };
        failed.extend(outcome.conflicts.iter().map(conflict));
    }
    let is_complete = failed.is_empty();
    failed.append(&mut told);
    print(context, verb, &outcomes, is_complete, &failed)?;
    Ok(if is_complete { Exit::Done } else { Exit::Partial })
}

fn diagnostic(code: &str, name: &SessionName, text: String) -> Diagnostic {
    Diagnostic { code: code.to_owned(), session: Some(name.to_string()), line: None, offset: None, text }
}

fn print(
    context: &Context,
    verb: &str,
    outcomes: &[Outcome],
    is_complete: bool,
    diagnostics: &[Diagnostic],
) -> Result<(), Failure> {
    context.out.diagnostics(diagnostics);
    if context.out.is_json() {
        return context.out.document(verb, is_complete, diagnostics, &Document { copies: outcomes });
    }
    let bytes = |bytes: u64| if context.out.is_terminal() { size::words(bytes) } else { bytes.to_string() };
    let header = ["SESSION", "VERB", "CHANGE", "BYTES", "NEW", "FILES", "REQUESTS", "SENT", "RECEIVED"];
    let mut rows = (3..9).fold(Rows::new(&header), Rows::numeric);
    for outcome in outcomes {
        let fields = vec![
            outcome.session.clone(),
            outcome.verb.to_owned(),
            outcome.change.to_owned(),
            bytes(outcome.history_bytes),
            bytes(outcome.new_bytes),
            outcome.files.to_string(),
            outcome.requests.to_string(),
            bytes(outcome.sent_bytes),
            bytes(outcome.received_bytes),
        ];
        rows.push_styled(fields, &[(0, Style::new().bold())]);
    }
    context.out.rows(&rows)
}
