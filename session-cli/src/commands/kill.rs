//! `session kill`

use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows};
use crate::{span, target};
use serde::Serialize;
use session_core::SessionName;
use session_proc::{LostWhy, ProcError, ProcessId, Registry, Signal, Status, Stop, Stopped, Survivor, Which};
use session_store::StoreError;
use std::time::Duration;

/// The flags of `kill`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each process is asked to end with everything that belongs to it, given time, and killed then; who it is is checked before \
each signal. --all also stops what no record says to run (lost in `session ps`); it leaves alone whatever a live turn has started by \
itself. Exit status 1 when some process survived, which is named; 3 when one of several could not be dealt with and the others \
were.\n\nExamples:\n  session kill @ bg1 -y\n  session kill oaks --all -n\n  session kill oaks bg2 bg3 --signal INT --grace 30s -y"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The processes
    #[arg(add = target::process_completer(target::Processes::Running), required_unless_present = "all")]
    ids: Vec<ProcessId>,
    /// All of the session, also what no record says to run
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// The signal that asks
    #[arg(long, value_name = "SIGNAL", default_value = "TERM", value_parser = signal)]
    signal: Signal,
    /// The time between asking and killing
    #[arg(long, value_name = "DUR", default_value = "5s", value_parser = span::duration)]
    grace: Duration,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Document {
    session: String,
    planned: Vec<String>,
    stopped: Vec<StoppedDocument>,
}

#[derive(Serialize)]
struct StoppedDocument {
    session: String,
    id: String,
    /// `null` for one without a record.
    state: Option<String>,
    signalled: Vec<i32>,
    survivors: Vec<SurvivorDocument>,
}

#[derive(Serialize)]
struct SurvivorDocument {
    pid: i32,
    command: Option<String>,
    why: String,
}

/// What came of one stop.
struct Outcome<'a> {
    session: &'a SessionName,
    /// The process that is named. `None`: all of the session.
    id: Option<&'a ProcessId>,
    stopped: Result<Vec<Stopped>, ProcError>,
}

/// The processes of one session that are to be stopped.
struct Chosen {
    session: SessionName,
    registry: Registry,
    /// Those that are named; all of the session where `--all` is given.
    ids: Vec<ProcessId>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve_to_change(context, &flags.session)?;
    let chosen = choose(flags, context, &name)?;
    let mut plan = Vec::new();
    for one in &chosen {
        let planned = if flags.all { plan_all(&one.registry)? } else { plan_some(&one.registry, &one.ids)? };
        let of = if one.session == name { String::new() } else { format!("{}: ", one.session) };
        plan.extend(planned.into_iter().map(|(id, what)| (format!("{of}{id}: {what}, to be stopped"), id)));
    }
    let mut document = Document { session: name.to_string(), planned: Vec::new(), stopped: Vec::new() };
    let lines: Vec<_> = plan.iter().map(|(line, _)| line.clone()).collect();
    document.planned = plan.into_iter().map(|(_, id)| id).collect();
    let mut rows = Rows::new(&["SESSION", "ID", "STATE", "SURVIVORS"]);
    let mut diagnostics = Vec::new();
    let mut exit = Exit::Done;
    // With nothing to stop there is nothing to agree to.
    if !lines.is_empty() && flags.consent.ask(context, &lines)? == Answer::Go {
        let outcomes: Vec<_> = chosen.iter().flat_map(|one| stop(flags, one)).collect();
        let is_only = outcomes.len() == 1;
        for Outcome { session, id, stopped } in outcomes {
            match stopped {
                Ok(stopped) => {
                    for stopped in &stopped {
                        diagnostics.extend(survivors_of(session, stopped));
                        document.stopped.push(StoppedDocument::new(session, stopped));
                        rows.push(row(session, stopped));
                    }
                }
                Err(error) if is_only => return Err(error.into()),
                // What was stopped besides is told.
                Err(error) => {
                    diagnostics.push(not_stopped(session, id, error));
                    exit = Exit::Partial;
                }
            }
        }
    }
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("kill", diagnostics.is_empty(), &diagnostics, &document)?;
    } else if !rows.is_empty() {
        context.out.rows(&rows)?;
    }
    Ok(if exit == Exit::Done && !diagnostics.is_empty() { Exit::No } else { exit })
}

/// The registries that have the processes: a compaction leaves them where they were started.
fn choose(flags: &Flags, context: &Context, name: &SessionName) -> Result<Vec<Chosen>, Failure> {
    if flags.all {
        let chain = context.store.registries(name)?;
        return Ok(chain
            .into_iter()
            .map(|(session, registry)| Chosen { session, registry, ids: Vec::new() })
            .collect());
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    for id in &flags.ids {
        let (session, registry) = context.store.registry_of(name, id)?;
        match chosen.iter_mut().find(|one| one.session == session) {
            Some(one) => one.ids.push(id.clone()),
            None => chosen.push(Chosen { session, registry, ids: vec![id.clone()] }),
        }
    }
    Ok(chosen)
}

fn stop<'a>(flags: &Flags, chosen: &'a Chosen) -> Vec<Outcome<'a>> {
    let Chosen { session, registry, ids } = chosen;
    let stop = Stop { signal: flags.signal, grace: flags.grace };
    if flags.all {
        // What had ended by itself is no news.
        let is_news = |one: &Stopped| !one.signalled.is_empty() || !one.survivors.is_empty();
        let stopped = registry.stop_all(Which::All, &stop);
        let stopped = stopped.map(|stopped| stopped.into_iter().filter(is_news).collect());
        return vec![Outcome { session, id: None, stopped }];
    }
    let of_one = |id| Outcome { session, id: Some(id), stopped: registry.stop(id, &stop).map(|one| vec![one]) };
    ids.iter().map(of_one).collect()
}

/// What is named, and what it is: ids and words.
fn plan_some(registry: &Registry, ids: &[ProcessId]) -> Result<Vec<(String, String)>, Failure> {
    let mut plan = Vec::new();
    for id in ids {
        plan.push((id.to_string(), described(&registry.look(id)?)));
    }
    Ok(plan)
}

/// What runs of a session.
pub(crate) fn plan_all(registry: &Registry) -> Result<Vec<(String, String)>, Failure> {
    let processes = registry.list()?.processes.into_iter().filter(|status| !status.state.is_final());
    let mut plan: Vec<_> = processes.map(|status| (status.id.to_string(), described(&status))).collect();
    for lost in registry.lost()? {
        let command = lost.command.map(|command| format!(" ({command})")).unwrap_or_default();
        let why = match lost.why {
            LostWhy::Outlived => ", which outlived it",
            LostWhy::NoRecord | LostWhy::OtherStart | LostWhy::TurnOver => " without a record",
        };
        plan.push((lost.id.to_string(), format!("process {}{command}{why}", lost.process.pid)));
    }
    Ok(plan)
}

fn described(status: &Status) -> String {
    let name = status.name.as_ref().map(|name| format!("{name}, ")).unwrap_or_default();
    format!("{name}{}, {}", status.command, status.state)
}

fn row(session: &SessionName, stopped: &Stopped) -> Vec<String> {
    let state = stopped.status.as_ref().map_or_else(|| "lost".to_owned(), |status| status.state.to_string());
    let pids: Vec<_> = stopped.survivors.iter().map(|survivor| survivor.member.process.pid.to_string()).collect();
    vec![session.to_string(), stopped.id.to_string(), state, pids.join(" ")]
}

fn not_stopped(session: &SessionName, id: Option<&ProcessId>, error: ProcError) -> Diagnostic {
    let diagnostic = Diagnostic::failed("not-stopped", session, &StoreError::from(error));
    let of = id.map(|id| format!("{id}: ")).unwrap_or_default();
    Diagnostic { text: format!("{of}{}", diagnostic.text), ..diagnostic }
}

fn survivors_of(session: &SessionName, stopped: &Stopped) -> Vec<Diagnostic> {
    let diagnostic = |survivor: &Survivor| Diagnostic {
        code: "survived".to_owned(),
        session: Some(session.to_string()),
        line: None,
        offset: None,
        text: format!("{}: {survivor}", stopped.id),
    };
    stopped.survivors.iter().map(diagnostic).collect()
}

impl StoppedDocument {
    fn new(session: &SessionName, stopped: &Stopped) -> Self {
        let survivor = |survivor: &Survivor| SurvivorDocument {
            pid: survivor.member.process.pid,
            command: survivor.member.command.clone(),
            why: survivor.why.to_string(),
        };
        StoppedDocument {
            session: session.to_string(),
            id: stopped.id.to_string(),
            state: stopped.status.as_ref().map(|status| status.state.to_string()),
            signalled: stopped.signalled.iter().map(|member| member.process.pid).collect(),
            survivors: stopped.survivors.iter().map(survivor).collect(),
        }
    }
}

fn signal(text: &str) -> Result<Signal, String> {
    Signal::from_name(text).ok_or_else(|| "there is no such signal; write it like TERM or INT".to_owned())
}
