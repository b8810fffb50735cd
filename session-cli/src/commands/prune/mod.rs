//! `session prune`

mod parts;

use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::progress::Bar;
use crate::span;
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_core::SessionName;
use session_store::{PrunePart, PrunePlan, PruneRules, Pruned};
use std::num::{NonZeroU64, NonZeroUsize};

/// The flags of `prune`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Chosen are the sessions for which every rule holds. Never pruned are sessions with a live turn or a running process, \
pinned or damaged ones, one that a fork or another member of its chain needs that stays, and one whose time has not come yet. Everything \
goes to the trash.\n\nExit status 1 when there is nothing to prune, 3 when something that was planned stays.\n\nExamples:\n  \
session prune --older-than 30d --keep 20 -n\n  session prune --empty --older-than 1d -y\n  session prune --workspace-gone --larger-than 100MiB\n  session prune --only proc,tmp -n"
)]
#[command(group = clap::ArgGroup::new("rule").multiple(true)
    .args(["older_than", "keep", "larger_than", "empty", "workspace_gone"]))]
pub(crate) struct Flags {
    /// Not used since then: 30d, 2026-11-01
    #[arg(long, value_name = "WHEN", value_parser = span::past)]
    older_than: Option<DateTime<Utc>>,
    /// Not among the newest N
    #[arg(long, value_name = "N")]
    keep: Option<NonZeroUsize>,
    /// Takes more room on the disk: 500kB, 10MiB
    #[arg(long, value_name = "SIZE", value_parser = span::size)]
    larger_than: Option<NonZeroU64>,
    /// Has no message
    #[arg(long)]
    empty: bool,
    /// The directory that it worked in is gone
    #[arg(long)]
    workspace_gone: bool,
    /// Only these parts of the sessions, separated by commas
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<Part>,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// All checkpoints; a rule must say of which sessions
    Checkpoints,
    /// Records and logs of background processes that have ended
    Proc,
    /// Spilled output that no live message mentions
    Tmp,
}

impl Part {
    fn of_store(self) -> PrunePart {
        match self {
            Part::Checkpoints => PrunePart::Checkpoints,
            Part::Proc => PrunePart::Proc,
            Part::Tmp => PrunePart::Tmp,
        }
    }
}

#[derive(Serialize)]
struct Document {
    planned: Vec<Planned>,
    kept: Vec<Kept>,
    pruned: Vec<InTrash>,
}

#[derive(Serialize)]
struct Planned {
    name: String,
    reasons: Vec<String>,
}

#[derive(Serialize)]
struct Kept {
    name: String,
    protections: Vec<Protection>,
}

#[derive(Serialize)]
struct Protection {
    code: &'static str,
    text: String,
}

impl Protection {
    fn new(why: &session_store::Protection) -> Self {
        Protection { code: why.as_str(), text: why.to_string() }
    }
}

#[derive(Serialize)]
struct InTrash {
    session: String,
    trash: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let rules = PruneRules {
        older_than: flags.older_than.map(|time| time.fixed_offset()),
        keep_newest: flags.keep,
        larger_than_bytes: flags.larger_than,
        empty: flags.empty,
        workspace_gone: flags.workspace_gone,
    };
    let has_rules = rules != PruneRules::default();
    if !has_rules && (flags.only.is_empty() || flags.only.contains(&Part::Checkpoints)) {
        return Err(Failure::new(Exit::Usage, "nothing says which sessions are pruned")
            .hint("--older-than, --keep, --larger-than, --empty and --workspace-gone do"));
    }
    if !has_rules {
        return parts::run(context, &context.store.names()?, &flags.only, flags.consent);
    }
    let bar = Bar::about(context.out.is_quiet(), "looking at the sessions");
    let plan = context.store.plan_prune(&rules)?;
    drop(bar);
    if !flags.only.is_empty() {
        let names: Vec<SessionName> = plan.doomed.iter().map(|doomed| doomed.name.clone()).collect();
        return parts::run(context, &names, &flags.only, flags.consent);
    }
    let mut pruned = Pruned::default();
    if plan.doomed.is_empty() {
        kept_lines(&plan).iter().for_each(|line| context.out.note(line));
        context.out.note("nothing to prune");
    } else if flags.consent.ask(context, &lines(&plan))? == Answer::Go {
        let bar = Bar::about(context.out.is_quiet(), "moving sessions to the trash");
        pruned = context.store.prune(&plan)?;
        drop(bar);
    }
    print(context, &plan, &pruned)?;
    Ok(match () {
        () if plan.doomed.is_empty() => Exit::No,
        () if pruned.failed.is_empty() => Exit::Done,
        () => Exit::Partial,
    })
}

fn lines(plan: &PrunePlan) -> Vec<String> {
    let reasons = |doomed: &session_store::Doomed| joined(&doomed.reasons);
    let mut lines: Vec<String> =
        plan.doomed.iter().map(|doomed| format!("prune {}: {}", doomed.name, reasons(doomed))).collect();
    lines.extend(kept_lines(plan));
    lines
}

fn kept_lines(plan: &PrunePlan) -> Vec<String> {
    plan.kept.iter().map(|kept| format!("keep {}: {}", kept.name, joined(&kept.protections))).collect()
}

fn joined(reasons: &[impl ToString]) -> String {
    reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn print(context: &Context, plan: &PrunePlan, pruned: &Pruned) -> Result<(), Failure> {
    let failed = pruned.failed.iter().map(|(name, error)| Diagnostic::failed("not-pruned", name, error));
    let failed: Vec<Diagnostic> = failed.collect();
    context.out.diagnostics(&failed);
    if context.out.is_json() {
        return context.out.document("prune", failed.is_empty(), &failed, &document(plan, pruned));
    }
    for entry in &pruned.trashed {
        context.out.line(&match context.out.is_terminal() {
            true => {
                format!("{} moved to the trash; `session trash restore {}` brings it back", entry.session, entry.id)
            }
            false => format!("{}\t{}", entry.session, entry.id),
        })?;
    }
    Ok(())
}

fn document(plan: &PrunePlan, pruned: &Pruned) -> Document {
    let planned = plan.doomed.iter().map(|doomed| Planned {
        name: doomed.name.to_string(),
        reasons: doomed.reasons.iter().map(ToString::to_string).collect(),
    });
    let kept = plan.kept.iter().map(|kept| Kept {
        name: kept.name.clone(),
        protections: kept.protections.iter().map(Protection::new).collect(),
    });
    let in_trash =
        pruned.trashed.iter().map(|entry| InTrash { session: entry.session.to_string(), trash: entry.id.clone() });
    Document { planned: planned.collect(), kept: kept.collect(), pruned: in_trash.collect() }
}
