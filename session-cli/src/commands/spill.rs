//! `session spill`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use session_store::{Options, PreviewSize};
use std::io;

/// The flags of `spill`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The first line is the path; what follows is the head and the tail of the text, with a line between them that says \
what was left out. Give the model both.\n\nExamples:\n  cargo test 2>&1 | session spill @ --hint cargo-test"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// What it is, for the file's name
    #[arg(long, default_value = "output")]
    hint: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        path: String,
        in_session: String,
        bytes: u64,
        lines: u64,
        left_out_bytes: u64,
        head: &'a str,
        tail: &'a str,
    }
    let session = opened(context, &flags.session, Options::default())?;
    let spilled = session.spill().reader(&flags.hint, io::stdin().lock(), PreviewSize::default())?;
    let preview = &spilled.preview;
    let document = Document {
        session: session.name(),
        path: spilled.path.display().to_string(),
        in_session: spilled.in_session(),
        bytes: preview.bytes,
        lines: preview.lines,
        left_out_bytes: preview.left_out_bytes,
        head: &preview.head,
        tail: &preview.tail,
    };
    context.out.answer("spill", &document, |out| out.line(&format!("{}\n{}", spilled.path.display(), spilled.text())))
}
