//! `session checkpoint diff`

use super::at::{At, completer};
use super::place::{Found, InWorkspace, Place, paths};
use super::words;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::escape::{Layout, escaped};
use crate::output::{Diagnostic, Out, Rows};
use crate::{interrupt, target};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use session_checkpoint::{DiffOptions, FileDiff, NoText};
use std::path::PathBuf;

/// The flags of `checkpoint diff`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What `git apply` takes is printed. Paths are relative to the current directory where that is inside the workspace. \
External files are compared between checkpoints, not with the disk. Exit status 3 when something was too large to be compared.\n\n\
Examples:\n  session checkpoint diff @\n  session checkpoint diff @ 3 5 --stat -- src\n  session checkpoint diff oaks 3 disk | git apply -R"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The first side
    #[arg(value_name = "FROM", default_value = "latest", add = completer())]
    from: At,
    /// The second side
    #[arg(value_name = "TO", default_value = "disk", add = completer())]
    to: At,
    /// Only count lines
    #[arg(long)]
    stat: bool,
    #[command(flatten)]
    place: InWorkspace,
    /// Only these paths and what lies below them
    #[arg(last = true, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let place = Place::of(context, &flags.session)?;
    let files = compare(flags, context, &place)?;
    let cut: Vec<Diagnostic> = files.iter().filter_map(|file| left_out(&place, file)).collect();
    print(flags, context, &place, &files, &cut)?;
    Ok(if cut.is_empty() { Exit::Done } else { Exit::Partial })
}

fn compare(flags: &Flags, context: &Context, place: &Place) -> Result<Vec<FileDiff>, Failure> {
    let options = place.options(context, &flags.place);
    let workspace = options.as_ref().ok().map(|options| options.workspace.as_path());
    let only = DiffOptions { paths: paths(workspace, &flags.paths)?, ..DiffOptions::default() };
    match (flags.from, flags.to) {
        (At::Disk, _) => Err(Failure::new(Exit::Usage, "the disk can only be the second side")),
        (from, At::Disk) => {
            let Found { reader, at } = place.find(from)?;
            let watch = interrupt::watch()?;
            Ok(reader.disk_diff(at, &options?, &only, &watch.cancel())?)
        }
        (from @ At::Ours(_), to @ At::Ours(_)) | (from @ At::Reference(_), to @ At::Reference(_)) => {
            let (from, to) = (place.find(from)?, place.find(to)?);
            Ok(from.reader.diff(from.at, to.at, &only)?)
        }
        (At::Ours(_), At::Reference(_)) | (At::Reference(_), At::Ours(_)) => {
            Err(Failure::new(Exit::Usage, "a checkpoint and a turn of the reference stand in two repositories")
                .hint("compare each with disk"))
        }
    }
}

fn left_out(place: &Place, file: &FileDiff) -> Option<Diagnostic> {
    let why = match file.no_text {
        Some(NoText::TooLarge) => "too large to be compared line by line",
        Some(NoText::Cut) => "left out: there is too much to compare",
        Some(NoText::Binary) | None => return None,
    };
    Some(Diagnostic {
        code: "not-compared".to_owned(),
        session: Some(place.name.to_string()),
        line: None,
        offset: None,
        text: format!("{}: {why}", words::path(&file.change.path)),
    })
}

fn print(
    flags: &Flags,
    context: &Context,
    place: &Place,
    files: &[FileDiff],
    cut: &[Diagnostic],
) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        from: String,
        to: String,
        files: &'a [FileDiff],
    }
    if context.out.is_json() {
        let document =
            Document { session: place.name.as_str(), from: flags.from.to_string(), to: flags.to.to_string(), files };
        return context.out.document("checkpoint-diff", cut.is_empty(), cut, &document);
    }
    context.out.diagnostics(cut);
    if flags.stat {
        return context.out.rows(&counts(files));
    }
    if context.out.is_terminal() {
        let shown: String = files.iter().map(|file| shown(&context.out, file)).collect();
        return context.out.page(&shown);
    }
    files.iter().try_for_each(|file| context.out.bytes(&file.text))
}

fn counts(files: &[FileDiff]) -> Rows {
    let mut rows = Rows::new(&["PATH", "ADDED", "REMOVED", "WHAT"]).numeric(1).numeric(2);
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    let red = Style::new().fg_color(Some(AnsiColor::Red.into()));
    for file in files {
        let what = match file.no_text {
            Some(why) => words::reason(&why),
            None => words::letter(&file.change).to_owned(),
        };
        let fields = vec![words::path(&file.change.path), file.added.to_string(), file.removed.to_string(), what];
        rows.push_styled(fields, &[(1, green), (2, red)]);
    }
    rows
}

/// A file's difference for a terminal: what steers it is shown instead, and lines have their colours.
fn shown(out: &Out, file: &FileDiff) -> String {
    let head = Style::new().bold();
    let hunk = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    let mut in_head = true;
    let text = words::text(&file.text);
    let line = |line: &str| {
        in_head &= !line.starts_with("@@");
        let style = match line.as_bytes().first() {
            _ if in_head => head,
            Some(b'@') => hunk,
            Some(b'+') => Style::new().fg_color(Some(AnsiColor::Green.into())),
            Some(b'-') => Style::new().fg_color(Some(AnsiColor::Red.into())),
            _ => Style::new(),
        };
        out.styled(style, &escaped(line, Layout::Lines)) + "\n"
    };
    text.split_terminator('\n').map(line).collect()
}
