//! `session report`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;

/// The flags of `report`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Prints {\"report\":…,\"current\":…}: the report and whether nothing follows it; null where there is none."
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let name = target::resolve(context, &flags.session)?;
    let last = context.store.last_report(&name)?;
    let (report, current) = match &last {
        Some(last) => (last.report.to_json(), last.current),
        None => (b"null".to_vec(), false),
    };
    let mut line = b"{\"report\":".to_vec();
    line.extend_from_slice(&report);
    line.extend_from_slice(format!(",\"current\":{current}}}\n").as_bytes());
    context.out.bytes(&line)?;
    Ok(Exit::Done)
}
