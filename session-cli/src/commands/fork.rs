//! `session fork`

use crate::commands::checkpoint::attach::{Missing, attached};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::{interrupt, target};
use serde::Serialize;
use session_core::checkpoint::Checkpointer;
use session_core::{Point, SessionName};
use session_store::NewFork;

/// The flags of `fork`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The new session has what was live at the point, the spilled output that this mentions, and the checkpoints up to it, \
which are shared and not copied. SESSION is not written to. turn:N is as that turn ended, a number is the last event that stays.\n\n\
Examples:\n  session fork @\n  session fork oaks birches --at turn:2"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The name of the new one [default: today's date and six random characters]
    new: Option<SessionName>,
    /// The last thing of the conversation that it has [default: all]
    #[arg(long, value_name = "EVENT|turn:N")]
    at: Option<Point>,
    /// Also where lines before that cannot be read: the new session lacks them
    #[arg(long)]
    force: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    parent: &'a str,
    messages: u64,
    spills: &'a [String],
    checkpoints: u64,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let source = target::resolve(context, &flags.session)?;
    let watch = interrupt::watch()?;
    let checkpoints = attached(context, &source, Missing::Leave, watch.cancel())?;
    let fork = NewFork { name: flags.new.clone(), at: flags.at, over_damage: flags.force };
    let own = checkpoints.as_ref().map(|own| own as &dyn Checkpointer);
    let forked = context.store.fork(&source, &fork, own)?;
    let diagnostics: Vec<_> = forked.damage.iter().map(|defect| Diagnostic::defect(source.as_str(), defect)).collect();
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        let document = Document {
            session: forked.name.as_str(),
            parent: source.as_str(),
            messages: forked.messages,
            spills: &forked.spills,
            checkpoints: forked.checkpoints,
        };
        context.out.document("fork", diagnostics.is_empty(), &diagnostics, &document)?;
    } else {
        context.out.line(forked.name.as_str())?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}
