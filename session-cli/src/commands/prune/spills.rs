//! `session prune --only tmp`

use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use serde::Serialize;
use session_core::SessionName;
use session_store::{SpillPlan, StoreError};

#[derive(Serialize)]
struct Document {
    planned: Vec<Planned>,
    pruned: Vec<InTrash>,
}

#[derive(Serialize)]
struct Planned {
    name: String,
    files: Vec<String>,
    kept: u64,
    protections: Vec<String>,
}

#[derive(Serialize)]
struct InTrash {
    session: String,
    trash: String,
}

/// Moves the spilled outputs of these sessions that nothing mentions to the trash.
pub(super) fn run(context: &Context, names: &[SessionName], consent: Consent) -> Result<Exit, Failure> {
    let (mut plans, mut diagnostics) = (Vec::new(), Vec::new());
    for name in names {
        match context.store.plan_prune_spills(name) {
            Ok(plan) if plan.kept > 0 || !plan.doomed.is_empty() => plans.push(plan),
            // Nothing is spilled, or there is no directory that something could be spilled to.
            Ok(_) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => diagnostics.push(Diagnostic::failed("not-pruned", name, &error)),
        }
    }
    let is_nothing = plans.iter().all(|plan| plan.doomed.is_empty());
    let mut pruned = Vec::new();
    if is_nothing {
        context.out.note("nothing to prune");
    } else if consent.ask(context, &plans.iter().flat_map(lines).collect::<Vec<_>>())? == Answer::Go {
        for plan in plans.iter().filter(|plan| !plan.doomed.is_empty()) {
            match context.store.prune_spills(plan) {
                Ok(entry) => {
                    pruned.extend(entry.map(|entry| InTrash { session: plan.name.to_string(), trash: entry.id }));
                }
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

fn print(
    context: &Context,
    plans: &[SpillPlan],
    pruned: Vec<InTrash>,
    diagnostics: &[Diagnostic],
) -> Result<(), Failure> {
    context.out.diagnostics(diagnostics);
    if !context.out.is_json() {
        return pruned.iter().try_for_each(|one| context.out.line(&format!("{}\t{}", one.session, one.trash)));
    }
    let planned = plans.iter().map(|plan| Planned {
        name: plan.name.to_string(),
        files: plan.doomed.iter().cloned().collect(),
        kept: plan.kept,
        protections: plan.protections.iter().map(ToString::to_string).collect(),
    });
    let document = Document { planned: planned.collect(), pruned };
    context.out.document("prune-tmp", diagnostics.is_empty(), diagnostics, &document)
}

fn lines(plan: &SpillPlan) -> Vec<String> {
    let name = &plan.name;
    let mut lines: Vec<String> = plan.doomed.iter().map(|file| format!("prune {name}: tmp/{file}")).collect();
    lines.extend(plan.protections.iter().map(|why| format!("keep {name}: {why}")));
    lines
}
