//! The JSON document of `doctor`.

use crate::failure::causes;
use serde::Serialize;
use session_store::{Finding, Repair, Repaired};

#[derive(Serialize)]
pub(super) struct Document<'a> {
    sessions: u64,
    findings: Vec<Found<'a>>,
    repairs: Vec<Done<'a>>,
}

#[derive(Serialize)]
struct Found<'a> {
    code: &'static str,
    severity: &'static str,
    session: Option<&'a str>,
    place: Place,
    message: &'a str,
    fixable: bool,
    fix: Option<String>,
    fixed: bool,
}

#[derive(Serialize)]
struct Place {
    path: String,
    line: Option<u64>,
    offset: Option<u64>,
}

#[derive(Serialize)]
struct Done<'a> {
    session: Option<&'a str>,
    done: &'a [String],
    kept: Vec<String>,
    busy: bool,
    error: Option<String>,
}

pub(super) fn document(repaired: &Repaired) -> Document<'_> {
    Document {
        sessions: repaired.sessions,
        findings: repaired.findings.iter().map(found).collect(),
        repairs: repaired.repairs.iter().map(done).collect(),
    }
}

fn found(finding: &Finding) -> Found<'_> {
    Found {
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        session: finding.session.as_deref(),
        place: Place {
            path: finding.path.display().to_string(),
            line: finding.place.and_then(|place| place.line),
            offset: finding.place.map(|place| place.offset),
        },
        message: &finding.text,
        fixable: finding.fix.is_some(),
        fix: finding.fix.as_ref().map(ToString::to_string),
        fixed: finding.fixed,
    }
}

fn done(repair: &Repair) -> Done<'_> {
    Done {
        session: repair.session.as_deref(),
        done: &repair.done,
        kept: repair.kept.iter().map(|path| path.display().to_string()).collect(),
        busy: repair.is_busy(),
        error: repair.error.as_ref().map(|error| causes(error)),
    }
}
