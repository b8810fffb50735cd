//! `session checkpoint pin`

use super::chosen::Chosen;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use serde::Serialize;

/// The flags of `checkpoint pin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session checkpoint pin @ 3 7")]
pub(super) struct Flags {
    #[command(flatten)]
    chosen: Chosen,
}

pub(super) fn run(Flags { chosen }: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        pinned: &'a [u32],
    }
    let (place, mut checkpoints) = chosen.open(context)?;
    for turn in &chosen.turns {
        checkpoints.pin(*turn)?;
    }
    let document = Document { session: place.name.as_str(), pinned: &chosen.turns };
    context.out.answer("checkpoint-pin", &document, |_| Ok(()))
}
