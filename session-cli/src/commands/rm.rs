//! `session rm`

use crate::commands::kill;
use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::target;
use serde::Serialize;
use session_core::SessionName;
use session_store::{Deletion, StoreError};

/// The flags of `rm`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Background processes of the session are stopped first; one that cannot be stopped is named, and nothing is \
deleted then. Exit status 3 when some of several stay, which are named.\n\nExamples:\n  session rm oaks -n\n  \
session rm oaks birches -y\n  session trash restore oaks"
)]
pub(crate) struct Flags {
    /// The sessions
    #[arg(required = true, add = target::completer())]
    sessions: Vec<String>,
    /// Delete for good instead of moving to the trash
    #[arg(long)]
    purge: bool,
    /// Also while a turn is live
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Document {
    planned: Vec<String>,
    deleted: Vec<Deleted>,
    purge: bool,
}

#[derive(Serialize)]
struct Deleted {
    session: String,
    trash: Option<String>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = target::resolve_all_to_change(context, &flags.sessions)?;
    let to = if flags.purge { "deleted for good" } else { "moved to the trash" };
    let mut plan = Vec::new();
    for name in &names {
        plan.extend(
            running(context, name)?.into_iter().map(|(id, what)| format!("{name}: {id}: {what}, to be stopped")),
        );
        plan.push(format!("{name}: to be {to}"));
    }
    let mut document = Document {
        planned: names.iter().map(SessionName::to_string).collect(),
        deleted: Vec::new(),
        purge: flags.purge,
    };
    let mut failed = Vec::new();
    if flags.consent.ask(context, &plan)? == Answer::Go {
        for name in &names {
            match delete(flags, context, name) {
                Ok(deleted) => document.deleted.push(deleted),
                Err(error) if names.len() == 1 => return Err(error.into()),
                // What was deleted besides is told.
                Err(error) => failed.push(Diagnostic::failed("not-deleted", name, &error)),
            }
        }
    }
    let out = &context.out;
    out.diagnostics(&failed);
    if out.is_json() {
        out.document("rm", failed.is_empty(), &failed, &document)?;
    } else {
        document.deleted.iter().try_for_each(|deleted| match &deleted.trash {
            Some(id) if out.is_terminal() => {
                out.line(&format!("{} {to}; `session trash restore {id}` brings it back", deleted.session))
            }
            Some(id) => out.line(&format!("{}\t{id}", deleted.session)),
            None => out.line(&deleted.session),
        })?;
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Partial })
}

/// What is stopped first.
fn running(context: &Context, name: &SessionName) -> Result<Vec<(String, String)>, Failure> {
    match context.store.registry(name) {
        // A link is removed, and nothing behind it is touched.
        Err(StoreError::Escapes { .. }) => Ok(Vec::new()),
        registry => kill::plan_all(&registry?),
    }
}

fn delete(flags: &Flags, context: &Context, name: &SessionName) -> Result<Deleted, StoreError> {
    let deletion = if flags.force { Deletion::Forced } else { Deletion::Careful };
    let trash = if flags.purge {
        context.store.delete(name, deletion)?;
        None
    } else {
        Some(context.store.trash(name, "session rm", deletion)?.id)
    };
    Ok(Deleted { session: name.to_string(), trash })
}
