//! A session and some of its checkpoints, as `pin` and `unpin` are told them.

use super::at::{completer, turn};
use super::place::Place;
use crate::context::Context;
use crate::failure::Failure;
use crate::target;
use session_checkpoint::Checkpoints;

/// Checkpoints of one session.
#[derive(Debug, clap::Args)]
pub(super) struct Chosen {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The checkpoints
    #[arg(value_name = "TURN", required = true, value_parser = turn, add = completer())]
    pub(super) turns: Vec<u32>,
}

impl Chosen {
    /// The store that has them, to be changed.
    pub(super) fn open(&self, context: &Context) -> Result<(Place, Checkpoints), Failure> {
        let place = Place::to_change(context, &self.session)?;
        let (checkpoints, _) = Checkpoints::open_store(&place.store)?;
        Ok((place, checkpoints))
    }
}
