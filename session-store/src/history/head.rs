//! The event that says what a history is.

use super::HistoryView;
use super::read::BUFFER;
use crate::Result;
use session_core::{Event, FORMAT, Fault, Item, Limits, Record, Scan, layout};
use std::io::{self, BufRead, BufReader};

/// The format that an event tells of, where it is newer than any that is known here.
pub(crate) fn newer_format(event: &Event) -> Option<u64> {
    event.format().filter(|&format| format > FORMAT)
}

/// How a history begins: the first line that says anything. Blank lines, `null`, and lines of nothing but a byte order mark
/// and NUL bytes say nothing.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The first event of that line. `None` where that line gives none: an event of a later line does not say what the
    /// history is.
    pub(super) record: Option<Record>,
    /// Whether there is one. A line that was cut off says nothing.
    pub(super) is_there: bool,
    /// Whether a newline ends it.
    pub(super) is_whole: bool,
}

impl Head {
    /// Reads as far as that line. A line that is too long for the reference is no header, and is not held in memory.
    pub(super) fn read(history: impl BufRead, limits: Limits) -> io::Result<Self> {
        let max_line_bytes = limits.max_line_bytes.min(layout::MAX_REFERENCE_LINE);
        let mut items = Scan::with_limits(history, Limits { max_line_bytes });
        let mut head = Head::default();
        let mut line = None;
        while let Some(item) = items.next() {
            let (place, record) = match item? {
                Item::Record(record) => (record.place, Some(record)),
                // What was repaired in a line is told before its event, if it has one.
                Item::Defect(defect) if !defect.is_skipped() || defect.fault == Fault::Torn => continue,
                Item::Defect(defect) => (defect.place, None),
            };
            if *line.get_or_insert(place.line) != place.line {
                break;
            }
            head.is_there = true;
            head.is_whole = items.whole_bytes() > place.offset;
            head.record = record;
            if head.record.is_some() {
                break;
            }
        }
        Ok(head)
    }
}

impl HistoryView {
    /// The first event of the first line that says anything. `None` where that line gives none: an event of a later line
    /// does not say what the history is.
    pub(crate) fn head(&self) -> Result<Option<Record>> {
        let history = BufReader::with_capacity(BUFFER, self.reader());
        Ok(self.told(Head::read(history, self.limits()))?.record)
    }
}

#[cfg(test)]
mod tests {
    use crate::{HistoryView, SessionPaths};
    use std::fs;

    const HEAD: &str = r#"{"ts":"2026-01-02T03:04:05Z","kind":"x.session","x":{"format":2}}"#;

    fn format_of(history: &str) -> Option<u64> {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let paths = SessionPaths::new(dir.path());
        fs::write(paths.history(), history).expect("there is room");
        let view = HistoryView::open(&paths, session_core::Limits::default()).expect("it can be read");
        view.head().expect("it can be read")?.event.format()
    }

    #[test]
    fn h03_what_is_odd_about_the_first_line_does_not_hide_what_the_history_is() {
        let notice = r#"{"ts":"2026-01-02T03:04:05Z","kind":"notice","text":"oak"}"#;
        for history in [
            format!("{HEAD}\n"),
            format!("{HEAD}\r\n{notice}\n"),
            format!("\u{feff}{HEAD}\n"),
            format!("\0\0{HEAD}\n"),
            format!("\0\0\nnull\n\u{a0}\n{HEAD}\n"),
            format!(" \n\n{HEAD}\n"),
            format!("{HEAD}{notice}\n"),
            format!("not json{HEAD}\n"),
            HEAD.to_owned(),
        ] {
            assert_eq!(format_of(&history), Some(2), "{history:?}");
        }
        for history in [String::new(), format!("not json\n{HEAD}\n"), format!("{notice}\n{HEAD}\n")] {
            assert_eq!(format_of(&history), None, "{history:?}");
        }
    }
}
