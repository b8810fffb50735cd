//! `session checkpoint du`

use super::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, size};
use crate::target;
use serde::Serialize;
use session_checkpoint::Usage;

/// The flags of `checkpoint du`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is shared with a fork is part of the others, and would stay if these were deleted.\n\nExamples:\n  session checkpoint du @"
)]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        total_bytes: u64,
        #[serde(flatten)]
        usage: Usage,
    }
    let place = Place::of(context, &flags.session)?;
    let mut usage = Usage::default();
    match (place.ours()?, place.reference()?) {
        (Some(ours), _) => usage = ours.usage()?,
        (None, Some(reference)) => usage.reference_bytes = reference.usage()?.total_bytes(),
        (None, None) => {}
    }
    let document = Document { session: place.name.as_str(), total_bytes: usage.total_bytes(), usage };
    context.out.answer("checkpoint-du", &document, |out| out.rows(&rows(&usage, out.is_terminal())))
}

fn rows(usage: &Usage, for_people: bool) -> Rows {
    let mut rows = Rows::new(&["PART", "BYTES", "NUMBER"]).numeric(1).numeric(2);
    let parts = [
        ("packs", usage.pack_bytes, Some(usage.packs)),
        ("loose", usage.loose_bytes, Some(usage.loose_objects)),
        ("derived", usage.derived_bytes, None),
        ("rescued", usage.rescued_bytes, None),
        ("damaged", usage.damaged_bytes, None),
        ("reference", usage.reference_bytes, None),
        ("other", usage.other_bytes, None),
        ("total", usage.total_bytes(), None),
        ("shared", usage.shared_bytes, None),
    ];
    for (part, bytes, number) in parts {
        let bytes = if for_people { size::words(bytes) } else { bytes.to_string() };
        rows.push(vec![part.to_owned(), bytes, number.map(|number| number.to_string()).unwrap_or_default()]);
    }
    rows
}
