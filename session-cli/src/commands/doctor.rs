//! `session doctor`

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Rows;
use crate::target;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use session_store::{Finding, Severity};

/// The flags of `doctor`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status 1 when there are warnings or errors.\n\nExamples:\n  session doctor\n  session doctor oaks --json"
)]
pub(crate) struct Flags {
    /// The sessions [default: the whole store]
    #[arg(add = target::completer())]
    sessions: Vec<String>,
}

pub(crate) fn run(flags: &Flags, context: &Context) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Document<'a> {
        sessions: u64,
        findings: Vec<Row<'a>>,
    }
    #[derive(Serialize)]
    struct Row<'a> {
        code: &'a str,
        severity: &'a str,
        session: Option<&'a str>,
        path: String,
        line: Option<u64>,
        offset: Option<u64>,
        text: &'a str,
        fixable: bool,
    }
    let examination = if flags.sessions.is_empty() {
        context.store.doctor()?
    } else {
        let names: Result<Vec<_>, _> = flags.sessions.iter().map(|text| target::resolve(context, text)).collect();
        context.store.doctor_sessions(&names?)?
    };
    let findings: Vec<Row<'_>> = examination
        .findings
        .iter()
        .map(|finding| Row {
            code: finding.code.as_str(),
            severity: finding.severity.as_str(),
            session: finding.session.as_deref(),
            path: finding.path.display().to_string(),
            line: finding.place.and_then(|place| place.line),
            offset: finding.place.map(|place| place.offset),
            text: &finding.text,
            fixable: finding.fixable,
        })
        .collect();
    let document = Document { sessions: examination.sessions, findings };
    context.out.answer("doctor", &document, |out| {
        if examination.findings.is_empty() {
            out.note(&format!("{} sessions, nothing found", examination.sessions));
            return Ok(());
        }
        out.rows(&rows(&examination.findings))
    })?;
    let healthy = examination.findings.iter().all(|finding| finding.severity == Severity::Info);
    Ok(if healthy { Exit::Done } else { Exit::No })
}

fn rows(findings: &[Finding]) -> Rows {
    let mut rows = Rows::new(&["SESSION", "CODE", "SEVERITY", "PLACE", "WHAT"]);
    for finding in findings {
        let place = match finding.place {
            Some(place) => match place.line {
                Some(line) => format!("line {line}, byte {}", place.offset),
                None => format!("byte {}", place.offset),
            },
            None => finding.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        };
        let colour = match finding.severity {
            Severity::Info => AnsiColor::BrightBlack,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Error => AnsiColor::Red,
        };
        let style = Style::new().fg_color(Some(colour.into()));
        let session = finding.session.clone().unwrap_or_else(|| "(store)".to_owned());
        let fields = vec![
            session,
            finding.code.as_str().to_owned(),
            finding.severity.as_str().to_owned(),
            place,
            finding.text.clone(),
        ];
        rows.push_styled(fields, &[(0, Style::new().bold()), (2, style)]);
    }
    rows
}
