//! `session run-id`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;

/// The flags of `run-id`.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        run_id: &'a str,
    }
    let name = target::resolve(context, &flags.session)?;
    let run_id = session_core::run_id(name.as_str());
    let document = Document { session: name.as_str(), run_id: &run_id };
    context.out.answer("run-id", &document, |out| out.line(&run_id))
}
