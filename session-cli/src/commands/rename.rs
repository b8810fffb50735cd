//! `session rename`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_core::SessionName;

/// The flags of `rename`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Sessions that name it as their parent or successor follow. It is refused while a turn or a background process of \
the session runs. Repeating one that was interrupted does the rest.\n\nExamples:\n  session rename 2026-01-02-x7k2p9 oaks"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Its new name
    new: SessionName,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        was: &'a str,
        told: Vec<&'a str>,
        resumed: bool,
    }
    let old = match target::resolve_to_change(context, &flags.session) {
        // One that was interrupted is repeated with a name that is gone.
        Err(failure) if failure.exit == Exit::NotFound => match SessionName::new(flags.session.as_str()) {
            Ok(name) if context.store.exists(&flags.new) => name,
            Ok(_) | Err(_) => return Err(failure),
        },
        resolved => resolved?,
    };
    let renamed = context.store.rename(&old, &flags.new)?;
    let document = Document {
        session: renamed.name.as_str(),
        was: old.as_str(),
        told: renamed.told.iter().map(SessionName::as_str).collect(),
        resumed: renamed.resumed,
    };
    context.out.answer("rename", &document, |out| out.line(renamed.name.as_str()))
}
