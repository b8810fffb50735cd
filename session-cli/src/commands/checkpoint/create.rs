//! `session checkpoint create`

use super::place::{InWorkspace, Place, refuse_other};
use super::record::{Mark, record};
use super::words;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::output::number::counted;
use crate::progress::Bar;
use crate::{interrupt, target};
use serde::Serialize;
use session_checkpoint::{
    Change, ChangeKind, ChangedBy, Checkpoints, Error, Options, Request, Secrets, SkipReason, Skipped, Snapshot,
};
use std::path::PathBuf;

/// The flags of `checkpoint create`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is captured stays as for the newest checkpoint until it is given anew: --exclude, --no-gitignore, --with-secrets \
and --max-file-bytes. --max-files, --max-bytes and --max-store-bytes hold for this call. Exit status 3 when something \
was too large or could not be read: it is named, and no restore touches it.\n\nExamples:\n  session checkpoint create . --label 'before the storm'\n  \
session checkpoint create @ --exclude target/ --max-file-bytes 10000000"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// What people will see in the list
    #[arg(long, value_name = "TEXT", default_value = "")]
    label: String,
    /// The turn's number; one that has a checkpoint is a retry, which takes nothing [default: the next]
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// The changes since the newest checkpoint are not this session's
    #[arg(long)]
    by_others: bool,
    /// Leave out what matches this pattern of .gitignore's kind
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Capture what .gitignore files leave out, too
    #[arg(long)]
    no_gitignore: bool,
    /// Capture files whose name says that they hold a secret, too
    #[arg(long)]
    with_secrets: bool,
    /// Leave out files that are larger
    #[arg(long, value_name = "BYTES")]
    max_file_bytes: Option<u64>,
    /// Refuse a workspace with more files
    #[arg(long, value_name = "N")]
    max_files: Option<u64>,
    /// Refuse a workspace with more bytes
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
    /// Drop the oldest checkpoints when all of them take more
    #[arg(long, value_name = "BYTES")]
    max_store_bytes: Option<u64>,
    /// From now on also capture this file outside the workspace
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    track: Vec<PathBuf>,
    /// Go on with the directory that is there now, although the checkpoints were taken of another one
    #[arg(long)]
    adopt: bool,
    #[command(flatten)]
    place: InWorkspace,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let place = Place::to_change(context, &flags.session)?;
    let mut options = place.options(context, &flags.place)?;
    flags.change(&mut options);
    let watch = interrupt::watch()?;
    let (bar, cancel) = Bar::of(watch.cancel(), context.out.is_quiet());
    let (mut checkpoints, report) = Checkpoints::open(options)?;
    refuse_other(&mut checkpoints, &report, flags.adopt)?;
    for path in &flags.track {
        let path = std::path::absolute(path).map_err(|error| Failure::input(&path.display().to_string(), &error))?;
        checkpoints.track_external(&path)?;
    }
    let by = if flags.by_others { ChangedBy::Others } else { ChangedBy::Session };
    let request = Request { label: flags.label.clone(), turn: flags.turn, by };
    let taken = checkpoints.snapshot(&request, &cancel);
    drop(bar);
    let taken = taken.map_err(|error| failed(context, &place, error))?;
    let mark = (!taken.existed).then(|| Mark::taken(taken.turn, &flags.label));
    let mut diagnostics: Vec<Diagnostic> = mark.and_then(|mark| record(context, &place, mark)).into_iter().collect();
    let is_partial = !diagnostics.is_empty() || !taken.complete || taken.skipped.iter().any(is_left_out);
    diagnostics.extend(taken.skipped.iter().map(|skipped| diagnostic(&place, skipped)));
    print(context, &place, &taken, !is_partial, &diagnostics)?;
    Ok(if is_partial { Exit::Partial } else { Exit::Done })
}

impl Flags {
    fn change(&self, options: &mut Options) {
        for pattern in &self.exclude {
            if !options.excludes.contains(pattern) {
                options.excludes.push(pattern.clone());
            }
        }
        options.honor_gitignore &= !self.no_gitignore;
        if self.with_secrets {
            options.secrets = Secrets::Capture;
        }
        options.max_file_bytes = self.max_file_bytes.unwrap_or(options.max_file_bytes);
        options.max_files = self.max_files.unwrap_or(options.max_files);
        options.max_total_bytes = self.max_bytes.unwrap_or(options.max_total_bytes);
        options.max_store_bytes = self.max_store_bytes;
    }
}

/// A snapshot that failed is a gap that somebody will ask about. One that a person stopped, or that was asked for under
/// a number that is gone, is not.
fn failed(context: &Context, place: &Place, error: Error) -> Failure {
    let (is_stopped, is_passed) = (matches!(error, Error::Cancelled), matches!(error, Error::TurnPassed { .. }));
    let failure = Failure::from(error);
    if is_stopped {
        return Failure { text: "stopped; there is no checkpoint of this moment".to_owned(), ..failure };
    }
    if is_passed {
        return failure;
    }
    let told = record(context, place, Mark::failed(format!("no checkpoint was taken: {}", failure.text)));
    context.out.diagnostics(told.as_slice());
    failure
}

/// Whether something that belongs into the snapshot is missing. What a rule or its nature keeps out does not belong.
fn is_left_out(skipped: &Skipped) -> bool {
    matches!(skipped.reason, SkipReason::TooBig | SkipReason::Unreadable | SkipReason::OtherFs)
}

fn diagnostic(place: &Place, skipped: &Skipped) -> Diagnostic {
    Diagnostic {
        code: "skipped".to_owned(),
        session: Some(place.name.to_string()),
        line: None,
        offset: None,
        text: words::skipped(skipped),
    }
}

fn print(
    context: &Context,
    place: &Place,
    taken: &Snapshot,
    complete: bool,
    diagnostics: &[Diagnostic],
) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        turn: u32,
        existed: bool,
        commit: String,
        files: u64,
        bytes: u64,
        changed: &'a [Change],
        skipped: &'a [Skipped],
        nested: Vec<String>,
    }
    if context.out.is_json() {
        let document = Document {
            session: place.name.as_str(),
            turn: taken.turn,
            existed: taken.existed,
            commit: taken.commit.to_string(),
            files: taken.files,
            bytes: taken.bytes,
            changed: &taken.changed,
            skipped: &taken.skipped,
            nested: taken.nested.iter().map(words::path).collect(),
        };
        return context.out.document("checkpoint-create", complete, diagnostics, &document);
    }
    context.out.diagnostics(diagnostics);
    if context.out.is_terminal() {
        context.out.line(&sentence(taken))
    } else {
        context.out.line(&taken.turn.to_string())
    }
}

fn sentence(taken: &Snapshot) -> String {
    if taken.existed {
        return format!("turn {} stands as it was taken before", taken.turn);
    }
    let count = |kind| taken.changed.iter().filter(|change| change.kind == kind).count();
    let changed = taken.changed.len();
    let kinds = [(ChangeKind::Added, "added"), (ChangeKind::Modified, "modified"), (ChangeKind::Deleted, "deleted")];
    let kinds = kinds.map(|(kind, word)| (count(kind), word)).into_iter().filter(|(n, _)| *n > 0);
    let kinds: Vec<String> = kinds.map(|(n, word)| format!("{n} {word}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let files = counted(taken.files, "file", "files");
    format!("turn {}: {files}, {changed} changed{kinds}, {} skipped", taken.turn, taken.skipped.len())
}
