//! `session checkpoint unpin`

use super::chosen::Chosen;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use serde::Serialize;

/// The flags of `checkpoint unpin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status 1 when none of them was protected.\n\nExamples:\n  session checkpoint unpin @ 3")]
pub(super) struct Flags {
    #[command(flatten)]
    chosen: Chosen,
}

pub(super) fn run(Flags { chosen }: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        unpinned: &'a [u32],
    }
    let (place, mut checkpoints) = chosen.open(context)?;
    let mut unpinned = Vec::new();
    for turn in &chosen.turns {
        if checkpoints.unpin(*turn)? {
            unpinned.push(*turn);
        }
    }
    let document = Document { session: place.name.as_str(), unpinned: &unpinned };
    context.out.answer("checkpoint-unpin", &document, |_| Ok(()))?;
    Ok(if unpinned.is_empty() { Exit::No } else { Exit::Done })
}
