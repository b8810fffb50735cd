//! What a history says, read once for every check that asks.

use super::times::Times;
use super::{Finding, FindingCode, Fix, Found, Patient, calls};
use crate::flat::{FlatFile, SessionForm};
use crate::history::newer_format;
use crate::list::{is_ahead, times};
use crate::meta::Facts;
use crate::{HistoryView, Result};
use session_core::{
    Defect, Event, Extension, FORMAT, Fault, Item, Outcome, Place, Record, Replay, Timestamp, format_time,
};

/// What a history, or the flat file that stands for it, told.
pub(in crate::doctor) struct Told {
    pub(in crate::doctor) flat: FlatFile,
    /// What is wrong with its lines and what they say.
    pub(in crate::doctor) findings: Vec<Finding>,
    /// What it knows of the session. `None` for a flat file, and where there is no event.
    pub(in crate::doctor) facts: Option<Facts>,
    /// The newest checkpoint that it tells of.
    pub(in crate::doctor) checkpoint: Option<u64>,
    /// Whether a message was ever said.
    pub(in crate::doctor) has_messages: bool,
}

/// The findings about the history.
pub(super) fn history(patient: &Patient<'_>) -> Found {
    Ok(patient.told()?.findings.clone())
}

/// Reads it.
pub(in crate::doctor) fn read(patient: &Patient<'_>) -> Result<Told> {
    let standing = patient.standing()?;
    let mut told =
        Told { flat: standing.flat, findings: Vec::new(), facts: None, checkpoint: None, has_messages: false };
    let Some(history) = &standing.history else { return Ok(told) };
    let newer = history.head()?.and_then(|head| Some((head.place, newer_format(&head.event)?)));
    let mut scan = Scanned { newer, ..Scanned::default() };
    for item in history.forwards() {
        match history.told(item)? {
            Item::Record(record) => scan.record(&record, history),
            Item::Defect(defect) => scan.defect(&defect, history),
        }
    }
    let is_own = standing.form == SessionForm::Directory;
    told.checkpoint = scan.checkpoint;
    told.has_messages = scan.has_messages;
    let newest = times(history, standing.form)?.updated();
    told.findings = scan.findings(history, is_own, newest.filter(|_| is_ahead(newest, patient.now)));
    told.facts = scan.facts.filter(|_| is_own);
    Ok(told)
}

/// What has been seen so far.
#[derive(Default)]
struct Scanned {
    lines: Vec<Finding>,
    replay: Replay<calls::Kept>,
    /// Whether the file ends inside a line that would have been a rollback.
    ends_in_a_rollback: bool,
    newer: Option<(Place, u64)>,
    times: Times,
    facts: Option<Facts>,
    checkpoint: Option<u64>,
    has_messages: bool,
}

impl Scanned {
    fn record(&mut self, record: &Record, history: &HistoryView) {
        let (place, event) = (record.place, &*record.event);
        self.has_messages |= event.message.is_some();
        self.checkpoint = self.checkpoint.max(checkpoint_of(event));
        self.times.event(event, place, history.path());
        self.replay.event(&event.effect(), || calls::keep(place, event.message.as_deref()));
        self.facts.get_or_insert_default().note(record);
    }

    fn defect(&mut self, defect: &Defect, history: &HistoryView) {
        let is_tail = matches!(defect.fault, Fault::Torn | Fault::Unterminated);
        // Nobody was told that a torn line is in the file: it is none, whatever it was going to be.
        if defect.fault == Fault::Torn {
            self.ends_in_a_rollback = defect.outcome == Outcome::SkippedRollback;
        } else {
            self.replay.defect(defect);
        }
        let code = match defect.outcome {
            _ if is_tail => FindingCode::TornTail,
            Outcome::Skipped | Outcome::SkippedRollback => FindingCode::BadLine,
            Outcome::Repaired => FindingCode::OddLine,
        };
        let fix = match (&defect.fault, code) {
            (Fault::Unterminated, _) => Some(Fix::EndLine),
            (_, FindingCode::OddLine) => None,
            _ => Some(Fix::TakeOut { bytes: defect.len }),
        };
        let text = format!("{} bytes: {}", defect.len, defect.fault);
        self.lines.push(Finding { fix, ..Finding::new(code, history.path(), text).at(defect.place) });
    }

    fn findings(&mut self, history: &HistoryView, is_own: bool, ahead: Option<Timestamp>) -> Vec<Finding> {
        let mut findings = std::mem::take(&mut self.lines);
        let is_uncertain = self.replay.is_uncertain();
        for finding in &mut findings {
            // With the line would go the knowledge that what is live is a guess.
            let hides = is_uncertain && finding.code == FindingCode::BadLine;
            if hides || !is_own || self.newer.is_some() {
                finding.fix = None;
            }
        }
        let path = history.path();
        if is_uncertain || self.ends_in_a_rollback {
            let text = "a rollback reaches back across a line that cannot be read: what is live is a guess";
            findings.push(Finding::new(FindingCode::UncertainReplay, path, text));
        }
        if let Some((place, format)) = self.newer {
            let text = format!("format {format}; this version writes up to {FORMAT} and only reads this one");
            findings.push(Finding::new(FindingCode::NewerFormat, path, text).at(place));
        }
        if let Some(ts) = ahead {
            let text = format!("the newest event claims to be of {}", format_time(&ts));
            findings.push(Finding::new(FindingCode::TimeAhead, path, text));
        }
        findings.extend(self.times.finding());
        findings.extend(calls::judge(path, self.replay.live()));
        findings
    }
}

/// The checkpoint that an event says was taken, or left by a restore.
fn checkpoint_of(event: &Event) -> Option<u64> {
    match event.extension() {
        Some(Extension::Turn(mark)) => mark.checkpoint,
        Some(Extension::Checkpoint(mark)) => mark.turn.filter(|_| mark.action != "failed"),
        Some(
            Extension::Session(_)
            | Extension::Title(_)
            | Extension::Usage(_)
            | Extension::Successor(_)
            | Extension::Note(_),
        )
        | None => None,
    }
}
