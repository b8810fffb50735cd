//! `session pull`

use super::remote::each::{Verb, each};
use super::remote::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use session_core::SessionName;
use session_store::remote::PullOptions;

/// The flags of `pull`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A session that is not here is made whole or not at all; one that is here is continued. Where both went on, nothing is \
changed, and the exit status is 6.\n\nExamples:\n  session pull oaks --remote s3://bucket/team\n  session pull oaks --as oaks-of-elm\n  session \
pull --all -n"
)]
pub(crate) struct Flags {
    /// The copies, by their exact names
    #[arg(required_unless_present = "all")]
    sessions: Vec<SessionName>,
    /// All copies
    #[arg(long, conflicts_with = "sessions")]
    all: bool,
    #[command(flatten)]
    place: Place,
    /// The name of the session here [default: the copy's]
    #[arg(long = "as", value_name = "NAME")]
    name: Option<SessionName>,
    /// Only say what would come in
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let remote = flags.place.open()?;
    let names = match flags.all {
        true => remote.list("")?.sessions.into_iter().map(|copy| copy.name).collect(),
        false => flags.sessions.clone(),
    };
    if flags.name.is_some() && names.len() != 1 {
        return Err(Failure::new(Exit::Usage, "--as names one session, and several are to come in"));
    }
    let options = PullOptions { name: flags.name.clone(), dry_run: flags.dry_run };
    each(context, "pull", &names, |name| Ok(vec![(Verb::Pull, remote.pull(&context.store, name, &options)?)]))
}
