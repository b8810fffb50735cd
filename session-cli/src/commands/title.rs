//! `session title`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_store::{Options, TitleSource};

/// The flags of `title`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A title that is set here is a person's, and no automatic one ever replaces it. --auto makes one of the first prompt \
that a person wrote, and only where there is none.\n\nExamples:\n  session title @\n  session title oaks 'Plant three oaks'\n  session title @ --auto"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The title
    #[arg(conflicts_with = "auto")]
    title: Option<String>,
    /// Make one of the first prompt, where there is none
    #[arg(long)]
    auto: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        title: Option<&'a str>,
    }
    let (name, title) = match (&flags.title, flags.auto) {
        (Some(title), _) => {
            let session = opened(context, &flags.session, Options::default())?;
            (session.name().to_owned(), session.set_title(title, TitleSource::User)?.title)
        }
        (None, true) => {
            let session = opened(context, &flags.session, Options::default())?;
            (session.name().to_owned(), session.auto_title()?.title)
        }
        (None, false) => {
            let name = target::resolve(context, &flags.session)?;
            let title = context.store.title(&name)?.unwrap_or_default();
            (name.to_string(), title)
        }
    };
    let title = Some(title.as_str()).filter(|title| !title.is_empty());
    context
        .out
        .answer("title", &Document { session: &name, title }, |out| title.map_or(Ok(()), |title| out.line(title)))?;
    Ok(if title.is_some() { Exit::Done } else { Exit::No })
}
