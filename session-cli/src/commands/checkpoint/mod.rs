//! `session checkpoint`: snapshots of a session's workspace.

mod at;
pub(super) mod attach;
mod chosen;
mod create;
mod diff;
mod du;
pub(super) mod hold;
mod list;
mod pin;
mod place;
mod plan;
mod prune;
mod record;
mod restore;
mod restored;
mod rows;
mod show;
mod undo;
mod unpin;
mod verify;
mod words;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use session_core::SessionName;

/// The flags of `checkpoint`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "TURN is a number, safety:N for the workspace as it was before a restore, reference:N for a turn of the reference's \
repository, or latest; in diff also disk.\n\nExamples:\n  session checkpoint create @ --label 'before the storm'\n  \
session checkpoint diff @ 3 disk --stat\n  session checkpoint restore @ 3 -n\n  session checkpoint undo @"
)]
pub(crate) struct Flags {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Take a snapshot of the workspace, and print its number
    Create(create::Flags),
    /// List the checkpoints, the oldest first
    List(list::Flags),
    /// Show one checkpoint: what it changed, and what it could not keep
    Show(show::Flags),
    /// Compare two checkpoints, or one with the workspace as it is
    Diff(diff::Flags),
    /// Make the workspace what it was at a checkpoint
    Restore(restore::Flags),
    /// Take the newest restore back, also one that was interrupted
    Undo(undo::Flags),
    /// Protect checkpoints from being dropped
    Pin(pin::Flags),
    /// Take the protection back
    Unpin(unpin::Flags),
    /// Drop old checkpoints, and give back their space
    Prune(prune::Flags),
    /// Show what the checkpoints take on the disk
    Du(du::Flags),
    /// Look whether every checkpoint is whole
    Verify(verify::Flags),
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    match &flags.verb {
        Verb::Create(flags) => create::run(flags, context),
        Verb::List(flags) => list::run(flags, context),
        Verb::Show(flags) => show::run(flags, context),
        Verb::Diff(flags) => diff::run(flags, context),
        Verb::Restore(flags) => restore::run(flags, context),
        Verb::Undo(flags) => undo::run(flags, context),
        Verb::Pin(flags) => pin::run(flags, context),
        Verb::Unpin(flags) => unpin::run(flags, context),
        Verb::Prune(flags) => prune::run(flags, context),
        Verb::Du(flags) => du::run(flags, context),
        Verb::Verify(flags) => verify::run(flags, context),
    }
}

/// A checkpoint of the session that somebody pinned.
pub(crate) fn pinned(context: &Context, name: &SessionName) -> Result<Option<u64>, Failure> {
    let Some(reader) = place::Place::named(context, name)?.ours()? else { return Ok(None) };
    Ok(reader.status()?.pinned.first().map(|turn| u64::from(*turn)))
}
