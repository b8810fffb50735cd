//! `session remote gc`

use super::place::Place;
use crate::confirm::{Answer, Consent};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, size, when};
use serde::Serialize;
use session_store::remote::Collected;

/// The flags of `remote gc`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It takes two visits, a day apart: the first makes a list of what no copy names and is a day old, the second removes what \
still is on the list. Who needs something of it meanwhile takes it off. Run it every day or week, from one machine or from several."
)]
pub(crate) struct Flags {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    consent: Consent,
}

#[derive(Serialize)]
struct Document {
    planned: Row,
    done: Option<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    named: u64,
    condemned: u64,
    condemned_bytes: u64,
    due: Option<String>,
    removed: u64,
    removed_bytes: u64,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let remote = flags.place.open()?;
    let mut document = Document { planned: row(&remote.collect(true)?), done: None };
    // A list harms nobody: what is asked about is the second visit.
    let Row { removed, removed_bytes, .. } = document.planned;
    let plan = format!("remove {removed} {}, {}", objects(removed), size::words(removed_bytes));
    let plan = if removed > 0 { vec![plan] } else { vec![told(&document.planned)] };
    let goes = match removed > 0 || flags.consent.is_dry_run() {
        true => flags.consent.ask(context, &plan)? == Answer::Go,
        false => true,
    };
    if goes {
        document.done = Some(row(&remote.collect(false)?));
    }
    context.out.answer("remote-gc", &document, |out| {
        let mut rows = Rows::new(&["NAMED", "CONDEMNED", "BYTES", "DUE", "REMOVED", "BYTES"]);
        rows = [0, 1, 2, 4, 5].into_iter().fold(rows, Rows::numeric);
        let bytes = |bytes: u64| if out.is_terminal() { size::words(bytes) } else { bytes.to_string() };
        if let Some(row) = &document.done {
            rows.push(vec![
                row.named.to_string(),
                row.condemned.to_string(),
                bytes(row.condemned_bytes),
                row.due.clone().unwrap_or_default(),
                row.removed.to_string(),
                bytes(row.removed_bytes),
            ]);
        }
        out.rows(&rows)
    })
}

fn objects(count: u64) -> &'static str {
    if count == 1 { "object" } else { "objects" }
}

fn told(row: &Row) -> String {
    match &row.due {
        Some(due) => format!(
            "{} {}, {}, can be removed after {due}",
            row.condemned,
            objects(row.condemned),
            size::words(row.condemned_bytes)
        ),
        None => "everything is named, or new".to_owned(),
    }
}

fn row(collected: &Collected) -> Row {
    Row {
        named: collected.named,
        condemned: collected.condemned,
        condemned_bytes: collected.condemned_bytes,
        due: collected.due.as_ref().map(when::machine),
        removed: collected.removed,
        removed_bytes: collected.removed_bytes,
    }
}
