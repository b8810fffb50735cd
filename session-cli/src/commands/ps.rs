//! `session ps`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::output::{Diagnostic, Rows};
use crate::target;
use crate::view::process::{self, ProcessDocument};
use serde::Serialize;
use session_core::SessionName;
use session_proc::{Lost, LostWhy, MarkedProcesses, ProcError, Status};
use std::collections::HashSet;

/// The flags of `ps`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "--orphans shows what nobody answers for any more: background processes whose turn, or else whose starter, is gone, \
and processes of which no record says that they run (lost): there is none, or it says that they have ended.\n\nExamples:\n  \
session ps\n  session ps oaks --json\n  session ps --orphans"
)]
pub(crate) struct Flags {
    /// The session, with those that it goes on with [default: all]
    #[arg(add = target::completer())]
    session: Option<String>,
    /// Only what runs although whoever started it is gone
    #[arg(long)]
    orphans: bool,
}

#[derive(Serialize)]
struct Document {
    processes: Vec<ProcessDocument>,
    lost: Vec<LostDocument>,
}

#[derive(Serialize)]
struct LostDocument {
    session: String,
    id: String,
    pid: i32,
    command: Option<String>,
    why: &'static str,
}

/// What was found of one session.
struct Found {
    session: SessionName,
    processes: Vec<Status>,
    lost: Vec<Lost>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = match &flags.session {
        // A compaction leaves processes where they were started.
        Some(text) => {
            let chain = context.store.registries(&target::resolve(context, text)?)?;
            chain.into_iter().map(|(session, _)| session).collect()
        }
        None => context.store.names()?,
    };
    let marked = MarkedProcesses::look()?;
    let mut diagnostics = Vec::new();
    let mut found = Vec::new();
    for session in names {
        let looked = look(flags, context, &session, &marked, &mut diagnostics);
        match looked {
            Ok(one) => found.push(one),
            // One session that cannot be looked at does not hide the others.
            Err(failure) if flags.session.is_none() => diagnostics.push(diagnostic(&session, failure.text)),
            Err(failure) => return Err(failure),
        }
    }
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("ps", diagnostics.is_empty(), &diagnostics, &document(&found))?;
    } else {
        let rows = rows(context, &found);
        if !rows.is_empty() {
            context.out.rows(&rows)?;
        }
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}

fn look(
    flags: &Flags,
    context: &Context,
    session: &SessionName,
    marked: &MarkedProcesses,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Found, Failure> {
    let registry = context.store.registry(session)?;
    let listing = registry.list()?;
    let unreadable = |error: &ProcError| diagnostic(session, causes(error));
    diagnostics.extend(listing.unreadable.iter().map(unreadable));
    let mut processes = listing.processes;
    if flags.orphans {
        processes.retain(|status| status.is_orphan);
    }
    // What belongs to a process that is shown needs no row of its own.
    let shown: HashSet<i32> = processes.iter().filter_map(process::pid).collect();
    let mut lost = registry.lost_among(marked)?;
    lost.retain(|lost| !shown.contains(&lost.process.pid));
    Ok(Found { session: session.clone(), processes, lost })
}

fn document(found: &[Found]) -> Document {
    let of_lost = |session: &SessionName, lost: &Lost| LostDocument {
        session: session.to_string(),
        id: lost.id.to_string(),
        pid: lost.process.pid,
        command: lost.command.clone(),
        why: match lost.why {
            LostWhy::NoRecord => "no_record",
            LostWhy::OtherStart => "other_start",
            LostWhy::Outlived => "outlived",
            LostWhy::TurnOver => "turn_over",
        },
    };
    Document {
        processes: found
            .iter()
            .flat_map(|one| one.processes.iter().map(|status| ProcessDocument::new(one.session.as_str(), status)))
            .collect(),
        lost: found.iter().flat_map(|one| one.lost.iter().map(|lost| of_lost(&one.session, lost))).collect(),
    }
}

fn rows(context: &Context, found: &[Found]) -> Rows {
    let mut rows = Rows::new(&["SESSION", "ID", "PID", "STATE", "AGE", "COMMAND"]).numeric(2);
    for Found { session, processes, lost } in found {
        for status in processes {
            rows.push(vec![
                session.to_string(),
                status.id.to_string(),
                process::pid(status).map(|pid| pid.to_string()).unwrap_or_default(),
                process::state(status, &context.out),
                process::age(status.started, &context.out),
                status.command.clone(),
            ]);
        }
        for lost in lost {
            let command = lost.command.clone().unwrap_or_default();
            let pid = lost.process.pid.to_string();
            rows.push(vec![
                session.to_string(),
                lost.id.to_string(),
                pid,
                "lost".to_owned(),
                process::age(lost.process.started().ok(), &context.out),
                command,
            ]);
        }
    }
    rows
}

fn diagnostic(session: &SessionName, text: String) -> Diagnostic {
    Diagnostic { code: "unreadable".to_owned(), session: Some(session.to_string()), line: None, offset: None, text }
}
