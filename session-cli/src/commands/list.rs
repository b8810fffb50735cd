//! `session list`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, when};
use crate::{shell, span};
use anstyle::{AnsiColor, Style};
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_core::Timestamp;
use session_store::{Empties, ListSubject, SessionInfo, SessionState};
use std::cmp::{Ordering, Reverse};
use std::path::{Path, PathBuf};

/// The flags of `list`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  session list --workspace --since 3d\n  session show \"$(session list | fzf | cut -f1)\""
)]
pub(crate) struct Flags {
    /// Only sessions that work in this directory [default without a value: the current one]
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".", require_equals = true)]
    workspace: Option<PathBuf>,
    /// Only sessions with a live turn
    #[arg(long)]
    running: bool,
    /// Only sessions updated since then: 2h, 3d, 2026-11-01 (local), or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    since: Option<DateTime<Utc>>,
    /// Only sessions updated until then
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    until: Option<DateTime<Utc>>,
    /// The order
    #[arg(long, value_name = "KEY", default_value = "updated")]
    sort: Sort,
    /// The other way round
    #[arg(short, long)]
    reverse: bool,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Also sessions without a message, and directories without a history
    #[arg(long)]
    all: bool,
    /// Print names and nothing else
    #[arg(long)]
    names_only: bool,
    /// End names with a NUL byte instead of a newline
    #[arg(short = '0', long, requires = "names_only")]
    null: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Sort {
    Updated,
    Created,
    Size,
    Messages,
    Name,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let empties = if flags.all { Empties::Show } else { Empties::Hide };
    let dir = flags
        .workspace
        .as_ref()
        .map(|dir| dir.canonicalize().map_err(|error| Failure::input(&dir.display().to_string(), &error)));
    let dir = dir.transpose()?;
    let wanted = |session: &SessionInfo| is_wanted(flags, dir.as_deref(), session);
    let sessions = match (flags.sort, flags.reverse, flags.limit) {
        // The store's own order: what comes behind the last one need not be counted.
        (Sort::Updated, false, Some(limit)) => context.store.newest(empties, limit, wanted)?,
        (key, reverse, limit) => {
            let mut sessions = context.store.list(empties)?;
            sessions.retain(wanted);
            sort(&mut sessions, key);
            if reverse {
                sessions.reverse();
            }
            sessions.truncate(limit.unwrap_or(usize::MAX));
            sessions
        }
    };
    print(flags, context, &sessions, &lost(flags, context, &sessions)?)?;
    let is_partial = |session: &SessionInfo| session.state == SessionState::Damaged;
    Ok(if sessions.iter().any(is_partial) { Exit::Partial } else { Exit::Done })
}

fn is_wanted(flags: &Flags, dir: Option<&Path>, session: &SessionInfo) -> bool {
    let updated = |keep: &dyn Fn(&Timestamp) -> bool| session.updated.as_ref().is_some_and(keep);
    dir.is_none_or(|dir| session.works_in(dir))
        && (!flags.running || session.state == SessionState::Running)
        && flags.since.is_none_or(|since| updated(&|ts| *ts >= since))
        && flags.until.is_none_or(|until| updated(&|ts| *ts <= until))
}

fn sort(sessions: &mut [SessionInfo], key: Sort) {
    match key {
        // The store's own order.
        Sort::Updated => {}
        Sort::Created => sessions.sort_by_key(|session| Reverse(session.created)),
        Sort::Size => sessions.sort_by_key(|session| Reverse(session.bytes)),
        Sort::Messages => sessions.sort_by_key(|session| Reverse(session.messages)),
        Sort::Name => sessions.sort_by(|a, b| natural(&a.name, &b.name)),
    }
}

fn natural(a: &str, b: &str) -> Ordering {
    a.to_lowercase().cmp(&b.to_lowercase()).then_with(|| a.cmp(b))
}

fn print(flags: &Flags, context: &Context, sessions: &[SessionInfo], lost: &[Diagnostic]) -> Result<(), Failure> {
    let diagnostics: Vec<_> = sessions.iter().flat_map(diagnostics).chain(lost.iter().cloned()).collect();
    if context.out.is_json() {
        return document(context, sessions, &diagnostics);
    }
    if flags.names_only {
        let end = if flags.null { '\0' } else { '\n' };
        let names: String = sessions.iter().map(|session| format!("{}{end}", session.name)).collect();
        context.out.text(names.as_bytes())?;
    } else {
        context.out.rows(&rows(context, sessions))?;
        if sessions.is_empty() && context.out.is_terminal() {
            context.out.note("no sessions; `session new` creates one");
        }
    }
    context.out.diagnostics(&diagnostics);
    Ok(())
}

/// Says where sessions are that lost their workspace, if it is here, and how many others there are.
fn hint(context: &Context, sessions: &[SessionInfo]) {
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize()).ok();
    let lost = sessions.iter().filter(|session| session.lost_its_workspace());
    let (moved, gone): (Vec<_>, Vec<_>) =
        lost.partition(|session| here.as_deref().is_some_and(|here| session.works_in(here)));
    let mut olds: Vec<&str> = moved.iter().filter_map(|session| session.workspace.as_deref()).collect();
    olds.sort_unstable();
    olds.dedup();
    for old in olds {
        context.out.note(&format!(
            "note: this directory was {old}; `session relocate {} .` tells its sessions",
            shell::quoted(old)
        ));
    }
    if !gone.is_empty() {
        context.out.note(&format!("note: {} worked in directories that are gone; see `session relocate`", gone.len()));
    }
}

/// Who asks for the sessions of one directory may miss those of a project that was moved there: all that lost their
/// workspace are named. In a whole list a person is told how many there are.
fn lost(flags: &Flags, context: &Context, sessions: &[SessionInfo]) -> Result<Vec<Diagnostic>, Failure> {
    if flags.workspace.is_none() {
        if context.out.is_terminal() {
            hint(context, sessions);
        }
        return Ok(Vec::new());
    }
    let all = context.store.list(Empties::Hide)?;
    let lost = all.iter().filter(|session| session.lost_its_workspace()).map(|session| Diagnostic {
        code: "workspace-gone".to_owned(),
        session: Some(session.name.clone()),
        line: None,
        offset: None,
        text: format!(
            "its workspace {} is gone; `session relocate` tells it where it is",
            session.workspace.as_deref().unwrap_or_default()
        ),
    });
    Ok(lost.collect())
}

fn rows(context: &Context, sessions: &[SessionInfo]) -> Rows {
    let mut rows = Rows::new(&["NAME", "UPDATED", "MSGS", "STATE", "TITLE"]).numeric(2);
    let now = Utc::now();
    for session in sessions {
        let updated = session.updated.as_ref().map(|ts| match context.out.is_terminal() {
            true => when::relative(ts, now),
            false => when::machine(ts),
        });
        let colour = match session.state {
            SessionState::Running => AnsiColor::Green,
            SessionState::Damaged => AnsiColor::Red,
            _ => AnsiColor::BrightBlack,
        };
        rows.push_styled(
            vec![
                session.name.clone(),
                updated.unwrap_or_default(),
                session.messages.map(|messages| messages.to_string()).unwrap_or_default(),
                session.state.as_str().to_owned(),
                session.title.clone().unwrap_or_default(),
            ],
            &[(0, Style::new().bold()), (3, Style::new().fg_color(Some(colour.into())))],
        );
    }
    rows
}

fn diagnostics(session: &SessionInfo) -> Vec<Diagnostic> {
    let diagnostic = |note: &session_store::ListNote<'_>| {
        let code = match &note.about {
            ListSubject::Damage(_) => "damaged",
            ListSubject::Ahead(_) => "time-ahead",
            ListSubject::Flat(_) => "flat-file",
            _ => "note",
        };
        Diagnostic {
            code: code.to_owned(),
            session: Some(session.name.clone()),
            line: None,
            offset: None,
            text: note.about.to_string(),
        }
    };
    session.notes().iter().map(diagnostic).collect()
}

fn document(context: &Context, sessions: &[SessionInfo], diagnostics: &[Diagnostic]) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        sessions: Vec<Row<'a>>,
    }
    #[derive(Serialize)]
    struct Row<'a> {
        name: &'a str,
        title: Option<&'a str>,
        created: Option<String>,
        updated: Option<String>,
        workspace: Option<&'a str>,
        model: Option<&'a str>,
        parent: Option<&'a str>,
        succeeded_by: Option<&'a str>,
        state: &'a str,
        pid: Option<i32>,
        messages: Option<u64>,
        bytes: u64,
        cost: Option<f64>,
        inbox_pending: u64,
        defects: u64,
    }
    let sessions: Vec<_> = sessions
        .iter()
        .map(|session| Row {
            name: &session.name,
            title: session.title.as_deref(),
            created: session.created.as_ref().map(when::machine),
            updated: session.updated.as_ref().map(when::machine),
            workspace: session.workspace.as_deref(),
            model: session.model.as_deref(),
            parent: session.parent.as_deref(),
            succeeded_by: session.succeeded_by.as_deref(),
            state: session.state.as_str(),
            pid: session.pid,
            messages: session.messages,
            bytes: session.bytes,
            cost: session.cost,
            inbox_pending: session.inbox_pending,
            defects: session.defects,
        })
        .collect();
    let complete = diagnostics.iter().all(|diagnostic| diagnostic.code != "damaged");
    context.out.document("list", complete, diagnostics, &Document { sessions })
}
