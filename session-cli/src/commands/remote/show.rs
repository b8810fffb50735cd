//! `session remote show`

use super::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Rows, size, when};
use serde::Serialize;
use session_core::SessionName;
use session_store::remote::RemoteDetails;

/// The flags of `remote show`.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// The copy, by its exact name
    session: SessionName,
    #[command(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct Document<'a> {
    session: &'a str,
    title: &'a str,
    workspace: &'a str,
    model: &'a str,
    first_prompt: &'a str,
    created: Option<String>,
    updated: Option<String>,
    machine: &'a str,
    pushed: Option<String>,
    generation: u64,
    redacted: bool,
    history_bytes: u64,
    segments: &'a [String],
    files: Vec<File<'a>>,
    leased_to: Option<&'a str>,
    leased_until: Option<String>,
    fence: u64,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    bytes: u64,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let details = flags.place.open()?.show(&flags.session)?;
    let document = document(&details);
    context.out.answer("remote-show", &document, |out| {
        let bytes = |bytes: u64| if out.is_terminal() { size::words(bytes) } else { bytes.to_string() };
        let lease = document.leased_to.zip(document.leased_until.as_deref());
        let mut rows = Rows::new(&["WHAT", "VALUE"]);
        let facts = [
            ("session", document.session.to_owned()),
            ("title", document.title.to_owned()),
            ("workspace", document.workspace.to_owned()),
            ("model", document.model.to_owned()),
            ("updated", document.updated.clone().unwrap_or_default()),
            ("pushed", format!("{} by {}", document.pushed.as_deref().unwrap_or("?"), document.machine)),
            ("generation", document.generation.to_string()),
            ("redacted", document.redacted.to_string()),
            ("lease", lease.map_or_else(|| "none".to_owned(), |(holder, until)| format!("{holder} until {until}"))),
            ("history", bytes(document.history_bytes)),
        ];
        facts.into_iter().for_each(|(what, value)| rows.push(vec![what.to_owned(), value]));
        document.segments.iter().for_each(|segment| rows.push(vec!["segment".to_owned(), segment.clone()]));
        for File { path, bytes: length } in &document.files {
            rows.push(vec!["file".to_owned(), format!("{path}, {}", bytes(*length))]);
        }
        out.rows(&rows)
    })
}

fn document(details: &RemoteDetails) -> Document<'_> {
    let RemoteDetails { summary, segments, files, .. } = details;
    let meta = &summary.meta;
    Document {
        session: summary.name.as_str(),
        title: &meta.title,
        workspace: &meta.workspace,
        model: &meta.model,
        first_prompt: &meta.first_prompt,
        created: meta.created.as_ref().map(when::machine),
        updated: meta.updated.as_ref().map(when::machine),
        machine: &summary.pushed.0,
        pushed: summary.pushed.1.as_ref().map(when::machine),
        generation: summary.generation,
        redacted: summary.is_redacted,
        history_bytes: summary.history_bytes,
        segments,
        files: files.iter().map(|(path, bytes)| File { path, bytes: *bytes }).collect(),
        leased_to: summary.lease.as_ref().map(|(holder, _)| holder.as_str()),
        leased_until: summary.lease.as_ref().map(|(_, until)| when::machine(until)),
        fence: summary.fence,
    }
}
