//! `session settings`

use crate::commands::appended;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use chrono::Utc;
use session_core::{Event, Kind};

/// The flags of `settings`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session settings @ --model m1:high --tool Read --tool Shell")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// The model that the turn runs with
    #[arg(long)]
    model: String,
    /// Whether reasoning is merged into the text
    #[arg(long, value_name = "BOOL")]
    merge_thinking: Option<bool>,
    /// A tool that is offered to the model; may be given again
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let event = Event {
        model: flags.model.clone(),
        merge_thinking: flags.merge_thinking,
        tools: flags.tools.clone(),
        ..Event::new(Utc::now().fixed_offset(), Kind::Settings)
    };
    appended(context, "settings", &flags.session, event)
}
