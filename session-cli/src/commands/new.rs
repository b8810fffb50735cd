//! `session new`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use serde::Serialize;
use session_core::SessionName;
use session_store::NewSession;
use std::path::PathBuf;

/// The flags of `new`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  name=$(session new)\n  session new oaks --workspace . --title 'Plant three oaks'")]
pub(crate) struct Flags {
    /// The session's name [default: today's date and six random characters]
    name: Option<String>,
    /// The directory that the session works in [default: this directory]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    workspace: Option<PathBuf>,
    /// The model that it uses
    #[arg(long)]
    model: Option<String>,
    /// Its title
    #[arg(long)]
    title: Option<String>,
    /// The first prompt, which a title is made from if none is given
    #[arg(long)]
    prompt: Option<String>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        name: &'a str,
        path: String,
    }
    let workspace = flags.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
    let workspace = std::path::absolute(&workspace).map_err(|error| Failure::input("the workspace's path", &error))?;
    let session = context.store.create(&NewSession {
        name: flags.name.clone().map(SessionName::new).transpose()?,
        workspace: input::text_of(&workspace, "the workspace")?,
        model: flags.model.clone().unwrap_or_default(),
        title: flags.title.clone().unwrap_or_default(),
        prompt: flags.prompt.clone().unwrap_or_default(),
        ..NewSession::default()
    })?;
    let document = Document { name: session.name(), path: session.dir().display().to_string() };
    context.out.answer("new", &document, |out| out.line(session.name()))
}
