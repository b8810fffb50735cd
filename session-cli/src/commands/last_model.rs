//! `session last-model`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;

/// The flags of `last-model`.
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
        model: Option<&'a str>,
    }
    let name = target::resolve(context, &flags.session)?;
    let model = context.store.last_model(&name)?;
    let document = Document { session: name.as_str(), model: model.as_deref() };
    context.out.answer("last-model", &document, |out| out.line(model.as_deref().unwrap_or_default()))
}
