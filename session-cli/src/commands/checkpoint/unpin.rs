//! `session checkpoint unpin`

use super::at::{completer, turn};
use super::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_checkpoint::Checkpoints;

/// The flags of `checkpoint unpin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status 1 when none of them was protected.\n\nExamples:\n  session checkpoint unpin @ 3")]
pub(super) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The checkpoints
    #[arg(value_name = "TURN", required = true, value_parser = turn, add = completer())]
    turns: Vec<u32>,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        unpinned: &'a [u32],
    }
    let place = Place::to_change(context, &flags.session)?;
    let (mut checkpoints, _) = Checkpoints::open_store(&place.store)?;
    let mut unpinned = Vec::new();
    for turn in &flags.turns {
        if checkpoints.unpin(*turn)? {
            unpinned.push(*turn);
        }
    }
    let document = Document { session: place.name.as_str(), unpinned: &unpinned };
    context.out.answer("checkpoint-unpin", &document, |_| Ok(()))?;
    Ok(if unpinned.is_empty() { Exit::No } else { Exit::Done })
}
