//! The event that says what a history is.

use super::HistoryView;
use crate::Result;
use session_core::{Event, FORMAT, Item, Record};

/// The format that an event tells of, where it is newer than any that is known here.
pub(crate) fn newer_format(event: &Event) -> Option<u64> {
    event.format().filter(|&format| format > FORMAT)
}

impl HistoryView {
    /// The first event of the first line that says anything. `None` where that line gives none: an event of a later line
    /// does not say what the history is.
    pub(crate) fn head(&self) -> Result<Option<Record>> {
        let mut line = None;
        for item in self.forwards() {
            // What was repaired in a line is told before the event.
            let (place, record) = match self.told(item)? {
                Item::Record(record) => (record.place, Some(record)),
                Item::Defect(defect) => (defect.place, None),
            };
            if *line.get_or_insert(place.line) != place.line {
                return Ok(None);
            }
            if record.is_some() {
                return Ok(record);
            }
        }
        Ok(None)
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
