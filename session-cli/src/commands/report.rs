//! `session report`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target;
use serde::Serialize;
use serde_json::value::RawValue;

/// The flags of `report`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Prints {\"report\":…,\"current\":…}: the report and whether nothing follows it; null where there is none. With --json \
it is a document, as everywhere.\n\nExamples:\n  session report @ | jq -r .report.headline"
)]
pub(crate) struct Flags {
    /// The session
    #[arg(add = target::completer())]
    session: String,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        session: &'a str,
        report: &'a RawValue,
        current: bool,
    }
    let name = target::resolve(context, &flags.session)?;
    let last = context.store.last_report(&name)?;
    let (report, current) = match &last {
        Some(last) => (last.report.to_json(), last.current),
        None => (b"null".to_vec(), false),
    };
    let report = String::from_utf8(report).map_err(Failure::bug)?;
    let line = format!("{{\"report\":{report},\"current\":{current}}}\n");
    let report = serde_json::from_str(&report).map_err(Failure::bug)?;
    let document = Document { session: name.as_str(), report, current };
    context.out.answer("report", &document, |out| out.json_lines(line.as_bytes()))
}
