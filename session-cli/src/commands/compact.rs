//! `session compact`

use crate::commands::checkpoint::attach::{Missing, attached};
use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::output::Diagnostic;
use crate::{interrupt, span, target};
use serde::Serialize;
use session_core::SessionName;
use session_core::checkpoint::Checkpointer;
use session_store::{Compaction, Options, Wait};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The flags of `compact`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The new session begins with the summary as a message of the user, and has SESSION's title, workspace, model, \
checkpoints and waiting messages. From then on SESSION can be read and not appended to, and opening it opens the new one. Background \
processes stay where they are; `session ps NEW` shows them.\n\nExamples:\n  ./summarize @ | session compact @ --summary -\n  session compact oaks oaks-2 --summary summary.md"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The name of the new one [default: today's date and six random characters]
    new: Option<SessionName>,
    /// What is to be known of the conversation; - is standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    summary: PathBuf,
    /// How long to wait for a turn that is live [default: not at all]
    #[arg(long, value_name = "DUR", value_parser = span::duration)]
    wait: Option<Duration>,
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    parent: &'a str,
    carried: u64,
    checkpoints: u64,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let summary = summary(&flags.summary)?;
    let options = Options { wait: flags.wait.map_or(Wait::No, Wait::UpTo), ..Options::default() };
    let session = opened(context, &flags.session, options)?;
    let name = SessionName::new(session.name())?;
    // Who is interrupted while this waits has begun nothing that would have to be ended.
    let lock = session.lock()?;
    let watch = interrupt::watch()?;
    let checkpoints = attached(context, &name, Missing::Leave, watch.cancel())?;
    let own = checkpoints.as_ref().map(|own| own as &dyn Checkpointer);
    let compacted = context.store.compact(&session, &lock, &Compaction { name: flags.new.clone(), summary }, own)?;
    lock.release()?;
    let told = |error: &session_store::StoreError| Diagnostic {
        code: "left-behind".to_owned(),
        session: Some(session.name().to_owned()),
        line: None,
        offset: None,
        text: format!("it goes on in {}, and the rest is done later: {}", compacted.name, causes(error)),
    };
    let diagnostics: Vec<_> = compacted.error.iter().map(told).collect();
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        let document = Document {
            session: compacted.name.as_str(),
            parent: session.name(),
            carried: compacted.carried,
            checkpoints: compacted.checkpoints,
        };
        context.out.document("compact", diagnostics.is_empty(), &diagnostics, &document)?;
    } else {
        context.out.line(compacted.name.as_str())?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}

fn summary(path: &Path) -> Result<String, Failure> {
    let mut summary = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut summary).map(drop)
    } else {
        std::fs::read_to_string(path).map(|text| summary = text)
    };
    read.map_err(|error| Failure::input(&path.display().to_string(), &error))?;
    if summary.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the summary is empty")
            .hint("without one, nothing of the conversation would go along"));
    }
    Ok(summary.trim_end().to_owned())
}
