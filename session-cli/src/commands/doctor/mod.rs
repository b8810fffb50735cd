//! `session doctor`

mod checkpoints;
mod document;
mod rows;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::output::Diagnostic;
use crate::output::number::counted;
use crate::progress::Bar;
use crate::{interrupt, target};
use checkpoints::AllCheckpoints;
use session_core::SessionName;
use session_core::checkpoint::CheckpointDepth;
use session_store::{Checkup, Examination, Finding, FindingCode, Repair, Repaired, Severity};

/// The flags of `doctor`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Looking changes nothing. --fix repairs what can be repaired without losing a byte: what it takes out of a history is in \
.quarantine of the session, what it replaces or moves away in .backup, and a notice in the history says what was done. A session in \
which a turn runs is left alone.\n\nExit status 1 when warnings or errors are left, 3 when something could not be read or repaired, 5 when a \
session was busy.\n\nExamples:\n  session doctor\n  session doctor oaks --deep\n  session doctor --fix -n\n  session doctor oaks --fix --json"
)]
pub(crate) struct Flags {
    /// The sessions [default: the whole store]
    #[arg(add = target::completer())]
    sessions: Vec<String>,
    /// Repair what can be repaired without losing anything
    #[arg(long)]
    fix: bool,
    /// Only say what --fix would do
    #[arg(short = 'n', long, requires = "fix")]
    dry_run: bool,
    /// Read every content of every checkpoint
    #[arg(long)]
    deep: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let repairs = flags.fix && !flags.dry_run;
    let resolve_all = if repairs { target::resolve_all_to_change } else { target::resolve_all };
    let names: Vec<SessionName> = resolve_all(context, &flags.sessions)?;
    let watch = interrupt::watch()?;
    let bar = Bar::about(context.out.is_quiet(), "looking at the store");
    let progress = |session: &str| bar.turn_to(&format!("looking at {session}"));
    let checkpoints = AllCheckpoints { context, cancel: watch.cancel() };
    let checkup = Checkup {
        sessions: (!names.is_empty()).then_some(&names),
        depth: if flags.deep { CheckpointDepth::Contents } else { CheckpointDepth::Links },
        checkpoints: Some(&checkpoints),
        progress: Some(&progress),
    };
    let repaired = if repairs { context.store.repair(&checkup)? } else { of(context.store.examine(&checkup)?) };
    drop(bar);
    print(flags, context, &repaired)?;
    Ok(exit(&repaired))
}

/// An examination as a repair that did nothing.
fn of(examination: Examination) -> Repaired {
    let mut repaired = Repaired::default();
    (repaired.sessions, repaired.findings) = (examination.sessions, examination.findings);
    repaired
}

fn print(flags: &Flags, context: &Context, repaired: &Repaired) -> Result<(), Failure> {
    let diagnostics = diagnostics(repaired);
    let complete = diagnostics.is_empty();
    if context.out.is_json() {
        return context.out.document("doctor", complete, &diagnostics, &document::document(repaired));
    }
    if !repaired.findings.is_empty() {
        context.out.rows(&rows::rows(context, &repaired.findings, flags.dry_run))?;
    }
    for repair in &repaired.repairs {
        let session = repair.session.as_deref().unwrap_or(rows::STORE);
        repair.done.iter().for_each(|done| context.out.note(&format!("{session}: {done}")));
        repair.kept.iter().for_each(|kept| context.out.note(&format!("{session}: kept in {}", kept.display())));
    }
    context.out.diagnostics(&diagnostics);
    let left = repaired.findings.iter().filter(|finding| !finding.fixed).count();
    let fixed = repaired.findings.len() - left;
    let sessions = counted(repaired.sessions, "session", "sessions");
    let findings = counted(left as u64, "finding", "findings");
    context.out.note(&match (left, fixed) {
        (0, 0) => format!("{sessions}, nothing found"),
        (_, 0) => format!("{sessions}, {findings}"),
        (_, fixed) => format!("{sessions}, {findings} left, {fixed} fixed"),
    });
    Ok(())
}

/// What could not be looked at or repaired.
fn diagnostics(repaired: &Repaired) -> Vec<Diagnostic> {
    let unreadable = repaired.findings.iter().filter(|finding| finding.code == FindingCode::Unreadable);
    let unreadable = unreadable.map(|finding| Diagnostic {
        code: "unreadable".to_owned(),
        session: finding.session.clone(),
        line: None,
        offset: None,
        text: finding.text.clone(),
    });
    let not_repaired = repaired.repairs.iter().filter_map(|repair| {
        let error = repair.error.as_ref()?;
        Some(Diagnostic {
            code: if repair.is_busy() { "busy" } else { "not-repaired" }.to_owned(),
            session: repair.session.clone(),
            line: None,
            offset: None,
            text: causes(error),
        })
    });
    unreadable.chain(not_repaired).collect()
}

fn exit(repaired: &Repaired) -> Exit {
    let matters = |finding: &Finding| !finding.fixed && finding.severity != Severity::Info;
    let is_unreadable = |finding: &Finding| finding.code == FindingCode::Unreadable;
    match () {
        () if repaired.repairs.iter().any(Repair::is_busy) => Exit::Busy,
        () if repaired.repairs.iter().any(|repair| repair.error.is_some()) => Exit::Partial,
        () if repaired.findings.iter().any(is_unreadable) => Exit::Partial,
        () if repaired.findings.iter().any(matters) => Exit::No,
        () => Exit::Done,
    }
}
