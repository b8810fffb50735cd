//! `session push`

use super::remote::each::{Verb, each};
use super::remote::place::Place;
use super::remote::which::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use session_core::SessionName;
use session_secrets::Redactor;
use session_store::remote::PushOptions;
use std::sync::Arc;

/// The flags of `push`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Only what is new is sent. A copy that has what is not here is not written over: exit status 5 when it is ahead, 6 when \
both went on.\n\nExamples:\n  session push @ --remote s3://bucket/team\n  session push --all -n\n  session push oaks --redact --as \
oaks-public"
)]
pub(crate) struct Flags {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    place: Place,
    /// Mask tokens, keys and passwords on the way; the copy has the conversation only
    #[arg(long)]
    redact: bool,
    /// The name of the copy [default: the session's]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<SessionName>,
    /// Only say what would be sent
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = flags.which.names(context)?;
    if flags.name.is_some() && names.len() != 1 {
        return Err(Failure::new(Exit::Usage, "--as names one copy, and several sessions are to be sent"));
    }
    let remote = flags.place.open()?;
    each(context, "push", &names, |name| {
        let session = context.store.open_exactly(name)?;
        let known = flags.redact.then(|| context.store.known_secrets(name)).transpose()?;
        let options = PushOptions {
            name: flags.name.clone(),
            redactor: known.map(|known| Arc::new(Redactor::knowing(&known)) as _),
            dry_run: flags.dry_run,
        };
        Ok(vec![(Verb::Push, remote.push(&session, &options)?)])
    })
}
