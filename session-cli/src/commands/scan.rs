//! `session scan`

use super::checkpoint::attach::{Missing, attached};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::output::number::{counted, number};
use crate::progress::Bar;
use crate::target;
use crate::view::secret::{Backup, Finding, Findings, InCheckpoint};
use indicatif::HumanBytes;
use serde::Serialize;
use session_checkpoint::Cancel;
use session_core::SessionName;
use session_core::checkpoint::Checkpointer;
use session_store::{SecretScan, StoreError};

/// The flags of `scan`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Looked through are the history, metadata, spilled output, logs and records of processes, the inbox, what was put aside, and \
checkpoints. A secret is never shown whole.\n\nExit status 1 when secrets were found, 3 when something could not be looked through.\n\n\
Examples:\n  session scan\n  session scan oaks --json"
)]
pub(crate) struct Flags {
    /// The sessions [default: all]
    #[arg(add = target::completer())]
    sessions: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    findings: &'a [Finding],
    checkpoints: &'a [InCheckpoint],
    backups: &'a [Backup],
    sessions: u64,
    files: u64,
    bytes: u64,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let all = flags.sessions.is_empty();
    let names = if all { context.store.names()? } else { target::resolve_all(context, &flags.sessions)? };
    let mut found = Findings::default();
    for name in &names {
        match scanned(context, name) {
            Ok(scan) => found.add(name, &scan),
            // What is wrong with one of all keeps no other from being looked through.
            Err(error) if all => found.diagnostics.push(failed(name, &error)),
            Err(failure) => return Err(failure),
        }
    }
    let complete = found.diagnostics.is_empty();
    context.out.diagnostics(&found.diagnostics);
    if context.out.is_json() {
        let Findings { findings, checkpoints, backups, files, bytes, diagnostics } = &found;
        let sessions = names.len() as u64;
        let document = Document { findings, checkpoints, backups, sessions, files: *files, bytes: *bytes };
        context.out.document("scan", complete, diagnostics, &document)?;
    } else {
        context.out.rows(&found.rows())?;
        tell(context, &found, names.len());
    }
    Ok(match () {
        () if !complete => Exit::Partial,
        () if found.findings.is_empty() && found.checkpoints.is_empty() => Exit::Done,
        () => Exit::No,
    })
}

/// Looks through one session, with its checkpoints.
pub(super) fn scanned(context: &Context, name: &SessionName) -> Result<SecretScan, Failure> {
    looking(context, name, |checkpoints, progress| context.store.scan_secrets(name, checkpoints, progress))
}

/// Has `look` look through one session, with its checkpoints and a bar.
pub(super) fn looking<T>(
    context: &Context,
    name: &SessionName,
    look: impl FnOnce(Option<&dyn Checkpointer>, &mut dyn FnMut(u64)) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    let bar = Bar::new(context.out.is_quiet());
    let mut bytes = 0;
    let mut progress = |read: u64| {
        bytes += read;
        bar.say(|| format!("{name}, {} looked through", HumanBytes(bytes)));
    };
    let checkpoints = attached(context, name, Missing::Leave, Cancel::new())?;
    let checkpoints = checkpoints.as_ref().map(|attached| attached as &dyn Checkpointer);
    Ok(look(checkpoints, &mut progress)?)
}

fn failed(name: &SessionName, failure: &Failure) -> Diagnostic {
    Diagnostic {
        code: "not-examined".to_owned(),
        session: Some(name.to_string()),
        line: None,
        offset: None,
        text: failure.text.clone(),
    }
}

/// What else there is to say to a person.
fn tell(context: &Context, found: &Findings, sessions: usize) {
    let Findings { findings, files, bytes, backups, .. } = found;
    if context.out.is_terminal() {
        let (sessions, files) = (counted(sessions as u64, "session", "sessions"), counted(*files, "file", "files"));
        let (findings, bytes) = (number(findings.len() as u64), HumanBytes(*bytes));
        context.out.note(&format!("{findings} found; {sessions}, {files}, {bytes} looked through"));
    }
    backups.iter().for_each(|backup| context.out.note(&backup.told()));
}
