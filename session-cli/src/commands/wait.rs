//! `session wait`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Rows;
use crate::output::escape::{Layout, escaped};
use crate::view::process::ProcessDocument;
use crate::{span, target};
use serde::Serialize;
use session_proc::{ProcessId, State, Status, Until, Waited};
use std::time::Duration;

/// The flags of `wait`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --until the exit status is 0 when the process ended with status 0, and 1 when it ended in another way. \
With --until it is 0 when a line matched, and 1 when the process ended before. 124 when the time was over.\n\nExamples:\n  \
session wait @ bg1\n  session wait @ bg2 --until '^ready' --timeout 30s"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The process
    #[arg(add = target::process_completer(target::Processes::Running))]
    id: ProcessId,
    /// Wait until a line of its output matches this regular expression
    #[arg(long, value_name = "PATTERN", value_parser = Until::matching)]
    until: Option<Until>,
    /// Wait no longer than this
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    timeout: Option<Duration>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let (name, registry) = context.store.registry_of(&name, &flags.id)?;
    let until = flags.until.as_ref().unwrap_or(&Until::Exit);
    let told = Told::of(registry.wait(&flags.id, until, flags.timeout)?);
    let exit = exit_of(&told, flags.until.is_some());
    context.out.answer("wait", &ToldDocument::new(name.as_str(), &told), |out| {
        let (id, status) = (&flags.id, &told.status);
        let code = status.exit_code.map(|code| code.to_string()).unwrap_or_default();
        let line = told.line.as_deref().unwrap_or_default();
        if !out.is_terminal() {
            let mut rows = Rows::new(&["SESSION", "ID", "STATE", "STATUS", "LINE"]);
            rows.push(vec![name.to_string(), id.to_string(), status.state.to_string(), code, line.to_owned()]);
            return out.rows(&rows);
        }
        let sentence = match &told.line {
            Some(line) => format!("{id} wrote: {line}"),
            None => format!("{id} {}", how(status)),
        };
        out.line(&escaped(&sentence, Layout::OneLine))
    })?;
    Ok(exit)
}

/// How a waiting ended.
pub(crate) struct Told {
    pub(crate) status: Status,
    pub(crate) line: Option<String>,
    pub(crate) timed_out: bool,
}

impl Told {
    pub(crate) fn of(waited: Waited) -> Self {
        match waited {
            Waited::Ended(status) => Told { status, line: None, timed_out: false },
            Waited::Matched { line, status } => Told { status, line: Some(line), timed_out: false },
            Waited::TimedOut(status) => Told { status, line: None, timed_out: true },
        }
    }
}

/// The same, for machines.
#[derive(Debug, Serialize)]
pub(crate) struct ToldDocument {
    process: ProcessDocument,
    matched: Option<String>,
    timed_out: bool,
}

impl ToldDocument {
    pub(crate) fn new(session: &str, told: &Told) -> Self {
        let process = ProcessDocument::new(session, &told.status);
        ToldDocument { process, matched: told.line.clone(), timed_out: told.timed_out }
    }
}

/// The exit status that says it.
pub(crate) fn exit_of(told: &Told, for_line: bool) -> Exit {
    let is_yes = if for_line { told.line.is_some() } else { told.status.exit_code == Some(0) };
    match (told.timed_out, is_yes) {
        (true, _) => Exit::TimedOut,
        (false, true) => Exit::Done,
        (false, false) => Exit::No,
    }
}

fn how(status: &Status) -> String {
    match (&status.state, status.exit_code, &status.signal) {
        (State::Exited, _, Some(signal)) => format!("was ended by {signal}"),
        (State::Exited, Some(code), None) => format!("exited with status {code}"),
        (State::Killed, ..) => "was killed".to_owned(),
        (State::Gone, ..) => "is gone, and nobody wrote down how it ended".to_owned(),
        (state, ..) => format!("is {state}"),
    }
}
