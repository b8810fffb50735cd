//! `session sync`

use super::remote::each::{Verb, each};
use super::remote::place::Place;
use super::remote::which::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// The flags of `sync`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Brings in what is new there, then sends what is new here. Where both went on, nothing is changed, and the exit status \
is 6.\n\nExamples:\n  session sync @ --remote s3://bucket/team\n  session sync --since 1d"
)]
pub(crate) struct Flags {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    place: Place,
    /// Only say what would be done
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = flags.which.names(context)?;
    let remote = flags.place.open()?;
    each(context, "sync", &names, |name| {
        let synced = remote.sync(&context.store, name, flags.dry_run)?;
        let pulled = synced.pulled.map(|pulled| (Verb::Pull, pulled));
        Ok(pulled.into_iter().chain(synced.pushed.map(|pushed| (Verb::Push, pushed))).collect())
    })
}
