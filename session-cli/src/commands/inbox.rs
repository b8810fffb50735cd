//! `session inbox`

use crate::commands::opened;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, when};
use crate::target;
use serde::Serialize;
use session_proc::Identity;
use session_store::{Access, Failed, InboxMessage, Options, StoreError};

/// The flags of `inbox`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Drained messages are claimed: append them with their ids, then acknowledge. What a process that died had claimed \
and not appended is delivered again.\n\nExamples:\n  session inbox @ list\n  session inbox @ drain\n  session inbox @ ack ID"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the messages that wait
    List,
    /// Claim the messages that wait and print them as JSON lines with their ids
    Drain {
        /// Also while a turn is live that is not this process's
        #[arg(long)]
        force: bool,
    },
    /// Acknowledge claimed messages that were appended
    Ack {
        /// The ids
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    match &flags.verb {
        Verb::List => list(context, &flags.session),
        Verb::Drain { force } => drain(context, &flags.session, *force),
        Verb::Ack { ids } => acknowledge(context, &flags.session, ids),
    }
}

fn list(context: &Context, session: &str) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        messages: Vec<Waiting>,
    }
    #[derive(Serialize)]
    struct Waiting {
        name: String,
        kind: Option<String>,
        text: Option<String>,
        at: Option<String>,
    }
    let name = target::resolve(context, session)?;
    let waiting = |pending: session_store::Pending| Waiting {
        name: pending.name.to_string_lossy().into_owned(),
        at: pending.message.as_ref().map(|message| when::machine(&message.at)),
        kind: pending.message.as_ref().map(|message| message.kind.clone()),
        text: pending.message.map(|message| message.text),
    };
    let messages: Vec<_> = context.store.inbox(&name)?.list()?.into_iter().map(waiting).collect();
    let mut rows = Rows::new(&["NAME", "AT", "KIND", "TEXT"]);
    for message in &messages {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        rows.push(vec![message.name.clone(), text(&message.at), text(&message.kind), text(&message.text)]);
    }
    context.out.answer("inbox-list", &Document { session: name.as_str(), messages }, |out| {
        if rows.is_empty() { Ok(()) } else { out.rows(&rows) }
    })
}

fn drain(context: &Context, session: &str, force: bool) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: &'a str,
        kind: &'a str,
        text: &'a str,
        at: String,
    }
    let session = opened(context, session, Options::default())?;
    let access = if force { Access::Forced } else { Access::Turn };
    // Whoever started this program goes on with the messages: they are its, not this process's, which ends now.
    let caller = Identity::of(nix::unistd::getppid().as_raw()).map_err(StoreError::from)?;
    let caller = caller.map_or_else(Identity::own, Ok).map_err(StoreError::from)?;
    let mut is_unfit = false;
    loop {
        let drained = session.drain_inbox_for(&caller, access)?;
        for claimed in &drained.messages {
            let InboxMessage { kind, text, at, .. } = &claimed.message;
            context.out.json_line(&Line { id: &claimed.id, kind, text, at: when::machine(at) })?;
        }
        context
            .out
            .diagnostics(&drained.failed.iter().map(|failed| diagnostic(session.name(), failed)).collect::<Vec<_>>());
        is_unfit |= drained.failed.iter().any(|failed| !failed.why.is_expiry());
        if let Some(error) = drained.error {
            return Err(error.into());
        }
        if !drained.has_more {
            return Ok(if is_unfit { Exit::Partial } else { Exit::Done });
        }
    }
}

fn diagnostic(session: &str, failed: &Failed) -> Diagnostic {
    let code = if failed.why.is_expiry() { "expired" } else { "not-delivered" };
    Diagnostic {
        code: code.to_owned(),
        session: Some(session.to_owned()),
        line: None,
        offset: None,
        text: format!("{}: {}; it is kept in {}", failed.name.to_string_lossy(), failed.why, failed.path.display()),
    }
}

fn acknowledge(context: &Context, session: &str, ids: &[String]) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        acknowledged: &'a [String],
    }
    let session = opened(context, session, Options::default())?;
    session.inbox().acknowledge(ids.iter().map(String::as_str))?;
    context.out.answer("inbox-ack", &Document { session: session.name(), acknowledged: ids }, |_| Ok(()))
}
