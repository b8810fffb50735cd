//! `session scrub`

use super::scan::{looking, scanned};
use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows};
use crate::target;
use crate::view::secret::{Finding, Findings, InCheckpoint};
use anstyle::Style;
use serde::Serialize;
use session_core::SessionName;
use session_store::{ScrubBackup, Scrubbed};

/// The flags of `scrub`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each byte of a secret becomes an asterisk; everything else stays as it is. Checkpoints are looked through and stay. \
The files as they were are kept in the session's .backup, and hold the secrets, unless --no-backup.\n\nA token that was in a session is \
known to whoever could read it: revoke it.\n\nExit status 1 when there is nothing to mask, 3 when something stays, 5 when a session is in \
use.\n\nExamples:\n  session scrub oaks -n\n  session scrub oaks --no-backup -y"
)]
pub(crate) struct Flags {
    /// The sessions
    #[arg(required = true, add = target::completer())]
    sessions: Vec<String>,
    /// Keep no file as it was
    #[arg(long)]
    no_backup: bool,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Document<'a> {
    planned: &'a [Finding],
    scrubbed: Vec<Row<'a>>,
    checkpoints: &'a [InCheckpoint],
}

#[derive(Serialize)]
struct Row<'a> {
    session: &'a str,
    files: &'a [String],
    kept: &'a [String],
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = target::resolve_all_to_change(context, &flags.sessions)?;
    let mut found = Findings::default();
    for name in &names {
        found.add(name, &scanned(context, name)?);
    }
    let mut done = Vec::new();
    let is_clean = found.findings.is_empty();
    if is_clean {
        found.in_checkpoints().iter().for_each(|line| context.out.note(line));
        context.out.note("nothing to mask");
    } else if flags.consent.ask(context, &found.plan())? == Answer::Go {
        let backup = if flags.no_backup { ScrubBackup::Drop } else { ScrubBackup::Keep };
        for name in &names {
            match scrubbed(context, name, backup) {
                Ok(scrubbed) => done.push((name, scrubbed)),
                Err(failure) if names.len() == 1 => return Err(failure),
                Err(failure) => found.diagnostics.push(failed(name, failure)),
            }
        }
        if !context.out.is_json() {
            found.in_checkpoints().iter().for_each(|line| context.out.note(line));
        }
    }
    print(context, &found, &done)?;
    let stays = !found.diagnostics.is_empty() || !found.checkpoints.is_empty();
    Ok(match () {
        () if stays && !flags.consent.is_dry_run() => Exit::Partial,
        () if is_clean => Exit::No,
        () => Exit::Done,
    })
}

fn scrubbed(context: &Context, name: &SessionName, backup: ScrubBackup) -> Result<Scrubbed, Failure> {
    looking(context, name, |checkpoints, progress| context.store.scrub(name, backup, checkpoints, progress))
}

fn failed(name: &SessionName, failure: Failure) -> Diagnostic {
    Diagnostic {
        code: "not-scrubbed".to_owned(),
        session: Some(name.to_string()),
        line: None,
        offset: None,
        text: failure.text,
    }
}

fn print<'a>(context: &Context, found: &Findings, done: &'a [(&'a SessionName, Scrubbed)]) -> Result<(), Failure> {
    context.out.diagnostics(&found.diagnostics);
    if context.out.is_json() {
        let row = |(name, scrubbed): &'a (&'a SessionName, Scrubbed)| Row {
            session: name.as_str(),
            files: &scrubbed.files,
            kept: &scrubbed.kept,
        };
        let scrubbed = done.iter().map(row).collect();
        let document = Document { planned: &found.findings, scrubbed, checkpoints: &found.checkpoints };
        return context.out.document("scrub", found.diagnostics.is_empty(), &found.diagnostics, &document);
    }
    let mut rows = Rows::new(&["SESSION", "FILE"]);
    for (name, scrubbed) in done {
        for file in &scrubbed.files {
            rows.push_styled(vec![name.to_string(), file.clone()], &[(0, Style::new().bold())]);
        }
    }
    context.out.rows(&rows)?;
    for (name, scrubbed) in done {
        for kept in &scrubbed.kept {
            let path = context.store.paths(name)?.dir().join(kept);
            context.out.note(&format!("note: the secrets are still in {}", path.display()));
        }
    }
    Ok(())
}
