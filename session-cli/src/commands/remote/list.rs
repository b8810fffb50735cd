//! `session remote list`

use super::place::Place;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, size, when};
use crate::span;
use anstyle::Style;
use chrono::{DateTime, Utc};
use serde::Serialize;
use session_store::remote::{RemoteSession, RemoteSummary};

/// The flags of `remote list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    #[command(flatten)]
    place: Place,
    /// Only names that begin so
    #[arg(value_name = "PREFIX", default_value = "")]
    prefix: String,
    /// Only copies that were written since then: 2h, 3d, 2026-11-01 (local), or RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = span::instant)]
    since: Option<DateTime<Utc>>,
    /// Only names and times: a request for a thousand copies instead of one for each
    #[arg(long)]
    names_only: bool,
    /// Only copies of sessions that work in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "names_only")]
    workspace: Option<String>,
    /// Only copies that this machine has written last
    #[arg(long, value_name = "MACHINE", conflicts_with = "names_only")]
    by: Option<String>,
    /// Only copies that a machine has leased
    #[arg(long, conflicts_with = "names_only")]
    leased: bool,
}

#[derive(Serialize)]
struct Document {
    copies: Vec<Copy>,
}

#[derive(Serialize)]
struct Copy {
    name: String,
    written: String,
    title: Option<String>,
    workspace: Option<String>,
    machine: Option<String>,
    history_bytes: Option<u64>,
    generation: Option<u64>,
    redacted: Option<bool>,
    leased_to: Option<String>,
}

pub(super) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let remote = flags.place.open()?;
    let mut copies = remote.list(&flags.prefix)?.sessions;
    copies.retain(|copy| flags.since.is_none_or(|since| copy.written >= since));
    let mut failed = Vec::new();
    let rows: Vec<(RemoteSession, Option<RemoteSummary>)> = if flags.names_only {
        copies.into_iter().map(|copy| (copy, None)).collect()
    } else {
        let summaries = remote.summaries(&copies).found;
        let told = copies.into_iter().zip(summaries).map(|(copy, summary)| {
            let summary = summary.map_err(|error| failed.push(super::verify::fault(&copy.name, &error)));
            (copy, summary.ok())
        });
        // What a filter asks of a copy that cannot be read is not known: it stays.
        told.filter(|(_, summary)| summary.as_ref().is_none_or(|summary| flags.takes(summary))).collect()
    };
    print(context, &rows, &failed)?;
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Partial })
}

impl Flags {
    fn takes(&self, summary: &RemoteSummary) -> bool {
        let is_now = |(_, until): &(String, _)| *until > Utc::now();
        self.workspace
            .as_ref()
            .is_none_or(|dir| summary.meta.workspace.trim_end_matches('/') == dir.trim_end_matches('/'))
            && self.by.as_ref().is_none_or(|machine| summary.pushed.0 == *machine)
            && (!self.leased || summary.lease.as_ref().is_some_and(is_now))
    }
}

fn print(
    context: &Context,
    copies: &[(RemoteSession, Option<RemoteSummary>)],
    failed: &[Diagnostic],
) -> Result<(), Failure> {
    context.out.diagnostics(failed);
    if context.out.is_json() {
        let copies = copies.iter().map(|(copy, summary)| described(copy, summary.as_ref())).collect();
        return context.out.document("remote-list", failed.is_empty(), failed, &Document { copies });
    }
    let is_terminal = context.out.is_terminal();
    let mut rows = Rows::new(&["NAME", "WRITTEN", "BYTES", "BY", "LEASE", "TITLE"]).numeric(2);
    for (copy, summary) in copies {
        let copy = described(copy, summary.as_ref());
        let bytes = copy.history_bytes.map(|bytes| if is_terminal { size::words(bytes) } else { bytes.to_string() });
        let written = session_core::parse_time(&copy.written).filter(|_| is_terminal);
        let fields = vec![
            copy.name,
            written.map_or(copy.written, |written| when::relative(&written, Utc::now())),
            bytes.unwrap_or_default(),
            copy.machine.unwrap_or_default(),
            copy.leased_to.unwrap_or_default(),
            copy.title.unwrap_or_default(),
        ];
        rows.push_styled(fields, &[(0, Style::new().bold())]);
    }
    context.out.rows(&rows)
}

fn described(copy: &RemoteSession, summary: Option<&RemoteSummary>) -> Copy {
    let text = |of: fn(&RemoteSummary) -> &str| summary.map(|summary| of(summary).to_owned());
    Copy {
        name: copy.name.to_string(),
        written: when::machine(&copy.written),
        title: text(|summary| &summary.meta.title),
        workspace: text(|summary| &summary.meta.workspace),
        machine: text(|summary| &summary.pushed.0),
        history_bytes: summary.map(|summary| summary.history_bytes),
        generation: summary.map(|summary| summary.generation),
        redacted: summary.map(|summary| summary.is_redacted),
        leased_to: summary.and_then(|summary| summary.lease.as_ref()).map(|(holder, _)| holder.clone()),
    }
}
