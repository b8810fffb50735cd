//! `session checkpoint pin`

use super::at::{completer, turn};
use super::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_checkpoint::Checkpoints;

/// The flags of `checkpoint pin`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session checkpoint pin @ 3 7")]
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
        pinned: &'a [u32],
    }
    let place = Place::to_change(context, &flags.session)?;
    let (mut checkpoints, _) = Checkpoints::open_store(&place.store)?;
    for turn in &flags.turns {
        checkpoints.pin(*turn)?;
    }
    let document = Document { session: place.name.as_str(), pinned: &flags.turns };
    context.out.answer("checkpoint-pin", &document, |_| Ok(()))
}
