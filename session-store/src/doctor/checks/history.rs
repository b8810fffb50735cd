//! The lines of a history.

use super::{Finding, FindingCode, Found, Patient};
use crate::flat::Standing;
use crate::list::{is_ahead, times};
use chrono::Utc;
use session_core::{Bodies, Extension, FORMAT, Fault, Item, Outcome, Replay, Scan, format_time};

/// Lines that are not as they should be, and what they make of the replay.
pub(super) fn lines(patient: &Patient<'_>) -> Found {
    let standing = Standing::of(patient.base, &patient.candidate.name, patient.limits)?;
    let Some(transcript) = standing.transcript else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let mut replay = Replay::new();
    for item in Scan::with_limits(transcript.forwards(), patient.limits).bodies(Bodies::Skip) {
        match item.map_err(transcript.failed())? {
            Item::Record(record) => replay.event(&record.event.effect(), || ()),
            Item::Defect(defect) => {
                replay.defect(&defect);
                let code = match (&defect.outcome, &defect.fault) {
                    (_, Fault::Torn | Fault::Unterminated) => FindingCode::TornTail,
                    (Outcome::Skipped | Outcome::SkippedRollback, _) => FindingCode::BadLine,
                    (Outcome::Repaired, _) => FindingCode::OddLine,
                };
                let text = format!("{} bytes: {}", defect.len, defect.fault);
                findings.push(Finding::new(code, transcript.path(), text).at(defect.place));
            }
        }
    }
    if replay.is_uncertain() {
        let text = "a rollback reaches back across a line that cannot be read: what is live is a guess";
        findings.push(Finding::new(FindingCode::UncertainReplay, transcript.path(), text));
    }
    Ok(findings)
}

/// A format that this version does not write.
pub(super) fn format(patient: &Patient<'_>) -> Found {
    let standing = Standing::of(patient.base, &patient.candidate.name, patient.limits)?;
    let Some(transcript) = standing.transcript else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let first =
        Scan::with_limits(transcript.forwards(), patient.limits).next().transpose().map_err(transcript.failed())?;
    if let Some(Item::Record(record)) = first
        && let Some(Extension::Session(header)) = record.event.extension()
        && header.format > FORMAT
    {
        let text = format!("format {}; this version writes up to {FORMAT} and only reads this one", header.format);
        findings.push(Finding::new(FindingCode::NewerFormat, transcript.path(), text).at(record.place));
    }
    Ok(findings)
}

/// A newest event that has not happened yet.
pub(super) fn time(patient: &Patient<'_>) -> Found {
    let Standing { transcript, form, .. } = Standing::of(patient.base, &patient.candidate.name, patient.limits)?;
    let Some(transcript) = transcript else { return Ok(Vec::new()) };
    let newest = times(&transcript, form, patient.limits)?.updated;
    let ahead = newest.filter(|_| is_ahead(newest, Utc::now().fixed_offset()));
    let finding = |ts| {
        let text = format!("the newest event claims to be of {}", format_time(&ts));
        Finding::new(FindingCode::TimeAhead, transcript.path(), text)
    };
    Ok(ahead.map(finding).into_iter().collect())
}
