//! `session man`

use crate::cli::Cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::CommandFactory as _;

/// The flags of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// The verb whose page is wanted, with its own verb where it has such [default: the overview]
    verbs: Vec<String>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let mut command = Cli::command();
    command.build();
    for verb in &flags.verbs {
        let page = command.get_subcommands().find(|page| page.get_name() == verb);
        let page = page.ok_or_else(|| Failure::new(Exit::Usage, format!("there is no verb {verb:?}")))?;
        let name = format!("{}-{verb}", command.get_name());
        command = page.clone().name(name.leak() as &str);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(|error| Failure::stdout(&error))?;
    context.out.bytes(&page)?;
    Ok(Exit::Done)
}
