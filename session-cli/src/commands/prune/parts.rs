//! `session prune --only`

use super::Part;
use crate::commands::checkpoint;
use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::progress::Bar;
use serde::Serialize;
use session_core::SessionName;
use session_store::{PartPlan, Protection, PrunePart, StoreError};

#[derive(Serialize)]
struct Document {
    planned: Vec<Planned>,
    pruned: Vec<InTrash>,
}

#[derive(Serialize)]
struct Planned {
    name: String,
    part: &'static str,
    doomed: Vec<String>,
    kept: u64,
    protections: Vec<super::Protection>,
}

#[derive(Serialize)]
struct InTrash {
    session: String,
    part: &'static str,
    trash: String,
}

/// Moves these parts of sessions to the trash, as far as nothing needs them.
pub(super) fn run(context: &Context, names: &[SessionName], parts: &[Part], consent: Consent) -> Result<Exit, Failure> {
    let (mut plans, mut diagnostics) = (Vec::new(), Vec::new());
    let bar = Bar::about(context.out.is_quiet(), "looking at the sessions");
    for name in names {
        bar.turn_to(&format!("looking at {name}"));
        for part in parts {
            match plan(context, name, part.of_store()) {
                Ok(plan) if plan.kept > 0 || !plan.doomed.is_empty() => plans.push(plan),
                // Nothing is there, or there is no directory that something could be in.
                Ok(_) | Err(StoreError::NotFound { .. }) => {}
                Err(error) => diagnostics.push(Diagnostic::failed("not-pruned", name, &error)),
            }
        }
    }
    drop(bar);
    let is_nothing = plans.iter().all(|plan| plan.doomed.is_empty());
    let mut pruned = Vec::new();
    if is_nothing {
        context.out.note("nothing to prune");
    } else if consent.ask(context, &plans.iter().flat_map(lines).collect::<Vec<_>>())? == Answer::Go {
        let bar = Bar::about(context.out.is_quiet(), "moving to the trash");
        for plan in plans.iter().filter(|plan| !plan.doomed.is_empty()) {
            bar.turn_to(&format!("moving {} of {} to the trash", plan.part.as_str(), plan.name));
            match context.store.prune_part(plan) {
                Ok(entry) => pruned.extend(entry.map(|entry| InTrash {
                    session: plan.name.to_string(),
                    part: plan.part.as_str(),
                    trash: entry.id,
                })),
                Err(error) => diagnostics.push(Diagnostic::failed("not-pruned", &plan.name, &error)),
            }
        }
    }
    print(context, &plans, pruned, &diagnostics)?;
    Ok(match () {
        () if !diagnostics.is_empty() => Exit::Partial,
        () if is_nothing => Exit::No,
        () => Exit::Done,
    })
}

fn plan(context: &Context, name: &SessionName, part: PrunePart) -> Result<PartPlan, StoreError> {
    let mut plan = context.store.plan_prune_part(name, part)?;
    if part == PrunePart::Checkpoints && !plan.doomed.is_empty() {
        match checkpoint::pinned(context, name) {
            Ok(Some(turn)) => plan.keep(Protection::PinnedCheckpoint { turn }),
            Ok(None) => {}
            Err(failure) => plan.keep(Protection::Damaged { what: failure.text }),
        }
    }
    Ok(plan)
}

fn print(
    context: &Context,
    plans: &[PartPlan],
    pruned: Vec<InTrash>,
    diagnostics: &[Diagnostic],
) -> Result<(), Failure> {
    context.out.diagnostics(diagnostics);
    if !context.out.is_json() {
        return pruned.iter().try_for_each(|one| context.out.line(&format!("{}\t{}", one.session, one.trash)));
    }
    let planned = plans.iter().map(|plan| Planned {
        name: plan.name.to_string(),
        part: plan.part.as_str(),
        doomed: plan.doomed.iter().cloned().collect(),
        kept: plan.kept,
        protections: plan.protections.iter().map(super::Protection::new).collect(),
    });
    let document = Document { planned: planned.collect(), pruned };
    context.out.document("prune-part", diagnostics.is_empty(), diagnostics, &document)
}

fn lines(plan: &PartPlan) -> Vec<String> {
    let (name, part) = (&plan.name, plan.part.as_str());
    let path = |what: &String| if what == part { part.to_owned() } else { format!("{part}/{what}") };
    let mut lines: Vec<String> = plan.doomed.iter().map(|what| format!("prune {name}: {}", path(what))).collect();
    lines.extend(plan.protections.iter().map(|why| format!("keep {part} of {name}: {why}")));
    lines
}
