//! `session relocate`

use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::Diagnostic;
use serde::Serialize;
use session_store::{Relocated, Relocation};
use std::path::{self, PathBuf};

/// The flags of `relocate`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Sessions that work below OLD move along. Checkpoints know their workspace too: the next one asks for --adopt.\n\nExit \
status 1 when no session works in OLD, 3 when some stay as they are.\n\nExamples:\n  session relocate ~/oaks ~/garden/oaks -n"
)]
pub(crate) struct Flags {
    /// Where the project was
    #[arg(value_hint = clap::ValueHint::DirPath)]
    old: PathBuf,
    /// Where it is
    #[arg(value_hint = clap::ValueHint::DirPath)]
    new: PathBuf,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Document {
    planned: Vec<Row>,
    relocated: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    from: String,
    to: String,
    exists: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let old = path::absolute(&flags.old).map_err(|error| Failure::input(&flags.old.display().to_string(), &error))?;
    // What exists is named by its real path.
    let new = flags.new.canonicalize().unwrap_or_else(|_| flags.new.clone());
    input::text_of(&new, "the new directory")?;
    let plan = context.store.plan_relocate(&old, &flags.new)?;
    let mut relocated = Relocated::default();
    if plan.is_empty() {
        context.out.note(&format!("no session works in {}", old.display()));
    } else if flags.consent.ask(context, &plan.iter().map(line).collect::<Vec<_>>())? == Answer::Go {
        relocated = context.store.relocate(&plan);
    }
    let failed = relocated.failed.iter().map(|(name, error)| Diagnostic::failed("not-relocated", name, error));
    let failed: Vec<Diagnostic> = failed.collect();
    context.out.diagnostics(&failed);
    if context.out.is_json() {
        context.out.document("relocate", failed.is_empty(), &failed, &document(&plan, &relocated))?;
    } else {
        for one in &relocated.moved {
            context.out.line(&format!("{}\t{}", one.name, one.to))?;
        }
    }
    Ok(match () {
        () if plan.is_empty() => Exit::No,
        () if failed.is_empty() => Exit::Done,
        () => Exit::Partial,
    })
}

fn line(one: &Relocation) -> String {
    let missing = if one.exists { "" } else { ", which does not exist" };
    format!("{}: {} becomes {}{missing}", one.name, one.from, one.to)
}

fn document(plan: &[Relocation], relocated: &Relocated) -> Document {
    let row = |one: &Relocation| Row {
        name: one.name.to_string(),
        from: one.from.clone(),
        to: one.to.clone(),
        exists: one.exists,
    };
    Document {
        planned: plan.iter().map(row).collect(),
        relocated: relocated.moved.iter().map(|one| one.name.to_string()).collect(),
    }
}
