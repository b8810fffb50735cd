//! `session remote verify`

use super::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, causes};
use crate::output::{Diagnostic, Rows, size};
use crate::progress::Bar;
use serde::Serialize;
use session_core::SessionName;
use session_store::remote::RemoteError;

/// The flags of `remote verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status 1 when something is missing or damaged.")]
pub(crate) struct Flags {
    /// The copies, by their exact names [default: all]
    sessions: Vec<SessionName>,
    #[command(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct Document {
    copies: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    session: String,
    objects: u64,
    bytes: u64,
    faults: Vec<String>,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let remote = flags.place.open()?;
    let names = match flags.sessions.is_empty() {
        true => remote.list("")?.sessions.into_iter().map(|copy| copy.name).collect(),
        false => flags.sessions.clone(),
    };
    let bar = Bar::new(context.out.is_quiet());
    let (mut copies, mut diagnostics) = (Vec::new(), Vec::new());
    for name in &names {
        bar.say(|| format!("{name}, {} looked at", copies.len()));
        let verified = remote.verify(name)?;
        diagnostics.extend(verified.faults.iter().map(|error| fault(name, error)));
        copies.push(Row {
            session: name.to_string(),
            objects: verified.objects,
            bytes: verified.bytes,
            faults: verified.faults.iter().map(|fault| causes(fault)).collect(),
        });
    }
    drop(bar);
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("remote-verify", true, &diagnostics, &Document { copies })?;
    } else {
        let mut rows = Rows::new(&["SESSION", "OBJECTS", "BYTES", "FAULTS"]).numeric(1).numeric(2).numeric(3);
        for row in &copies {
            let bytes = if context.out.is_terminal() { size::words(row.bytes) } else { row.bytes.to_string() };
            rows.push(vec![row.session.clone(), row.objects.to_string(), bytes, row.faults.len().to_string()]);
        }
        context.out.rows(&rows)?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::No })
}

/// What is wrong with a copy.
pub(super) fn fault(name: &SessionName, error: &RemoteError) -> Diagnostic {
    let text = causes(error);
    Diagnostic { code: "damaged-copy".to_owned(), session: Some(name.to_string()), line: None, offset: None, text }
}
