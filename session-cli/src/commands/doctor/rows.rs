//! Findings as rows: for a person where it is and what it is, for a script every member by itself.

use crate::context::Context;
use crate::output::Rows;
use anstyle::{AnsiColor, Style};
use session_core::Place;
use session_store::{Finding, Severity};

/// What stands in the column of the session for what is about the store.
pub(super) const STORE: &str = "(store)";

pub(super) fn rows(context: &Context, findings: &[Finding], tells_fixes: bool) -> Rows {
    if context.out.is_terminal() { shown(context, findings, tells_fixes) } else { separated(findings, tells_fixes) }
}

fn shown(context: &Context, findings: &[Finding], tells_fixes: bool) -> Rows {
    let mut rows = Rows::new(&["SESSION", "CODE", "SEVERITY", "FIX", "PLACE", "WHAT"]);
    for finding in findings {
        let colour = match finding.severity {
            Severity::Info => AnsiColor::BrightBlack,
            Severity::Warning => AnsiColor::Yellow,
            Severity::Error => AnsiColor::Red,
        };
        let base = context.store.base_dir();
        let dir = base.join(finding.session.as_deref().unwrap_or_default());
        let path = finding.path.strip_prefix(&dir).or(finding.path.strip_prefix(base)).unwrap_or(&finding.path);
        let path = if path.as_os_str().is_empty() { "." } else { &*path.to_string_lossy() };
        let place = match finding.place {
            Some(Place { line: Some(line), .. }) => format!("{path}:{line}"),
            Some(Place { line: None, offset }) => format!("{path}, byte {offset}"),
            None => path.to_owned(),
        };
        let [session, code, severity, fix] = first(finding);
        let fields = vec![session, code, severity, fix, place, what(finding, tells_fixes)];
        rows.push_styled(fields, &[(0, Style::new().bold()), (2, Style::new().fg_color(Some(colour.into())))]);
    }
    rows
}

fn separated(findings: &[Finding], tells_fixes: bool) -> Rows {
    let mut rows = Rows::new(&["SESSION", "CODE", "SEVERITY", "FIX", "PATH", "LINE", "OFFSET", "WHAT"]);
    for finding in findings {
        let [session, code, severity, fix] = first(finding);
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let line = number(finding.place.and_then(|place| place.line));
        let offset = number(finding.place.map(|place| place.offset));
        let path = finding.path.display().to_string();
        rows.push(vec![session, code, severity, fix, path, line, offset, what(finding, tells_fixes)]);
    }
    rows
}

fn first(finding: &Finding) -> [String; 4] {
    let fix = match &finding.fix {
        Some(_) if finding.fixed => "fixed",
        Some(_) => "fixable",
        None => "-",
    };
    let session = finding.session.clone().unwrap_or_else(|| STORE.to_owned());
    [session, finding.code.to_string(), finding.severity.as_str().to_owned(), fix.to_owned()]
}

/// What it is; before a repair, also what would be done.
fn what(finding: &Finding, tells_fixes: bool) -> String {
    match finding.fix.as_ref().filter(|_| tells_fixes) {
        Some(fix) => format!("{}: would {fix}", finding.text),
        None => finding.text.clone(),
    }
}
