//! Doing the same with several sessions, and telling what became of each.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, size};
use crate::progress::Bar;
use anstyle::Style;
use serde::Serialize;
use session_core::SessionName;
use session_store::remote::{Change, Pulled, Pushed, Traffic};

/// What became of one session.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    session: String,
    copy: String,
    /// `push` or `pull`.
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
    pub(crate) fn pushed(session: &SessionName, pushed: Pushed) -> Self {
        let Pushed { name, change, generation, history_bytes, new_bytes, files, conflicts, traffic, .. } = pushed;
        let Traffic { requests, sent_bytes, received_bytes, .. } = traffic;
        Outcome {
            session: session.to_string(),
            copy: name.to_string(),
            verb: "push",
            change: word(change),
            generation,
            history_bytes,
            new_bytes,
            files,
            conflicts,
            requests,
            sent_bytes,
            received_bytes,
        }
    }

    pub(crate) fn pulled(copy: &SessionName, pulled: Pulled) -> Self {
        let Pulled { name, change, generation, history_bytes, new_bytes, files, conflicts, traffic, .. } = pulled;
        let Traffic { requests, sent_bytes, received_bytes, .. } = traffic;
        Outcome {
            session: name.to_string(),
            copy: copy.to_string(),
            verb: "pull",
            change: word(change),
            generation,
            history_bytes,
            new_bytes,
            files,
            conflicts,
            requests,
            sent_bytes,
            received_bytes,
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
    mut act: impl FnMut(&SessionName) -> Result<Vec<Outcome>, Failure>,
) -> Result<Exit, Failure> {
    let (mut outcomes, mut failed) = (Vec::new(), Vec::new());
    let bar = Bar::new(context.out.is_quiet());
    for (number, name) in names.iter().enumerate() {
        bar.say(|| format!("{name}, {} of {}", number + 1, names.len()));
        match act(name) {
            Ok(done) => outcomes.extend(done),
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
    print(context, verb, &outcomes, &failed)?;
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Partial })
}

fn diagnostic(code: &str, name: &SessionName, text: String) -> Diagnostic {
    Diagnostic { code: code.to_owned(), session: Some(name.to_string()), line: None, offset: None, text }
}

fn print(context: &Context, verb: &str, outcomes: &[Outcome], failed: &[Diagnostic]) -> Result<(), Failure> {
    context.out.diagnostics(failed);
    if context.out.is_json() {
        return context.out.document(verb, failed.is_empty(), failed, &Document { copies: outcomes });
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
