//! The lines of a history.

use super::{Finding, FindingCode, Found, Patient};
use crate::flat::Standing;
use crate::list::{is_ahead, times};
use session_core::{Bodies, FORMAT, Fault, Item, Outcome, Replay, format_time};

/// Lines that are not as they should be, and what they make of the replay.
pub(super) fn lines(patient: &Patient<'_>) -> Found {
    let Some(history) = patient.standing()?.history else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let mut replay = Replay::new();
    for item in history.forwards().bodies(Bodies::Skip) {
        match history.told(item)? {
            Item::Record(record) => replay.event(&record.event.effect(), || ()),
            Item::Defect(defect) => {
                replay.defect(&defect);
                let code = match (&defect.outcome, &defect.fault) {
                    (_, Fault::Torn | Fault::Unterminated) => FindingCode::TornTail,
                    (Outcome::Skipped | Outcome::SkippedRollback, _) => FindingCode::BadLine,
                    (Outcome::Repaired, _) => FindingCode::OddLine,
                };
                let text = format!("{} bytes: {}", defect.len, defect.fault);
                findings.push(Finding::new(code, history.path(), text).at(defect.place));
            }
        }
    }
    if replay.is_uncertain() {
        let text = "a rollback reaches back across a line that cannot be read: what is live is a guess";
        findings.push(Finding::new(FindingCode::UncertainReplay, history.path(), text));
    }
    Ok(findings)
}

/// A format that this version does not write.
pub(super) fn format(patient: &Patient<'_>) -> Found {
    let Some(history) = patient.standing()?.history else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let first = history.told(history.forwards().next().transpose())?;
    if let Some(Item::Record(record)) = first
        && let Some(format) = record.event.format().filter(|&format| format > FORMAT)
    {
        let text = format!("format {format}; this version writes up to {FORMAT} and only reads this one");
        findings.push(Finding::new(FindingCode::NewerFormat, history.path(), text).at(record.place));
    }
    Ok(findings)
}

/// A newest event that has not happened yet.
pub(super) fn time(patient: &Patient<'_>) -> Found {
    let Standing { history, form, .. } = patient.standing()?;
    let Some(history) = history else { return Ok(Vec::new()) };
    let newest = times(&history, form)?.updated();
    let ahead = newest.filter(|_| is_ahead(newest, patient.now));
    let finding = |ts| {
        let text = format!("the newest event claims to be of {}", format_time(&ts));
        Finding::new(FindingCode::TimeAhead, history.path(), text)
    };
    Ok(ahead.map(finding).into_iter().collect())
}
