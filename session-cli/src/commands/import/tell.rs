//! What `import` prints: the sessions, and what did not come in and why.

use super::run::{Done, Told};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows};
use serde::Serialize;
use session_core::interop::import::{ImportReport, Loss, LossFate};
use session_core::normalize_title;

#[derive(Serialize)]
struct Document<'a> {
    dry_run: bool,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    sha256: &'a str,
    format: Option<&'static str>,
    version: Option<&'a str>,
    refused: bool,
    sessions: Vec<Session<'a>>,
    messages: u64,
    other_events: u64,
    attachments: u64,
    losses: Vec<Lost<'a>>,
}

#[derive(Serialize)]
struct Session<'a> {
    name: Option<&'a str>,
    state: &'static str,
    id: Option<&'a str>,
    parent: Option<&'a str>,
    title: String,
    messages: u64,
}

#[derive(Serialize)]
struct Lost<'a> {
    what: &'a str,
    fate: &'static str,
    count: u64,
    file: Option<&'a str>,
    line: Option<u64>,
}

/// Prints it, and says how it ended.
pub(super) fn tell(context: &Context, done: &[Done], dry_run: bool) -> Result<Exit, Failure> {
    let is_refused = |done: &Done| done.is_refused || !done.diagnostics.is_empty();
    let refused = done.iter().filter(|done| is_refused(done)).count();
    let is_complete = done.iter().all(|done| !is_refused(done) && done.report.is_complete());
    let diagnostics: Vec<Diagnostic> = done.iter().flat_map(|done| done.diagnostics.clone()).collect();
    if context.out.is_json() {
        let files = done.iter().map(|done| file(done, dry_run)).collect();
        context.out.document("import", is_complete, &diagnostics, &Document { dry_run, files })?;
    } else {
        context.out.diagnostics(&diagnostics);
        let mut rows = Rows::new(&["NAME", "STATE", "MSGS", "FORMAT", "TITLE"]).numeric(2);
        for done in done {
            for session in &done.sessions {
                rows.push(row(done, session, dry_run));
            }
            losses(context, done);
        }
        if !rows.is_empty() {
            context.out.rows(&rows)?;
        }
    }
    let nothing = done.iter().flat_map(|done| &done.sessions).all(|session| session.is_known);
    Ok(match refused {
        0 if !is_complete => Exit::Partial,
        0 if nothing => Exit::No,
        0 => Exit::Done,
        all if all == done.len() => Exit::Usage,
        _ => Exit::Partial,
    })
}

/// What becomes of a session.
fn state(done: &Done, session: &Told, dry_run: bool) -> &'static str {
    match (session.is_known, done.is_refused) {
        (true, _) => "known",
        (false, true) => "refused",
        (false, false) if dry_run => "planned",
        (false, false) if session.name.is_none() => "failed",
        (false, false) => "imported",
    }
}

fn row(done: &Done, session: &Told, dry_run: bool) -> Vec<String> {
    vec![
        session.name.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        state(done, session, dry_run).to_owned(),
        session.messages.to_string(),
        done.format().unwrap_or("-").to_owned(),
        normalize_title(&session.title),
    ]
}

/// What did not come in as it stands, on stderr.
fn losses(context: &Context, done: &Done) {
    let ImportReport { losses, messages, other_events, files, .. } = &done.report;
    // Of what could not be read nothing is known; why it could not is a diagnostic.
    if done.format().is_none() || done.is_bundle && !done.diagnostics.is_empty() {
        return;
    }
    let came = format!("messages {messages}, other events {other_events}, attachments {files}");
    context.out.note(&format!("{}: {came}", done.label));
    for loss in losses {
        context.out.note(&format!("  {}", sentence(loss)));
    }
    if done.is_refused && done.diagnostics.is_empty() {
        context.out.note(&format!(
            "error: something in {} was not understood; nothing of it was imported\nhint: --lossy leaves it out",
            done.label
        ));
    }
}

fn sentence(loss: &Loss) -> String {
    let Loss { what, fate, count, file, line, .. } = loss;
    let place = match (file.as_str(), line) {
        ("", 0) => String::new(),
        ("", line) => format!(", first in line {line}"),
        (file, _) => format!(", first in {file}"),
    };
    let fate = match fate {
        LossFate::Dropped => "left out",
        LossFate::Repaired => "put right",
        LossFate::Kept => "not known, kept beside the history",
        LossFate::Unreadable => "unreadable",
        LossFate::Unknown => "not understood",
    };
    format!("{fate}: {count} × {what}{place}")
}

fn file(done: &Done, dry_run: bool) -> File<'_> {
    let report = &done.report;
    File {
        file: &done.label,
        sha256: &done.sha256,
        format: done.format(),
        version: told(&report.version),
        refused: done.is_refused,
        sessions: done.sessions.iter().map(|session| self::session(done, session, dry_run)).collect(),
        messages: report.messages,
        other_events: report.other_events,
        attachments: report.files,
        losses: report.losses.iter().map(lost).collect(),
    }
}

fn session<'a>(done: &Done, session: &'a Told, dry_run: bool) -> Session<'a> {
    Session {
        name: session.name.as_ref().map(session_core::SessionName::as_str),
        state: state(done, session, dry_run),
        id: told(&session.id),
        parent: told(&session.parent),
        title: normalize_title(&session.title),
        messages: session.messages,
    }
}

fn lost(loss: &Loss) -> Lost<'_> {
    Lost {
        what: &loss.what,
        fate: loss.fate.as_str(),
        count: loss.count,
        file: told(&loss.file),
        line: (loss.line > 0).then_some(loss.line),
    }
}

/// A text that is known.
fn told(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
