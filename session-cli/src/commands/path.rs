//! `session path`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// The flags of `path`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session path @ history\n  tail -f \"$(session path . history)\"")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The part of it
    #[arg(default_value = "dir")]
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The session's directory
    Dir,
    /// The append-only transcript
    History,
    /// The metadata
    Meta,
    /// The shadow repository
    Checkpoints,
    /// Records and logs of background processes
    Proc,
    /// Messages that wait for the turn
    Inbox,
    /// Tool output too large for a message
    Tmp,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        path: &'a Path,
    }
    let name = target::resolve(context, &flags.session)?;
    let paths = context.store.paths(&name)?;
    let path = match flags.part {
        Part::Dir => paths.dir().to_owned(),
        Part::History => paths.history(),
        Part::Meta => paths.meta(),
        Part::Checkpoints => paths.checkpoints(),
        Part::Proc => paths.proc(),
        Part::Inbox => paths.inbox(),
        Part::Tmp => paths.tmp(),
    };
    let document = Document { session: name.as_str(), path: &path };
    context.out.answer("path", &document, |out| out.text(&[path.as_os_str().as_bytes(), b"\n"].concat()))
}
