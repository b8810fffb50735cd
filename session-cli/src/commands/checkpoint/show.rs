//! `session checkpoint show`

use super::at::{At, completer, kept};
use super::place::{Found, Place};
use super::rows::Row;
use super::words;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Rows;
use crate::output::escape::{Layout, escaped};
use crate::target;
use anstyle::Style;
use serde::Serialize;
use session_checkpoint::{Change, Skipped, Turn, TurnRef};

/// The flags of `checkpoint show`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The letters are git's: A added, M modified, D deleted, T another type; ! is what is not stored, with the reason.\n\n\
Examples:\n  session checkpoint show @\n  session checkpoint show oaks safety:1"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The checkpoint
    #[arg(value_name = "TURN", default_value = "latest", value_parser = kept, add = completer())]
    at: At,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        checkpoint: &'a Row,
        changed: &'a [Change],
        skipped: &'a [Skipped],
    }
    let place = Place::of(context, &flags.session)?;
    let Found { reader, at } = place.find(flags.at)?;
    let turn = reader.turn(at)?;
    let row = match flags.at {
        At::Reference(n) => Row::of(At::Reference(n), &turn),
        At::Ours(TurnRef::Turn(_) | TurnRef::Safety(_) | TurnRef::Latest) | At::Disk => Row::ours(&turn),
    };
    let document =
        Document { session: place.name.as_str(), checkpoint: &row, changed: &turn.changed, skipped: &turn.skipped };
    context.out.answer("checkpoint-show", &document, |out| {
        if out.is_terminal() {
            let head = head(&row);
            out.styled_line(Style::new().bold(), &escaped(&head, Layout::OneLine))?;
        }
        out.rows(&rows(&turn))
    })
}

fn head(row: &Row) -> String {
    let label = if row.label.is_empty() { String::new() } else { format!("  {}", row.label) };
    let (time, state) = (row.ts.as_ref().map(crate::output::when::local).unwrap_or_default(), row.state());
    format!("{} {}  {time}  {state}{label}", row.kind, row.name)
}

fn rows(turn: &Turn) -> Rows {
    let mut rows = Rows::new(&["WHAT", "PATH", "WHY"]);
    for change in &turn.changed {
        rows.push(vec![words::letter(change).to_owned(), words::path(&change.path), String::new()]);
    }
    for skipped in &turn.skipped {
        rows.push(vec!["!".to_owned(), words::path(&skipped.path), words::reason(&skipped.reason)]);
    }
    rows
}
