//! `session completions`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use clap_complete::env::Shells;

/// The flags of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  source <(session completions bash)\n  session completions fish | source")]
pub(crate) struct Flags {
    /// The shell
    #[arg(value_parser = ["bash", "elvish", "fish", "powershell", "zsh"])]
    shell: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let shells = Shells::builtins();
    let shell = shells.completer(&flags.shell).ok_or_else(|| Failure::new(Exit::Usage, "no such shell"))?;
    let mut script = Vec::new();
    shell
        .write_registration("COMPLETE", "session", "session", "session", &mut script)
        .map_err(|error| Failure::stdout(&error))?;
    context.out.bytes(&script)?;
    Ok(Exit::Done)
}
