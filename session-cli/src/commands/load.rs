//! `session load`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Diagnostic;
use crate::{output, target};
use session_core::{Conversation, Message, Repair, api_view};

/// The flags of `load`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  session load @ | jq -r .content\n  session load @ --api > request-messages.jsonl")]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Print what a model endpoint accepts: calls without results get one, results without calls are left out
    #[arg(long)]
    api: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let conversation = context.store.load(&name)?;
    let diagnostics: Vec<_> =
        conversation.defects.iter().map(|defect| Diagnostic::defect(name.as_str(), defect)).collect();
    for diagnostic in &diagnostics {
        context.out.note(&format!("warning: {}", diagnostic.text));
    }
    if conversation.uncertain {
        context.out.note("warning: a rollback reaches across a line that could not be read: what is live is uncertain");
    }
    if flags.api {
        let view = api_view(&conversation.messages);
        view.repairs.iter().for_each(|repair| context.out.note(&format!("note: {}", told(repair))));
        print(context, &view.messages, Message::to_json)?;
    } else {
        print(context, &conversation.messages, Message::to_reference_json)?;
    }
    Ok(completeness(&conversation))
}

/// Done, or done in part.
pub(super) fn completeness(conversation: &Conversation) -> Exit {
    if conversation.is_complete() { Exit::Done } else { Exit::Partial }
}

fn print(context: &Context, messages: &[Message], json: impl Fn(&Message) -> Vec<u8>) -> Result<(), Failure> {
    let mut lines = Vec::new();
    for message in messages {
        lines.extend_from_slice(&json(message));
        lines.push(b'\n');
        if lines.len() > output::CHUNK {
            context.out.json_lines(&lines)?;
            lines.clear();
        }
    }
    context.out.json_lines(&lines)
}

fn told(repair: &Repair) -> String {
    match repair {
        Repair::AddedResult { message, call_id } => {
            format!("message {message}: call {call_id:?} had no result; one that says so was added")
        }
        Repair::LeftOutResult { message, call_id } => {
            format!("message {message}: a result for {call_id:?}, which no open call has, was left out")
        }
    }
}
