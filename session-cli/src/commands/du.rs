//! `session du`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Diagnostic, Rows, size};
use crate::target;
use serde::Serialize;
use session_core::SessionName;
use session_store::{DiskBytes, DiskUsage, SessionPart, StoreError};

/// The flags of `du`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "What is counted is the room that the file system has set aside; --apparent counts the lengths of the files. On a terminal K, M and G are powers of 1024. A file \
with several names counts once; shared is what has a name outside the session too, such as checkpoints of a fork, and would stay if the \
session were deleted.\n\nExamples:\n  session du\n  session du @ oaks --json"
)]
pub(crate) struct Flags {
    /// The sessions [default: all]
    #[arg(add = target::completer())]
    sessions: Vec<String>,
    /// Lengths of files instead of room on the disk
    #[arg(long)]
    apparent: bool,
}

#[derive(Serialize)]
struct Document {
    sessions: Vec<Row>,
    total: Bytes,
}

#[derive(Serialize)]
struct Row {
    name: String,
    total: Bytes,
    parts: Vec<PartRow>,
    shared: Bytes,
}

#[derive(Serialize)]
struct PartRow {
    part: &'static str,
    #[serde(flatten)]
    bytes: Bytes,
}

#[derive(Serialize, Clone, Copy)]
struct Bytes {
    allocated_bytes: u64,
    apparent_bytes: u64,
}

impl From<DiskBytes> for Bytes {
    fn from(bytes: DiskBytes) -> Self {
        Bytes { allocated_bytes: bytes.allocated_bytes, apparent_bytes: bytes.apparent_bytes }
    }
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    let names = match &flags.sessions[..] {
        [] => context.store.names()?,
        texts => target::resolve_all(context, texts)?,
    };
    let mut meter = context.store.disk_meter();
    let (mut sessions, mut diagnostics) = (Vec::new(), Vec::new());
    for name in &names {
        match meter.measure(name) {
            Ok(usage) => {
                diagnostics.extend(usage.unread.iter().map(|error| Diagnostic::failed("unreadable", name, error)));
                sessions.push(row(name, &usage));
            }
            // It was deleted since it was named.
            Err(StoreError::NotFound { .. }) if flags.sessions.is_empty() => {}
            Err(error) if flags.sessions.is_empty() => diagnostics.push(Diagnostic::failed("unreadable", name, &error)),
            Err(error) => return Err(error.into()),
        }
    }
    let document = Document { sessions, total: meter.total().into() };
    context.out.diagnostics(&diagnostics);
    if context.out.is_json() {
        context.out.document("du", diagnostics.is_empty(), &diagnostics, &document)?;
    } else {
        context.out.rows(&rows(flags, context, &document))?;
    }
    Ok(if diagnostics.is_empty() { Exit::Done } else { Exit::Partial })
}

fn row(name: &SessionName, usage: &DiskUsage) -> Row {
    let part = |part: SessionPart| PartRow { part: part.as_str(), bytes: usage.part(part).into() };
    Row {
        name: name.to_string(),
        total: usage.total().into(),
        parts: SessionPart::ALL.into_iter().map(part).collect(),
        shared: usage.shared.into(),
    }
}

fn rows(flags: &Flags, context: &Context, document: &Document) -> Rows {
    let header =
        ["NAME", "TOTAL", "HISTORY", "META", "CHECKPOINTS", "PROC", "INBOX", "TMP", "QUARANTINE", "OTHER", "SHARED"];
    let mut rows = (1..header.len()).fold(Rows::new(&header), Rows::numeric);
    let number = |bytes: &Bytes| {
        let bytes = if flags.apparent { bytes.apparent_bytes } else { bytes.allocated_bytes };
        if context.out.is_terminal() { size::brief(bytes) } else { bytes.to_string() }
    };
    for session in &document.sessions {
        let mut row = vec![session.name.clone(), number(&session.total)];
        row.extend(session.parts.iter().map(|part| number(&part.bytes)));
        row.push(number(&session.shared));
        rows.push(row);
    }
    if context.out.is_terminal() && document.sessions.len() > 1 {
        let mut row = vec!["total".to_owned(), number(&document.total)];
        row.resize(header.len(), String::new());
        rows.push(row);
    }
    rows
}
