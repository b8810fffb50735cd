//! `session remote`: looking at copies in an object store, and removing them.

pub(crate) mod advice;
pub(crate) mod each;
mod gc;
pub(crate) mod leased;
mod list;
pub(crate) mod place;
mod rm;
mod show;
mod verify;
pub(crate) mod which;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

/// The flags of `remote`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The object store is s3://bucket/prefix, gs://…, az://…, file:///dir or a directory, from --remote or SESSION_REMOTE. \
Credentials come from the environment (AWS_ACCESS_KEY_ID and so on) or from the role of the machine.\n\nExamples:\n  session remote list \
--remote s3://bucket/team\n  session remote verify oaks\n  session remote rm oaks -n"
)]
pub(crate) struct Flags {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the sessions that have a copy
    List(list::Flags),
    /// Say what a copy is: its metadata, its objects, its files, who has written and who has leased it
    Show(show::Flags),
    /// Remove copies; the sessions here stay
    Rm(rm::Flags),
    /// Remove what copies shared and none names any more
    Gc(gc::Flags),
    /// Fetch every object of copies and compare it with its name
    Verify(verify::Flags),
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    match &flags.verb {
        Verb::List(flags) => list::run(flags, context),
        Verb::Show(flags) => show::run(flags, context),
        Verb::Rm(flags) => rm::run(flags, context),
        Verb::Gc(flags) => gc::run(flags, context),
        Verb::Verify(flags) => verify::run(flags, context),
    }
}
