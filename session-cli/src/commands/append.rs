//! `session append`

use crate::commands::{AppendedDocument, opened, tell_isolated};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, target};
use chrono::Utc;
use session_core::SessionName;
use session_store::{Durability, LongLines, Options, Session};
use std::io;

/// The flags of `append`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each line of standard input is a message (role, content, …) or an event (kind, …). One call is one write; a bad \
or over-long line refuses the whole call.\n\nExamples:\n  echo '{\"role\":\"user\",\"content\":\"hello\"}' | session append @\n  \
session append --create notes < messages.jsonl"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
    /// Create the session if it does not exist
    #[arg(long)]
    create: bool,
    /// Hand the events to the system without waiting for the disk
    #[arg(long)]
    no_sync: bool,
    /// Write lines of 10 MiB and more, which the reference cannot read
    #[arg(long)]
    allow_long_lines: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let events = input::events(io::stdin().lock(), Utc::now().fixed_offset())?;
    let session = session(flags, context)?;
    let appended = session.append(&events)?;
    tell_isolated(context, &appended);
    let document = AppendedDocument::new(session.name(), &appended);
    context.out.answer("append", &document, |out| out.line(&appended.events.to_string()))
}

fn session(flags: &Flags, context: &Context) -> Result<Session, Failure> {
    let options = Options {
        durability: if flags.no_sync { Durability::Os } else { Durability::Data },
        long_lines: if flags.allow_long_lines { LongLines::Write } else { LongLines::Refuse },
        ..Options::default()
    };
    if flags.create && !flags.session.starts_with('@') && flags.session != "." {
        // An exact name: a prefix of another session's must create a new one.
        let name = SessionName::new(flags.session.as_str())?;
        return Ok(context.store_with(options).open_or_create(&name)?);
    }
    opened(context, &flags.session, options)
}
