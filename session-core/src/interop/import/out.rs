//! Where importers put what they make: finished sessions, and the report.

use super::draft::Draft;
use super::imported::Imported;
use super::report::{ImportReport, LossFate};
use super::value::Json;
use std::collections::VecDeque;

/// What one import gives, and where it is.
#[derive(Default)]
pub(super) struct Out {
    pub(super) report: ImportReport,
    pub(super) ready: VecDeque<Imported>,
    /// Whether calls without a result get one that says so.
    pub(super) repair: bool,
    /// The file of a folder that is read, and the line.
    pub(super) file: String,
    pub(super) line: u64,
}

impl Out {
    /// Counts something that has no place in a history.
    pub(super) fn drop_one(&mut self, what: &str) {
        self.count(LossFate::Dropped, what);
    }

    /// Counts something that was put right.
    pub(super) fn repaired(&mut self, what: &str) {
        self.count(LossFate::Repaired, what);
    }

    /// Counts something that the format does not have.
    pub(super) fn unknown(&mut self, what: &str) {
        self.count(LossFate::Unknown, what);
    }

    /// Counts a record of a type that is not known, and keeps it.
    pub(super) fn keep(&mut self, draft: &mut Draft, what: &str, record: &Json) {
        self.count(LossFate::Kept, what);
        draft.keep(record);
    }

    pub(super) fn count(&mut self, fate: LossFate, what: &str) {
        self.report.count(fate, what, &self.file, self.line);
    }

    /// Hands a session over. One in which nothing was said is none.
    pub(super) fn finish(&mut self, draft: Draft) {
        if draft.is_empty() {
            return;
        }
        let session = draft.finish(self.repair);
        let report = &mut self.report;
        if report.version.is_empty() {
            report.version.clone_from(&session.version);
        }
        report.sessions += 1;
        report.messages += session.messages();
        report.other_events += session.events.len() as u64 - session.messages();
        report.files += session.files.len() as u64;
        self.ready.push_back(session);
    }
}
