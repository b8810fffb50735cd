//! `session export`

mod bundle;
mod conversation;
mod destination;
mod file;
mod redact;
mod sums;
mod written;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::page::{self, Page};
use crate::progress::Bar;
use crate::{interrupt, span, target};
use clap::builder::PossibleValue;
use conversation::Told;
use destination::Destination;
use serde::Serialize;
use session_core::interop::export as core;
use session_core::{SessionName, counted};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use written::Written;

/// The flags of `export`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without -o, or with -o -, the export goes to standard output. Several sessions need -o DIR/; in a directory each has \
a file of its name. A bundle is everything that the sessions are, in one file, for `session import`.\n\nExamples:\n  session export @ -o oaks.html\n  session export @ @2 @3 --format html -o pages/\n  session export . --format openai | \
jq '.messages | length'\n  session export @ @2 -o oaks.tar.zst"
)]
pub(crate) struct Flags {
    /// The sessions
    #[arg(required = true, add = target::completer())]
    sessions: Vec<String>,
    /// The form [default: by the ending of FILE, else md]
    #[arg(long, value_name = "FORM")]
    format: Option<Form>,
    /// Where to: a file, a directory (DIR/), or - for standard output
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    output: Option<PathBuf>,
    /// Only the events with these numbers, as `events` counts them
    #[arg(long, value_name = "A..B", value_parser = span::events)]
    range: Option<RangeInclusive<u64>>,
    /// How much: everything; neither reasoning nor the results of tools; or what a person wrote
    #[arg(long, value_name = "DETAIL", default_value = "full")]
    detail: Detail,
    /// Also what was taken back; with jsonl and --no-redact, the file's own bytes
    #[arg(long)]
    raw: bool,
    /// Mask secrets; this is what happens without a flag too
    #[arg(long, overrides_with = "no_redact")]
    redact: bool,
    /// Leave secrets as they are
    #[arg(long, overrides_with = "redact")]
    no_redact: bool,
    /// In a bundle: also the sessions that these come from, and those that go on with them
    #[arg(long)]
    lineage: bool,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
}

/// What an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A conversation in one of its forms.
    Of(Format),
    /// Sessions with all that they are.
    Bundle,
}

impl clap::ValueEnum for Form {
    fn value_variants<'a>() -> &'a [Self] {
        use Format::{Html, Json, Jsonl, Md, Openai};
        &[Form::Of(Md), Form::Of(Html), Form::Of(Json), Form::Of(Jsonl), Form::Of(Openai), Form::Bundle]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Form::Of(format) => format.to_possible_value(),
            Form::Bundle => Some(PossibleValue::new("bundle").help("Everything that the sessions are, in one file")),
        }
    }
}

/// The forms of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Markdown
    Md,
    /// A page: one file that is whole by itself
    Html,
    /// One JSON document
    Json,
    /// JSON lines: a history again
    Jsonl,
    /// Messages, as a model endpoint takes them
    Openai,
}

impl Format {
    /// The ending of a file's name.
    fn ending(self) -> &'static str {
        match self {
            Format::Md => "md",
            Format::Html => "html",
            Format::Json => "json",
            Format::Jsonl => "jsonl",
            Format::Openai => "openai.json",
        }
    }

    fn exporter(self) -> Exporter {
        match self {
            Format::Md => Exporter::Text(Box::new(core::Markdown::new())),
            Format::Html => Exporter::Page(Box::new(Page::new())),
            Format::Json => Exporter::Text(Box::new(core::Json::new())),
            Format::Jsonl => Exporter::Text(Box::new(core::JsonLines)),
            Format::Openai => Exporter::Text(Box::new(core::OpenAi::new())),
        }
    }
}

/// What makes an export of a conversation.
enum Exporter {
    Text(Box<dyn core::Export>),
    Page(Box<Page>),
}

/// How much of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Detail {
    Full,
    Compact,
    Prompts,
}

impl From<Detail> for core::Detail {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Full => core::Detail::Full,
            Detail::Compact => core::Detail::Compact,
            Detail::Prompts => core::Detail::Prompts,
        }
    }
}

/// What is told of a conversation in a file.
#[derive(Serialize)]
struct Exported {
    events: u64,
    rolled_back: u64,
    redacted: u64,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = target::resolve_all(context, &flags.sessions)?;
    let form = flags.format.or_else(|| destination::form(flags.output.as_deref())).unwrap_or(Form::Of(Format::Md));
    let format = match form {
        Form::Of(format) => format,
        Form::Bundle => return bundle::run(flags, context, &names),
    };
    if flags.lineage {
        return Err(Failure::new(Exit::Usage, "--lineage is for bundles: every other form is of one session")
            .hint("--format bundle, or -o FILE.tar.zst"));
    }
    let destination = Destination::of(flags.output.as_deref(), names.len())?;
    if flags.raw && format == Format::Openai {
        return Err(Failure::new(Exit::Usage, "an endpoint is given what is live, and --raw asks for more")
            .hint("--format jsonl --raw is the whole history"));
    }
    match &destination {
        Destination::Stdout => to_stdout(flags, context, format, &names),
        place => to_files(flags, context, format, &names, place),
    }
}

fn to_stdout(flags: &Flags, context: &Context, format: Format, names: &[SessionName]) -> Result<Exit, Failure> {
    if context.out.is_json() {
        return Err(Failure::new(Exit::Usage, "--json tells what was written to files, and there is none without -o")
            .hint("--format json is the conversation as a document"));
    }
    let mut complete = true;
    for name in names {
        let told = conversation::write(flags, context, format, name, &mut |text| context.out.text(text))?;
        complete &= told.is_complete();
        tell(context, flags, name, &told);
    }
    Ok(if complete { Exit::Done } else { Exit::Partial })
}

fn to_files(
    flags: &Flags,
    context: &Context,
    format: Format,
    names: &[SessionName],
    place: &Destination,
) -> Result<Exit, Failure> {
    let paths: Vec<PathBuf> = names.iter().map(|name| place.path(name, format.ending())).collect();
    let index = place.index(names.len()).filter(|_| format == Format::Html);
    paths.iter().chain(&index).try_for_each(|path| file::check(path, flags.force))?;
    place.prepare()?;
    let watch = interrupt::watch()?;
    let cancel = watch.cancel();
    let bar = Bar::new(context.out.is_quiet());
    let (mut files, mut summaries, mut diagnostics, mut complete) = (Vec::new(), Vec::new(), Vec::new(), true);
    for (name, path) in names.iter().zip(&paths) {
        bar.say(|| format!("{} of {} sessions", files.len(), names.len()));
        let mut file = file::NewFile::create(path)?;
        let told = conversation::write(flags, context, format, name, &mut |text| {
            if cancel.is_cancelled() { Err(Failure::quiet(Exit::Interrupted)) } else { file.write(text) }
        })?;
        let bytes = file.publish(flags.force)?;
        complete &= told.is_complete();
        bar.aside(|| tell(context, flags, name, &told));
        diagnostics.extend(told.end.defects.iter().map(|defect| Diagnostic::defect(name.as_str(), defect)));
        let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        summaries.extend(told.summary.map(|summary| (file_name, summary)));
        files.push(Written {
            session: name.to_string(),
            path: path.display().to_string(),
            bytes,
            more: Exported { events: told.events, rolled_back: told.rolled_back, redacted: told.redacted },
        });
    }
    drop(bar);
    if let Some(path) = index {
        let sums = sums::read(context, names, !flags.no_redact)?;
        let mut file = file::NewFile::create(&path)?;
        file.write(page::index(summaries, &sums).as_bytes())?;
        file.publish(flags.force)?;
    }
    written::tell(context, ("export", format.ending()), (complete, &diagnostics), files)?;
    Ok(if complete { Exit::Done } else { Exit::Partial })
}

/// What a person should know besides the export.
fn tell(context: &Context, flags: &Flags, name: &SessionName, told: &Told) {
    let Told { end, rolled_back, redacted, .. } = told;
    let diagnostics: Vec<_> = end.defects.iter().map(|defect| Diagnostic::defect(name.as_str(), defect)).collect();
    context.out.diagnostics(&diagnostics);
    if end.uncertain {
        context.out.note(&format!("warning: {name}: a rollback reaches across a line that could not be read"));
    }
    if *rolled_back > 0 && !flags.raw {
        let what = match rolled_back {
            1 => "1 message that was taken back is left out; --raw includes it".to_owned(),
            many => format!("{many} messages that were taken back are left out; --raw includes them"),
        };
        context.out.note(&format!("note: {name}: {what}"));
    }
    if *redacted > 0 {
        let what = counted(*redacted, "event", "events");
        context.out.note(&format!("note: {name}: secrets in {what} are masked; --no-redact leaves them"));
    }
}
